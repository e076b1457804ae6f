import { setTimeout as sleep } from 'node:timers/promises'
import { PAY_RECONCILE_REFUSED, PAY_RECONCILE_SERVER_UNREACHABLE, type RequestFault } from './client.ts'

/** The time that passes while a run is watched, in milliseconds. */
export interface Clock {
  now (): number
  sleep (ms: number): Promise<unknown>
}

export const systemClock: Clock = { now: () => performance.now(), sleep }

const giveUpMs = 120_000
const firstPauseMs = 500
const longestPauseMs = 5000
const longestRetryAfterMs = 30_000

/**
 * What `ask` gives, asked again for two minutes as long as its failures may pass. It must be safe to repeat.
 * @param note is told about the first failure only.
 * @throws what the last attempt threw.
 */
export async function retrying<Answer> (
  ask: () => Promise<Answer>, note: (text: string) => void, { now, sleep }: Clock = systemClock
): Promise<Answer> {
  const end = now() + giveUpMs
  for (let pauseMs = firstPauseMs, attempt = 1; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs), attempt++) {
    try {
      return await ask()
    } catch (error) {
      const leftMs = end - now()
      if (!isTransient(error) || leftMs <= 0) throw error
      if (attempt === 1) note(`${error.status === undefined ? 'the server does not answer' : `the server answers ${error.status}`}; trying on (${error.message})`)
      // A server that asks for no wait at all is not to be asked without end.
      const waitMs = Math.max(Math.min(error.retryAfterMs ?? 0, longestRetryAfterMs), pauseMs)
      await sleep(Math.min(waitMs, leftMs))
    }
  }
}

/** Whether the same request may be answered later: a restart, an overloaded server, a broken network. */
export function isTransient (error: unknown): error is RequestFault {
  if (error instanceof PAY_RECONCILE_SERVER_UNREACHABLE) return true
  const status = statusOf(error)
  return status === 429 || (status !== undefined && status >= 500)
}

/** @returns nothing when there was no answer. */
export function statusOf (error: unknown): number | undefined {
  return error instanceof PAY_RECONCILE_REFUSED && 'status' in error ? Number(error.status) : undefined
}
