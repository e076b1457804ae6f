import type { FastifyBaseLogger } from 'fastify'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScannedAccount } from '../types.ts'
import { backoffMs } from '../provider/backoff.ts'
import {
  isProviderError, PAY_RECONCILE_DETAILS_NOT_OBJECT, PAY_RECONCILE_PROVIDER_KEY_MISMATCH, PAY_RECONCILE_PROVIDER_UNAVAILABLE,
  PAY_RECONCILE_RUN_FORBIDDEN, PAY_RECONCILE_STORE_FAILED, type ProviderError
} from '../errors.ts'
import { isPassing } from '../provider/calls.ts'
import { reconcileAccount, type Work } from './account.ts'
import type { Pace } from './rate-limit.ts'
import { advanced, itemOf } from './item.ts'
import type { Item, Lease, Part, RunStore } from './types.ts'
import type { ShopKey } from './shop-key.ts'

/** How a shop's part ended: `interrupted` goes on later, `lost` goes on elsewhere. */
export type Ending =
  { readonly status: 'done' | 'cancelled' | 'interrupted' | 'lost' } |
  { readonly status: 'stopped', readonly reason: string }

/** What it takes to reconcile a shop. */
export interface ShopWork extends Omit<Work, 'secretKey'> {
  readonly key: ShopKey
  readonly runs: RunStore
  readonly lease: Lease
  readonly paceOf: (secretKey: string) => Pace
  readonly log: FastifyBaseLogger
  /** Asked before each page. */
  readonly mayContinue: () => boolean | Promise<boolean>
  /** Accounts at once, and accounts between two reports of progress. */
  readonly atOnce: number
  readonly pageSize: number
  /** No new account after this; those in work are finished. */
  readonly cancelled: AbortSignal
  /** Stops at once; accounts in work are left for later. */
  readonly interrupted: AbortSignal
}

/** Waits for one account while nothing is sent, as the provider keeps failing; then it counts as failed. */
const maxWaits = 3
/** Waits for one account, some ten seconds together, after which the log says why nothing happens. */
const manyWaits = 5
/** Accounts in a row that fail by the provider's trouble, before the shop is given up. */
const maxTroubles = 10

/** Reconciles the accounts of a shop, a page at a time, in the order of their ids. */
export async function reconcileShop (work: ShopWork, part: Part): Promise<{ readonly part: Part, readonly ending: Ending }> {
  const reasonToStop = stopRule()
  const ended = AbortSignal.any([work.interrupted, work.cancelled])
  for (;;) {
    if (work.interrupted.aborted) return { part, ending: { status: 'interrupted' } }
    if (work.cancelled.aborted) return { part, ending: { status: 'cancelled' } }
    if (!await work.mayContinue()) return { part, ending: { status: 'stopped', reason: new PAY_RECONCILE_RUN_FORBIDDEN().code } }
    const accounts = await work.sources.accounts.scan({
      shopId: part.shopId, after: part.lastAccount, limit: work.pageSize, runId: part.runId
    })
    if (accounts.length === 0) return { part, ending: knowsNone(part) ? mismatch : { status: 'done' } }

    const { items, reason } = await reconcilePage(work, accounts, ended, reasonToStop)
    part = advanced(part, items)
    const next = await work.runs.advance(part, items, work.lease)
    if (next === 'lost') return { part, ending: { status: 'lost' } }
    if (reason !== undefined) return { part, ending: { status: 'stopped', reason } }
    if (next === 'cancelled') return { part, ending: { status: 'cancelled' } }
  }
}

const mismatch: Ending = { status: 'stopped', reason: new PAY_RECONCILE_PROVIDER_KEY_MISMATCH().code }

/** Whether the provider was asked for customers and knew none. Of a single one it says nothing about the key. */
function knowsNone ({ processed, outcomes, drift }: Part): boolean {
  const asked = processed - (drift.missing ?? 0) - (outcomes.skipped ?? 0)
  return asked > 1 && drift.not_found === asked
}

