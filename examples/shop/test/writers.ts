import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

/** A load of creates, in the background. */
export interface Load {
  /** The names whose creation was acknowledged. */
  readonly acknowledged: ReadonlySet<string>
  /** The answers that were none: 0 is a connection that broke. */
  readonly failures: ReadonlyArray<{ readonly writer: number, readonly status: number }>
  /** Waits until so many were acknowledged. */
  acknowledges (count: number): Promise<void>
  /** Ends the load, and waits for the calls in flight. */
  end (): Promise<void>
}

/** How many calls a load makes at most, should nobody end it. */
const LIMIT = 50_000

/**
 * Creates one row after another in each of the writers, with a name of its own.
 *
 * @param pause - between two calls of a writer, in milliseconds
 */
export function startWriting (url: string, headers: Readonly<Record<string, string>>, writers: number, pause = 0): Load {
  const acknowledged = new Set<string>()
  const failures: Array<{ writer: number, status: number }> = []
  const ended = new AbortController()
  const write = async (writer: number): Promise<void> => {
    for (let calls = 0; !ended.signal.aborted && calls < LIMIT / writers; calls++) {
      const name = randomUUID()
      const status = await post(url, headers, { name })
      if (status === 201) acknowledged.add(name)
      else failures.push({ writer, status })
      if (pause > 0) await sleep(pause)
    }
  }
  const all = Promise.all(Array.from({ length: writers }, async (_, writer) => await write(writer))).finally(() => ended.abort())
  return {
    acknowledged,
    failures,
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

/** @returns the status; the body may be that of a proxy */
async function post (url: string, headers: Readonly<Record<string, string>>, body: object): Promise<number> {
  try {
    const response = await fetch(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) })
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0
  }
}
