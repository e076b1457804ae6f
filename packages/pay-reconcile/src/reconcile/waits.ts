import { setTimeout as sleep } from 'node:timers/promises'
import { isProviderError, type ProviderError } from '../errors.ts'
import { isTransient } from '../provider/calls.ts'
import { backoff, withRetries } from '../retry.ts'
import type { ShopWork } from './shop-work.ts'

/** How often {@link readWithRetries} reads what fails because of the provider. */
const ATTEMPTS = 3
/** Waits of a call while the gate of the key is closed; then it has failed. After a 429 it waits as often as needed. */
const MAX_WAITS = 3

/**
 * Calls the provider under the key of the shop. Waits as long as the provider limits the rate, which says nothing about
 * the account or the key, and continues with a new key if there is one.
 *
 * @returns undefined if the run was interrupted, or cancelled before the call.
 * @throws what `attempt` throws otherwise.
 */
export async function withWaits<T> (
  work: ShopWork,
  attempt: (secretKey: string) => Promise<T>
): Promise<T | undefined> {
  const { key, ended, interrupted } = work
  let secretKey = key.current
  let closed = 0
  return await withRetries(() => {
    secretKey = key.current
    return attempt(secretKey)
  }, async (error, failed) => {
    if (!isProviderError(error) || error.fault === 'aborted' || interrupted.aborted) return false
    if (rejectsKey(error) && await isReplaced(work, secretKey)) return true
    const mayWait = error.fault === 'rate_limited' || (error.fault === 'unavailable' && ++closed <= MAX_WAITS)
    if (!mayWait || ended.aborted) return false
    const wait = backoff(failed - 1, error.retryAfter)
    work.rateLimitOf(secretKey).pause(wait)
    await pause(work, wait)
    return !ended.aborted
  }).catch((error) => {
    if (isProviderError(error) && (error.fault === 'aborted' || interrupted.aborted)) return undefined
    throw error
  })
}

/** Waits, or until the run is cancelled or interrupted. @param duration - in milliseconds. */
async function pause ({ ended }: ShopWork, duration: number): Promise<void> {
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

/**
 * Reads what many accounts depend on. @returns undefined if the run was interrupted or cancelled.
 *
 * @throws a provider error.
 */
export async function readWithRetries<T> (
  work: ShopWork,
  read: (secretKey: string) => Promise<T>
): Promise<T | undefined> {
  return await withRetries(() => withWaits(work, read), async (error, failed) => {
    if (work.ended.aborted || !isTransient(error) || failed >= ATTEMPTS) return false
    await pause(work, backoff(failed, error.retryAfter))
    return true
  }).catch((error) => {
    if (work.ended.aborted) return undefined
    throw error
  })
}