interface PageResult {
  /** Items of the first accounts of the page, without gaps, so that the last one is where to go on. */
  readonly items: readonly Item[]
  /** Why no further account of this shop makes sense. */
  readonly reason: string | undefined
}

async function reconcilePage (
  work: ShopWork, accounts: readonly ScannedAccount[], ended: AbortSignal,
  reasonToStop: (error: ProviderError | undefined) => string | undefined
): Promise<PageResult> {
  const items: Array<Item | undefined> = []
  let reason: string | undefined
  let taken = 0

  async function worker (): Promise<void> {
    while (taken < accounts.length && reason === undefined && !work.cancelled.aborted && !work.interrupted.aborted) {
      const index = taken++
      const account = accounts[index]
      if (!account) return
      const { item, error } = await patiently(work, account, ended)
      items[index] = item
      if (item) reason ??= reasonToStop(error)
    }
  }

  await Promise.all(Array.from({ length: work.atOnce }, worker))
  const gap = Array.from(items).indexOf(undefined)
  return { items: items.slice(0, gap < 0 ? items.length : gap).filter(item => item !== undefined), reason }
}

/**
 * Reconciles an account. Waits as long as the provider limits the rate, which says nothing about the account or
 * the key, and goes on with another key if there is one by now. No item: interrupted before it was done.
 */
async function patiently (work: ShopWork, scanned: ScannedAccount, ended: AbortSignal): Promise<{ item?: Item, error?: ProviderError }> {
  for (let waits = 0; ; waits++) {
    const secretKey = work.key.current
    try {
      return { item: await reconcileAccount({ ...work, secretKey }, scanned) }
    } catch (error) {
      if (!isProviderError(error)) return { item: itemOf(scanned.account, 'failed', { errorCode: codeOf(work, scanned, error) }) }
      if (error.fault === 'aborted' || work.interrupted.aborted) return {}
      if (refusesKey(error) && await isReplaced(work, secretKey)) continue
      const asksToWait = error.fault === 'rate_limited' || (error.fault === 'unavailable' && waits < maxWaits)
      if (asksToWait && !work.cancelled.aborted) {
        const waitMs = backoffMs(waits, error.retryAfterMs)
        if (waits === manyWaits) work.log.warn({ err: error, accountId: scanned.account.id, runId: work.run.id, waitMs }, 'waiting for the payment provider')
        work.paceOf(secretKey).pause(waitMs)
        await sleep(waitMs, undefined, { signal: ended }).catch(() => undefined)
        if (work.interrupted.aborted) return {}
        if (!work.cancelled.aborted) continue
      }
      const drift = error.fault === 'customer_not_found' ? ['not_found' as const] : []
      const facts = { drift, errorCode: error.code, providerRequestId: error.provider_request_id ?? null }
      return { item: itemOf(scanned.account, 'failed', facts), error }
    }
  }
}

/**
 * One account that cannot be stored must not hold up the others. Should the whole store be gone, progress
 * cannot be reported either, and the page is done again later.
 */
function codeOf (work: ShopWork, { account }: ScannedAccount, error: unknown): string {
  if (error instanceof PAY_RECONCILE_DETAILS_NOT_OBJECT) return error.code
  work.log.error({ err: error, accountId: account.id, runId: work.run.id }, 'account not reconciled')
  return new PAY_RECONCILE_STORE_FAILED().code
}

async function isReplaced (work: ShopWork, secretKey: string): Promise<boolean> {
  return work.key.replaced(secretKey).catch(error => {
    work.log.error({ err: error, runId: work.run.id }, 'secret key of the shop not read again')
    return false
  })
}

function refusesKey (error: ProviderError): boolean {
  return error.fault === 'key_rejected' || error.fault === 'key_forbidden'
}

/** Says when a shop is to be given up: its key is refused, or the provider has failed for many in a row. */
function stopRule (): (error: ProviderError | undefined) => string | undefined {
  let troubles = 0
  return error => {
    if (error && refusesKey(error)) return error.code
    troubles = isPassing(error) ? troubles + 1 : 0
    return troubles >= maxTroubles ? new PAY_RECONCILE_PROVIDER_UNAVAILABLE().code : undefined
  }
}
