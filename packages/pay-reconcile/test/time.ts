import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'

interface Teardown {
  teardown(end: () => unknown): void
}

/** A clock that stands still, but for waiting. */
export interface Time {
  /** In milliseconds. */
  now: number
  /** How long each wait was. */
  readonly waits: number[]
}

/**
 * Puts such a clock in the place of `Date.now`, `performance.now` and the promises of `node:timers`, where no wait
 * takes time. Nothing is random.
 */
export function standingTime (t: Teardown, now = Date.UTC(2026, 0, 31)): Time {
  const time: Time = { now, waits: [] }
  const replaced = { date: Date.now, performance: performance.now, random: Math.random, sleep: timers.setTimeout }
  Date.now = performance.now = () => time.now
  Math.random = () => 0
  timers.setTimeout = async <T>(duration = 0, value?: T, { signal }: { signal?: AbortSignal | undefined } = {}) => {
    signal?.throwIfAborted()
    time.waits.push(duration)
    time.now += duration
    return value as T
  }
  syncBuiltinESMExports()
  t.teardown(() => {
    Object.assign(Date, { now: replaced.date })
    Object.assign(performance, { now: replaced.performance })
    Object.assign(Math, { random: replaced.random })
    timers.setTimeout = replaced.sleep
    syncBuiltinESMExports()
  })
  return time
}
