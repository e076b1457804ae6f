import { setTimeout as sleep } from 'node:timers/promises'
import { PAY_RECONCILE_REFUSED, PAY_RECONCILE_SERVER_UNREACHABLE, type RequestFault } from './client.ts'
import { backoff, withRetries } from '../retry.ts'

/** Tells and waits time, in milliseconds. */
export interface Clock {
  now(): number
  sleep(duration: number): Promise<unknown>
}

export const systemClock: Clock = { now: () => performance.now(), sleep }

const TIME_LIMIT = 120_000
const LONGEST_PAUSE = 5000
const LONGEST_RETRY_AFTER = 30_000

/**
 * Repeats `request` for two minutes while its failures are transient. It must be safe to repeat.
 * @param note - receives a message about the first failure.
 * @throws what the last attempt threw.
 */
export async function throughOutages<Body> (
  request: () => Promise<Body>,
  note: (text: string) => void,
  { now, sleep }: Clock = systemClock
): Promise<Body> {
  const end = now() + TIME_LIMIT
  return await withRetries(request, async (error, failed) => {
    const left = end - now()
    if (!isTransient(error) || left <= 0) return false
    if (failed === 1) {
      const what = error.status === undefined ? 'does not respond' : `responds with ${error.status}`
      note(`the server ${what}; retrying (${error.message})`)
    }
    // One command is no crowd: nothing of it is random.
    const wait = backoff(failed, Math.min(error.retryAfter ?? 0, LONGEST_RETRY_AFTER), {
      random: 0,
      longest: 2 * LONGEST_PAUSE
    })
    await sleep(Math.min(wait, left))
    return true
  })
}

/** Whether the same request may succeed later: the server restarts or is overloaded, the network is down. */
export function isTransient (error: unknown): error is RequestFault {
  if (error instanceof PAY_RECONCILE_SERVER_UNREACHABLE) return true
  const status = statusOf(error)
  return status === 429 || (status !== undefined && status >= 500)
}

/** @returns undefined if there was no response. */
export function statusOf (error: unknown): number | undefined {
  return error instanceof PAY_RECONCILE_REFUSED ? error.status : undefined
}
