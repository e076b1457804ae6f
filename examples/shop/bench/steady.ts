// A load that comes in whatever the server does, as that of many callers would: autocannon's own rate sends what is due
// in a second at its start, which is saturation again, for a part of the time.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type autocannon from 'autocannon'

/** Calls at random times, so many a second on average, for so many seconds. */
export interface Load {
  readonly rate: number
  readonly seconds: number
}

/** A process that makes calls. */
export interface Caller {
  /**
   * @param next - makes the request of a call; without it each is a row of a table with nothing else in it, committed
   *   by itself
   * @param target - the URL of a server, or of a database
   * @returns of each call the milliseconds from when it was due to the end of its answer, in rising order
   * @throws RangeError when one is not answered, or not with a 2xx
   */
  latencies(target: string, load: Load, next?: () => autocannon.Request): Promise<number[]>
  close(): void
}

/** What the process is told to do. */
export interface Batch {
  readonly target: string
  readonly calls: readonly DueCall[]
}

/** One call, and the milliseconds from the start after which it is due. */
export interface DueCall {
  readonly due: number
  readonly request?: {
    readonly method: 'GET' | 'POST',
    readonly path: string,
    readonly headers: Record<string, string>,
    readonly body?: string
  }
}

export function startCaller (): Caller {
  const child = fork(fileURLToPath(new URL('caller.ts', import.meta.url)))
  const ended = once(child, 'exit').then(([code]) => {
    throw new RangeError(`the caller ended with ${String(code)}`)
  })
  ended.catch(() => {})
  return {
    async latencies (target, load, next) {
      const answer = once(child, 'message')
      child.send({ target, calls: dueCalls(load, next) } satisfies Batch)
      const [latencies] = await Promise.race([answer, ended]) as [number[]]
      return latencies.sort((a, b) => a - b)
    },
    close () {
      child.disconnect()
    }
  }
}

function dueCalls (load: Load, next?: () => autocannon.Request): DueCall[] {
  return [...arrivals(load)].map((due) => ({
    due,
    ...(next && { request: next() as NonNullable<DueCall['request']> })
  }))
}

/** @returns the milliseconds from the start after which calls are due, in rising order */
export function* arrivals ({ rate, seconds }: Load): Generator<number> {
  // The gaps between independent callers are distributed exponentially.
  const gap = (): number => -Math.log(1 - Math.random()) * 1000 / rate
  for (let due = gap(); due < seconds * 1000; due += gap()) yield due
}
