import { setTimeout as sleep } from 'node:timers/promises'
import { PAY_RECONCILE_REFUSED, PAY_RECONCILE_SERVER_UNREACHABLE, type RequestFault } from './client.ts'

/** Tells and waits time, in milliseconds. */
export interface Clock {
  now(): number
  sleep(duration: number): Promise<unknown>
}

export const systemClock: Clock = { now: () => performance.now(), sleep }

const TIME_LIMIT = 120_000
const FIRST_PAUSE = 500
const LONGEST_PAUSE = 5000
const LONGEST_RETRY_AFTER = 30_000

/**
 * Repeats `request` for two minutes while its failures are transient. It must be safe to repeat.
 * @param note - receives a message about the first failure.
 * @throws what the last attempt threw.
 */
export async function withRetries<Body> (
  request: () => Promise<Body>,
  note: (text: string) => void,
  { now, sleep }: Clock = systemClock
): Promise<Body> {
  const end = now() + TIME_LIMIT
  for (let pause = FIRST_PAUSE, attempt = 1;; pause = Math.min(pause * 2, LONGEST_PAUSE), attempt++) {
    try {
      return await request()
    } catch (error) {
      const left = end - now()
      if (!isTransient(error) || left <= 0) throw error
      if (attempt === 1) {
        note(
          `${
            error.status === undefined ? 'the server does not respond' : `the server responds with ${error.status}`
          }; ` +
            `retrying (${error.message})`
        )
      }
      // Pause even after `Retry-After: 0`.
      const wait = Math.max(Math.min(error.retryAfter ?? 0, LONGEST_RETRY_AFTER), pause)
      await sleep(Math.min(wait, left))
    }
  }
}

/** Whether the same request may succeed later: the server restarts or is overloaded, the network is down. */
export function isTransient (error: unknown): error is RequestFault {
  if (error instanceof PAY_RECONCILE_SERVER_UNREACHABLE) return true
  const status = statusOf(error)
  return status === 429 || (status !== undefined && status >= 500)
}

/** @returns undefined if there was no response. */
export function statusOf (error: unknown): number | undefined {
  return error instanceof PAY_RECONCILE_REFUSED && 'status' in error ? Number(error.status) : undefined
}
