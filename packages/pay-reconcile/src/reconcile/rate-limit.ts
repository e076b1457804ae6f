import { setTimeout as sleep } from 'node:timers/promises'
import { keyFingerprint } from '../provider/gate.ts'

/** Lets bulk calls through at a rate, for one key. */
export interface Pace {
  /** Resolves when the next call may be made; rejects with the signal's reason. */
  turn (signal: AbortSignal): Promise<void>
  /** Nobody's turn before this many milliseconds have passed. */
  pause (ms: number): void
}

/**
 * One pace per secret key; shops that share a key share its rate.
 *
 * @param perSecond calls each second. Up to one second's worth may catch up after a delay.
 */
export function paces (perSecond: number): (secretKey: string) => Pace {
  const known = new Map<string, Pace>()
  return secretKey => {
    const key = keyFingerprint(secretKey)
    const pace = known.get(key) ?? paceOf(perSecond)
    known.set(key, pace)
    return pace
  }
}

function paceOf (perSecond: number): Pace {
  const interval = 1000 / perSecond
  let next = performance.now()
  return {
    async turn (signal) {
      next = Math.max(next, performance.now() - 1000)
      const wait = next - performance.now()
      next += interval
      if (wait > 0) await sleep(wait, undefined, { signal })
      signal.throwIfAborted()
    },
    pause (ms) {
      next = Math.max(next, performance.now() + ms)
    }
  }
}
