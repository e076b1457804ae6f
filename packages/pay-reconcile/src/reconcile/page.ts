import { setTimeout as sleep } from 'node:timers/promises'
import { isProviderError, type ProviderError } from '../errors.ts'
import { backoff } from '../provider/backoff.ts'
import type { ShopWork } from './shop-work.ts'
import { isTransient } from '../provider/calls.ts'
import { nextPage } from '../provider/next-page.ts'
import type { PayCustomer } from '../provider/types.ts'

/** Waits while the gate of the key is closed; then the call has failed. */
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
  const { key, cancelled, interrupted } = work
  for (let waits = 0;; waits++) {
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
      work.rateLimitOf(secretKey).pause(wait)
      await pause(work, wait)
      if (interrupted.aborted) return undefined
      if (cancelled.aborted) throw error
    }
  }
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

/** A page of the customers of a shop, for the accounts that have them. */
export interface CustomerPage {
  readonly customers: ReadonlyMap<string, PayCustomer>
  /** Before the page was requested, ISO 8601 UTC with milliseconds: the customers are no older. */
  readonly readAt: string
  readonly requestId: string | null
  /** Where the next page starts; null: there is none. */
  readonly next: string | null
}

/** How often a page is read that fails because of the provider. */
const ATTEMPTS = 3

/**
 * Reads a page.
 *
 * @param after - the last customer of the page before; null: the first page.
 * @returns undefined if the run was interrupted or cancelled.
 * @throws a provider error if the page cannot be read.
 */
export function readPage (work: ShopWork, after: string | null): Promise<CustomerPage | undefined> {
  return readWithRetries(work, (secretKey) => pageFrom(work, secretKey, after))
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
  for (let failures = 1;; failures++) {
    try {
      return await withWaits(work, read)
    } catch (error) {
      if (work.ended.aborted) return undefined
      if (!isTransient(error) || failures >= ATTEMPTS) throw error
      await pause(work, backoff(failures, error.retryAfter))
    }
  }
}

async function pageFrom (
  { sources: { call, provider }, interrupted }: ShopWork,
  secretKey: string,
  after: string | null
): Promise<CustomerPage> {
  let readAt = ''
  const { value: { customers, more }, requestId } = await call(secretKey, interrupted, (signal) => {
    readAt = new Date().toISOString()
    return provider.listCustomers({ secretKey, signal, ...(after !== null && { after }) })
  })
  return {
    customers: new Map(customers.map((customer) => [customer.id, customer])),
    readAt,
    requestId,
    next: nextPage({ ids: customers.map(({ id }) => id), more }, after)
  }
}
