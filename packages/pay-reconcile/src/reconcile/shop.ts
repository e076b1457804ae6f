import type { FastifyBaseLogger } from 'fastify'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScannedAccount } from '../account.ts'
import {
  isProviderError, PAY_RECONCILE_DETAILS_NOT_OBJECT, PAY_RECONCILE_PROVIDER_UNAVAILABLE, PAY_RECONCILE_STORE_FAILED,
  type ProviderError
} from '../errors.ts'
import { isPassing } from '../provider-calls.ts'
import { reconcileAccount, type Work } from './account.ts'
import type { Pace } from './pace.ts'
import { advanced, itemOf } from './plan.ts'
import type { Item, Lease, Part, RunStore } from './run.ts'

/** How a shop's part ended: `interrupted` goes on later, `lost` goes on elsewhere. */
export type Ending =
  { readonly status: 'done' | 'cancelled' | 'interrupted' | 'lost' } |
  { readonly status: 'stopped', readonly reason: string }

/** What it takes to reconcile a shop. */
export interface ShopWork extends Work {
  readonly runs: RunStore
  readonly lease: Lease
  readonly pace: Pace
  readonly log: FastifyBaseLogger
  /** Accounts at once, and accounts between two reports of progress. */
  readonly atOnce: number
  readonly pageSize: number
  /** No new account after this; those in work are finished. */
  readonly cancelled: AbortSignal
  /** Stops at once; accounts in work are left for later. */
  readonly interrupted: AbortSignal
}

/** Waits for one account when the provider asks for them, before it counts as failed. */
const maxWaits = 3
const maxWaitMs = 30_000
/** Accounts in a row that fail by the provider's trouble, before the shop is given up. */
const maxTroubles = 10

/** Reconciles the accounts of a shop, a page at a time, in the order of their ids. */
export async function reconcileShop (work: ShopWork, part: Part): Promise<{ readonly part: Part, readonly ending: Ending }> {
  const reasonToStop = stopRule()
  for (;;) {
    if (work.interrupted.aborted) return { part, ending: { status: 'interrupted' } }
    if (work.cancelled.aborted) return { part, ending: { status: 'cancelled' } }
    const accounts = await work.sources.accounts.scan({
      shopId: part.shopId, after: part.lastAccount, limit: work.pageSize, runId: part.runId
    })
    if (accounts.length === 0) return { part, ending: { status: 'done' } }

    const { items, reason } = await reconcilePage(work, accounts, reasonToStop)
    part = advanced(part, items)
    const next = await work.runs.advance(part, items, work.lease)
    if (next === 'lost') return { part, ending: { status: 'lost' } }
    if (reason !== undefined) return { part, ending: { status: 'stopped', reason } }
    if (next === 'cancelled') return { part, ending: { status: 'cancelled' } }
  }
}

interface PageResult {
  /** Items of the first accounts of the page, without gaps, so that the last one is where to go on. */
  readonly items: readonly Item[]
  /** Why no further account of this shop makes sense. */
  readonly reason: string | undefined
}

async function reconcilePage (
  work: ShopWork, accounts: readonly ScannedAccount[], reasonToStop: (error: ProviderError | undefined) => string | undefined
): Promise<PageResult> {
  const items: Array<Item | undefined> = []
  let reason: string | undefined
  let taken = 0

  async function worker (): Promise<void> {
    while (taken < accounts.length && reason === undefined && !work.cancelled.aborted && !work.interrupted.aborted) {
      const index = taken++
      const account = accounts[index]
      if (!account) return
      const { item, error } = await patiently(work, account)
      items[index] = item
      if (item) reason ??= reasonToStop(error)
    }
  }

  await Promise.all(Array.from({ length: work.atOnce }, worker))
  const gap = Array.from(items).indexOf(undefined)
  return { items: items.slice(0, gap < 0 ? items.length : gap).filter(item => item !== undefined), reason }
}

/** Reconciles an account, waiting as the provider asks. No item: interrupted before it was done. */
async function patiently (work: ShopWork, scanned: ScannedAccount): Promise<{ item?: Item, error?: ProviderError }> {
  for (let waits = 0; ; waits++) {
    try {
      return { item: await reconcileAccount(work, scanned) }
    } catch (error) {
      if (!isProviderError(error)) return { item: itemOf(scanned.account, 'failed', { errorCode: codeOf(work, scanned, error) }) }
      if (error.fault === 'aborted' || work.interrupted.aborted) return {}
      const asksToWait = error.fault === 'rate_limited' || error.fault === 'unavailable'
      if (asksToWait && waits < maxWaits && !work.cancelled.aborted) {
        const waitMs = Math.min(error.retryAfterMs ?? 1000, maxWaitMs)
        work.pace.pause(waitMs)
        await sleep(waitMs, undefined, { signal: AbortSignal.any([work.interrupted, work.cancelled]) }).catch(() => undefined)
        if (work.interrupted.aborted) return {}
        if (!work.cancelled.aborted) continue
      }
      const facts = { errorCode: error.code, providerRequestId: error.provider_request_id ?? null }
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

/** Says when a shop is to be given up: its key is refused, or the provider has failed for many in a row. */
function stopRule (): (error: ProviderError | undefined) => string | undefined {
  let troubles = 0
  return error => {
    if (error?.fault === 'key_rejected' || error?.fault === 'key_forbidden') return error.code
    troubles = isPassing(error) ? troubles + 1 : 0
    return troubles >= maxTroubles ? new PAY_RECONCILE_PROVIDER_UNAVAILABLE().code : undefined
  }
}
