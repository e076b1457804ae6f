import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

/** A load of creates, in the background. */
export interface Load {
  /** The names whose creation was acknowledged, and when, as `performance.now()`. */
  readonly acknowledged: ReadonlyMap<string, number>
  /** The answers that were none. */
  readonly failures: readonly Failure[]
  /** All calls, in the order in which they ended; of those that failed, how. */
  readonly calls: ReadonlyArray<{ readonly from: number, readonly to: number, readonly failed?: Failure }>
  /** Waits until so many were acknowledged. */
  acknowledges(count: number): Promise<void>
  /** Ends the load, and waits for the calls in flight. */
  end(): Promise<void>
}

export interface Failure {
  readonly writer: number
  /** 0 is a connection that broke. Of a tool call, the status of its route. */
  readonly status: number
  /** Of the error, if the answer is the shop's. */
  readonly code?: string
}

export interface WritingOptions {
  /** How many write at the same time. */
  readonly writers: number
  /** Between two calls of a writer, in milliseconds. Default 0. */
  readonly pause?: number
  /** The tool that creates, where the URL is that of the tools; default: the URL itself creates. */
  readonly tool?: string
}

/** How many calls a load makes at most, should nobody end it. */
const LIMIT = 50_000

/** Creates one row after another in each of the writers, with a name of its own. */
export function startWriting (
  url: string,
  headers: Readonly<Record<string, string>>,
  { writers, pause = 0, tool }: WritingOptions
): Load {
  const acknowledged = new Map<string, number>()
  const failures: Failure[] = []
  const calls: Array<{ from: number, to: number, failed?: Failure }> = []
  const ended = new AbortController()
  const write = async (writer: number): Promise<void> => {
    for (let made = 0; !ended.signal.aborted && made < LIMIT / writers; made++) {
      const name = randomUUID()
      const from = performance.now()
      const { status, code } =
        await (tool === undefined ? post(url, headers, { name }) : use(url, headers, tool, { name }))
      const call = { from, to: performance.now() }
      if (status === 201) {
        acknowledged.set(name, call.to)
        calls.push(call)
      } else {
        const failed = { writer, status, ...code !== undefined && { code } }
        failures.push(failed)
        calls.push({ ...call, failed })
      }
      if (pause > 0) await sleep(pause)
    }
  }
  const all = Promise.all(Array.from({ length: writers }, async (_, writer) => await write(writer))).finally(() =>
    ended.abort()
  )
  return {
    acknowledged,
    failures,
    calls,
    acknowledges: async (count) => {
      while (acknowledged.size < count) {
        if (ended.signal.aborted) throw new RangeError(`the load has ended with ${acknowledged.size} acknowledged`)
        await sleep(5)
      }
    },
    end: async () => {
      ended.abort()
      await all
    }
  }
}

interface Answer {
  readonly status: number
  readonly code?: string
  readonly body?: any
}

async function post (url: string, headers: Readonly<Record<string, string>>, body: object): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
    return { status: response.status, ...bodyFrom(await response.text()) }
  } catch {
    return { status: 0 }
  }
}

/** It may be a page of a proxy. */
function bodyFrom (text: string): Pick<Answer, 'code' | 'body'> {
  try {
    const body = JSON.parse(text)
    return typeof body.code === 'string' ? { code: body.code, body } : { body }
  } catch {
    return {}
  }
}

/** Calls a tool that creates. */
async function use (
  url: string,
  headers: Readonly<Record<string, string>>,
  name: string,
  args: object
): Promise<Answer> {
  const answer = await post(url, { ...headers, accept: 'application/json, text/event-stream' }, {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args }
  })
  const { result, error } = answer.body ?? {}
  if (answer.status !== 200) return answer
  if (result?.isError === true) return { status: Number(/\b\d{3}\b/.exec(result.content[0].text)?.[0] ?? 500) }
  return error === undefined ? { status: 201 } : { status: 500, code: `JSON-RPC ${error.code}` }
}
