import { DUAL_AUTH_BUSY } from '../errors.ts'

/** Runs work when its turn comes. */
export type Queue = <T>(work: () => Promise<T>) => Promise<T>

/**
 * A first-come queue in front of libuv's thread pool, which file reads and DNS share: the pool must not
 * fill up with scrypt, and a wait must not grow without bound.
 *
 * @param concurrency How many run at once.
 * @param length How many may wait; one more is refused with {@link DUAL_AUTH_BUSY}.
 */
export function createQueue (concurrency: number, length: number): Queue {
  const waiting: Array<() => void> = []
  let running = 0

  return async work => {
    if (running < concurrency) running++
    else if (waiting.length < length) await new Promise<void>(resolve => waiting.push(resolve))
    else throw new DUAL_AUTH_BUSY()
    try {
      return await work()
    } finally {
      // Hand the slot over rather than free it: a newcomer must not overtake those who wait.
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
