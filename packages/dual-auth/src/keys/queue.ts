import { DUAL_AUTH_BUSY } from '../errors.ts'

/** Runs work as soon as a slot is free. */
export type Queue = <T>(work: () => Promise<T>) => Promise<T>

/**
 * A first-in, first-out queue in front of libuv's thread pool, which file reads and DNS use too. It keeps scrypt from
 * filling the pool, and waits from growing without bound.
 *
 * @param concurrency - how many run at once
 * @param length - how many may wait; further ones are rejected with {@link DUAL_AUTH_BUSY}
 */
export function createQueue (concurrency: number, length: number): Queue {
  const waiting: Array<() => void> = []
  let running = 0

  return async (work) => {
    if (running < concurrency) running++
    else if (waiting.length < length) await new Promise<void>((resolve) => waiting.push(resolve))
    else throw new DUAL_AUTH_BUSY()
    try {
      return await work()
    } finally {
      // Hand the slot over rather than free it: a newcomer must not overtake those that wait.
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
