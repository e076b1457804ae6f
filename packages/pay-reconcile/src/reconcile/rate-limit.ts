import { perKey } from '../provider/per-key.ts'
import { turnIn } from '../provider/turn.ts'

/** The rate limit of bulk calls under one secret key. */
export interface RateLimit {
  /** Resolves when the next call may be made; rejects with the signal's reason. */
  wait(signal: AbortSignal): Promise<void>
  /** Lets no call through for this many milliseconds: `withWaits` does so after a 429. */
  pause(duration: number): void
  /** For how long no call is let through, in milliseconds. */
  paused(): number
}

/** By how much more one call may be delayed on its way than an earlier one, in milliseconds. */
const JITTER = 20

/**
 * One limit for each secret key; shops that share a key share its rate.
 *
 * @param perSecond - calls per second. After a delay, up to one second's worth of calls may catch up, though no second
 *   has more calls than that: a provider may count them.
 */
export function rateLimits (perSecond: number): (secretKey: string) => RateLimit {
  return perKey(() => rateLimit(perSecond))
}

function rateLimit (perSecond: number): RateLimit {
  const interval = 1000 / perSecond
  const most = Math.max(1, Math.floor(perSecond))
  const window = most * interval + JITTER
  /** When the last calls were let through, oldest first. */
  const recent: number[] = []
  /** The calls whose turn has not come, oldest first. */
  const waiting: Array<() => void> = []
  let next = performance.now()
  let timer: NodeJS.Timeout | undefined

  /** By the times at which calls really go, as a busy process lets them wait for longer. */
  function letThrough (): void {
    clearTimeout(timer)
    while (waiting.length > 0) {
      const now = performance.now()
      const delay = Math.max(next, recent.length < most ? 0 : recent[0]! + window) - now
      if (delay > 0) {
        timer = setTimeout(letThrough, delay)
        return
      }
      next = Math.max(next, now - 1000) + interval
      if (recent.push(now) > most) recent.shift()
      waiting.shift()!()
    }
  }

  return {
    async wait (signal) {
      signal.throwIfAborted()
      const turn = turnIn(waiting, signal)
      if (waiting.length === 1) letThrough()
      // Without anybody in line, no timer keeps the process.
      await turn.catch((error: unknown) => {
        letThrough()
        throw error
      })
    },
    pause (duration) {
      next = Math.max(next, performance.now() + duration)
    },
    paused: () => Math.max(0, next - performance.now())
  }
}
