import type { Caller } from '../customers/snapshot.ts'
import {
  isProviderError,
  PAY_RECONCILE_DETAILS_NOT_OBJECT,
  PAY_RECONCILE_NAMESPACE_REQUIRED,
  PAY_RECONCILE_STORE_FAILED,
  type ProviderError
} from '../errors.ts'
import type { ScannedAccount } from '../types.ts'
import { reconcileAccount } from './account.ts'
import { itemOf } from './item.ts'
import type { CustomerPage } from './page.ts'
import { withWaits } from './waits.ts'
import type { ShopWork } from './shop-work.ts'
import type { FoundItem, Stop } from './types.ts'

/**
 * Accounts with the customers of one page. More, if some have the same customer, are found by reading the page again.
 */
export const MAX_OF_PAGE = 500

/** Accounts that are reconciled before progress is stored. */
export interface Batch {
  readonly accounts: readonly ScannedAccount[]
  /** The page with their customers; undefined: they are read one by one. */
  readonly page?: CustomerPage | undefined
}

export interface BatchResult {
  /**
   * The items that can be stored. Without a page, those of the first accounts without gaps, as the next batch starts
   * behind them; all if there is none.
   */
  readonly finished: readonly FoundItem[]
  /** The last account before which all are finished; undefined: there is none. */
  readonly last: string | undefined
  /** Why the shop stops. */
  readonly stop: Stop | undefined
}

/** Is called with the provider error of each account, or undefined. @returns why the shop stops, if it has to. */
export type StopRule = (error: ProviderError | undefined) => Stop | undefined

/** Reconciles some accounts at a time, until all are done, the run ends or there is a reason to stop. */
export async function reconcileBatch (
  work: ShopWork,
  { accounts, page }: Batch,
  reasonToStop: StopRule
): Promise<BatchResult> {
  const items: Array<FoundItem | undefined> = accounts.map(() => undefined)
  let stop: Stop | undefined
  let started = 0

  async function worker (): Promise<void> {
    while (!stop && !work.ended.aborted) {
      const index = started++
      const account = accounts[index]
      if (!account) return
      const { item, error } = await reconciled(work, account, page)
      items[index] = item
      if (item) stop ??= reasonToStop(error)
    }
  }

  await Promise.all(Array.from({ length: work.limits.accountsAtOnce }, worker))
  const gap = [...items, undefined].indexOf(undefined)
  const kept = page || work.cancelled.aborted ? items : items.slice(0, gap)
  return { finished: kept.filter((item) => item !== undefined), last: items[gap - 1]?.accountId, stop }
}

/** @returns the item of an account, and why it failed; no item if the run ended before. */
async function reconciled (
  work: ShopWork,
  scanned: ScannedAccount,
  page: CustomerPage | undefined
): Promise<{ readonly item?: FoundItem | undefined, readonly error?: ProviderError }> {
  const { run, interrupted } = work
  const { account } = scanned
  const caller: Caller = { actor: run.actor, requestId: run.requestId, runId: run.id, signal: interrupted }
  try {
    return {
      item: await withWaits(work, (secretKey) => reconcileAccount({ ...work, secretKey, caller, page }, scanned))
    }
  } catch (error) {
    if (!isProviderError(error)) return { item: itemOf(account, 'failed', { errorCode: codeOf(work, scanned, error) }) }
    const differences = error.fault === 'customer_not_found' ? ['not_found' as const] : []
    return {
      item: itemOf(account, 'failed', {
        differences,
        errorCode: error.code,
        providerRequestId: error.provider_request_id ?? null
      }),
      error
    }
  }
}

/**
 * One account that cannot be stored must not block the others. If the whole store is down, progress cannot be stored
 * either, and the batch is repeated later.
 */
function codeOf ({ log, run }: ShopWork, { account }: ScannedAccount, error: unknown): string {
  const isTold = error instanceof PAY_RECONCILE_DETAILS_NOT_OBJECT || error instanceof PAY_RECONCILE_NAMESPACE_REQUIRED
  if (isTold) return error.code
  log.error({ err: error, accountId: account.id, runId: run.id }, 'the account was not reconciled')
  return new PAY_RECONCILE_STORE_FAILED().code
}
