import type { Load } from '../test/writers.ts'

/** What callers saw. Times are in seconds. */
export interface Figures {
  readonly calls: number
  /** How many failed, by status and code. */
  readonly failed: ReadonlyMap<string, number>
  /** The longest time in which no call succeeded. */
  readonly pause: number
  readonly slowest: number
  /** From the end of the cause until the last call that failed, or the last time that a replica was not ready. */
  readonly recovered: number
}

/**
 * @param mended - when the cause was over
 * @param unready - when a replica was last not ready
 */
export function figuresFrom (loads: readonly Load[], mended: number, unready: number): Figures {
  const calls = loads.flatMap((load) => load.calls).toSorted((a, b) => a.to - b.to)
  const failed = new Map<string, number>()
  let [pause, slowest, lastFailed, lastGood] = [0, 0, 0, calls[0]?.from ?? 0]
  for (const { from, to, failed: failure } of calls) {
    slowest = Math.max(slowest, to - from)
    if (failure === undefined) {
      pause = Math.max(pause, to - lastGood)
      lastGood = to
    } else {
      const kind = [failure.status, failure.code].filter((part) => part !== undefined).join(' ')
      failed.set(kind, (failed.get(kind) ?? 0) + 1)
      lastFailed = to
    }
  }
  return {
    calls: calls.length,
    failed,
    pause: pause / 1000,
    slowest: slowest / 1000,
    recovered: Math.max(0, lastFailed - mended, unready - mended) / 1000
  }
}
