// Sends calls of the month, and knows what came of them: an answer that was not expected is a failure with a name.
import { Pool } from 'undici'
import { toolCall } from '../shop.ts'

/** As many as a busy day needs, and more. */
const CONNECTIONS = 64
/** Of the first answer of a kind that was not expected, in characters. */
const SHOWN = 300

/** A call over REST, or of a tool. */
export interface Call {
  /** What failures are counted by. */
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Of a route; a tool call has `tool` and `args` instead. */
  readonly path?: string
  /** JSON, unless it is a string. */
  readonly body?: object | string
  readonly tool?: string
  readonly args?: object
  /** The status that is right; default: any 2xx. For a tool call, that of its route. */
  readonly expect?: number
}

/** How long a call took, and when it was due, in milliseconds. */
export interface Timed {
  readonly name: string
  readonly at: number
  readonly ms: number
}

export interface Client {
  /** @returns the body of the answer, as JSON if it is; undefined if it was not what the call expected */
  send(call: Call, due?: number): Promise<any>
  /** Of calls that had a time when they were due. */
  readonly times: Timed[]
  /** How often what went wrong. */
  readonly failures: ReadonlyMap<string, number>
  /** Counts what went wrong otherwise. */
  fail(what: string, why: string): void
  /** Closes its connections. The next call opens others. */
  rest(): Promise<void>
}

export function clientOf (address: string): Client {
  let pool = new Pool(address, { connections: CONNECTIONS })
  const times: Timed[] = []
  const failures = new Map<string, number>()

  async function answerTo (call: Call): Promise<{ readonly status: number, readonly body: any }> {
    const { method = 'GET', path, headers, body, tool, args } = call
    const { path: to, ...request } = tool !== undefined
      ? toolCall(headers, tool, args!)
      : {
        method,
        path,
        headers: { ...typeof body === 'object' && { 'content-type': 'application/json' }, ...headers },
        ...body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }
      }
    const { statusCode, headers: received, body: stream } = await pool.request({
      ...request as { method: 'GET', headers: Record<string, string>, body?: string },
      path: to!
    })
    const text = await stream.text()
    const isJson = text !== '' && String(received['content-type']).includes('json')
    const answer = isJson ? JSON.parse(text) : text
    if (tool === undefined || answer.result === undefined) return { status: statusCode, body: answer }
    const { isError = false, structuredContent, content: [{ text: said = '' } = {}] = [] } = answer.result
    // An error begins with the status of the route.
    return isError ? { status: parseInt(said), body: said } : { status: 200, body: structuredContent }
  }

  function fail (what: string, why: string): void {
    if (!failures.has(what)) console.log(`  FAILED ${what}: ${why.slice(0, SHOWN)}`)
    failures.set(what, (failures.get(what) ?? 0) + 1)
  }

  return {
    times,
    failures,
    fail,
    async send (call, due) {
      const { tool, expect } = call
      const name = `${call.name}${tool === undefined ? '' : ' (tool)'}`
      try {
        const { status, body } = await answerTo(call)
        if (due !== undefined) times.push({ name, at: due, ms: performance.now() - due })
        const isRight = expect === undefined ? status >= 200 && status < 300 : status === expect
        if (isRight) return body
        fail(`${name} answered ${status}`, typeof body === 'string' ? body : JSON.stringify(body))
      } catch (error) {
        fail(`${name} got no answer`, String(error))
      }
      return undefined
    },
    async rest () {
      const old = pool
      pool = new Pool(address, { connections: CONNECTIONS })
      await old.close()
    }
  }
}
