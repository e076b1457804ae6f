import { setTimeout as sleep } from 'node:timers/promises'
import { perKey } from '../provider/per-key.ts'

/** The rate limit of bulk calls under one secret key. */
export interface RateLimit {
  /** Resolves when the next call may be made; rejects with the signal's reason. */
  wait (signal: AbortSignal): Promise<void>
  /** Lets no call through for this many milliseconds. */
  pause (duration: number): void
}

/**
 * One limit for each secret key; shops that share a key share its rate.
 *
 * @param perSecond - calls per second. After a delay, up to one second's worth of calls may catch up.
 */
export function rateLimits (perSecond: number): (secretKey: string) => RateLimit {
  return perKey(() => rateLimit(1000 / perSecond))
}

function rateLimit (interval: number): RateLimit {
  let next = performance.now()
  return {
    async wait (signal) {
      next = Math.max(next, performance.now() - 1000)
      const delay = next - performance.now()
      next += interval
      if (delay > 0) await sleep(delay, undefined, { signal })
      signal.throwIfAborted()
    },
    pause (duration) {
      next = Math.max(next, performance.now() + duration)
    }
  }
}
