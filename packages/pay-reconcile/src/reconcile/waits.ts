import { setTimeout as sleep } from 'node:timers/promises'
import { isProviderError, type ProviderError } from '../errors.ts'
import { backoff } from '../provider/backoff.ts'
import type { ShopWork } from './shop-work.ts'

/** Waits while the gate of the key is closed; then the call has failed. */
const MAX_WAITS = 3
/** Waits for one call, ten seconds or so in total, after which the log says why nothing happens. */
const WAITS_BEFORE_WARNING = 5

/**
 * Calls the provider under the key of the shop. Waits as long as the provider limits the rate, which says nothing about
 * the account or the key, and continues with a new key if there is one.
 *
 * @param about - what the log says about the call.
 * @returns undefined if the run was interrupted.
 * @throws what `attempt` throws otherwise.
 */
export async function withWaits<T> (work: ShopWork, about: object, attempt: (secretKey: string) => Promise<T>): Promise<T | undefined> {
  const { key, cancelled, interrupted, log, run } = work
  for (let waits = 0; ; waits++) {
    const secretKey = key.current
    try {
      return await attempt(secretKey)
    } catch (error) {
      if (!isProviderError(error)) throw error
      if (error.fault === 'aborted' || interrupted.aborted) return undefined
      if (rejectsKey(error) && await isReplaced(work, secretKey)) continue
      const mayWait = error.fault === 'rate_limited' || (error.fault === 'unavailable' && waits < MAX_WAITS)
      if (!mayWait || cancelled.aborted) throw error
      const wait = backoff(waits, error.retryAfter)
      if (waits === WAITS_BEFORE_WARNING) log.warn({ err: error, ...about, runId: run.id, wait }, 'waiting for the payment provider')
      work.rateLimitOf(secretKey).pause(wait)
      await pause(work, wait)
      if (interrupted.aborted) return undefined
      if (cancelled.aborted) throw error
    }
  }
}

/** Waits, or until the run is cancelled or interrupted. @param duration - in milliseconds. */
export async function pause ({ ended }: ShopWork, duration: number): Promise<void> {
  await sleep(duration, undefined, { signal: ended }).catch(() => undefined)
}

export function rejectsKey (error: ProviderError): boolean {
  return error.fault === 'key_rejected' || error.fault === 'key_forbidden'
}

async function isReplaced ({ key, log, run }: ShopWork, secretKey: string): Promise<boolean> {
  return key.replaced(secretKey).catch((error) => {
    log.error({ err: error, runId: run.id }, 'the secret key of the shop could not be read again')
    return false
  })
}
