import {
  isProviderError, PAY_RECONCILE_PROVIDER_KEY_MISMATCH, PAY_RECONCILE_PROVIDER_UNAVAILABLE, PAY_RECONCILE_RUN_FORBIDDEN, PAY_RECONCILE_STORE_FAILED,
  type ProviderError
} from '../errors.ts'
import { isTransient } from '../provider/calls.ts'
import type { AccountLimits } from '../types.ts'
import { MAX_OF_PAGE, reconcileBatch, type Batch } from './batch.ts'
import { doneAccounts, noteChanges } from './changes.ts'
import { limitsOf } from './limits.ts'
import { readPage } from './page.ts'
import { pagingFor } from './paging.ts'
import { finishedOf, partAfter } from './part.ts'
import type { ShopWork } from './shop-work.ts'
import type { NewRun, Paging, Part, Stop } from './types.ts'
import { rejectsKey } from './waits.ts'

/** How a shop's part ended: `interrupted` parts continue later, `lost` parts in another process. */
export type Ending =
  { readonly status: 'done' | 'cancelled' | 'interrupted' | 'lost' } |
  ({ readonly status: 'stopped' } & Stop)

/** Consecutive accounts that fail because of the provider before the shop stops. */
const MAX_FAILURES = 10

/**
 * Reconciles the accounts of a shop, and stores progress after each step: first those whose customers the provider lists,
 * page by page, then the others one by one, in the order of their ids.
 */
export async function reconcileShop (work: ShopWork, started: Part): Promise<{ readonly part: Part, readonly ending: Ending }> {
  const { sources, run, runs, lease, limits, cancelled, interrupted } = work
  const reasonToStop = stopRule()
  let part = started
  if (run.mode === 'changes' && part.paging === null && part.lastAccount === null) {
    const noted = await withChanges(work, part)
    if ('status' in noted) return { part, ending: noted }
    part = noted
  }
  part = await withPaging(work, part)
  for (;;) {
    if (interrupted.aborted) return { part, ending: { status: 'interrupted' } }
    if (cancelled.aborted) return { part, ending: { status: 'cancelled' } }
    // The others were started by the host itself.
    if (!run.dryRun && run.slot === null && run.webhook !== true && !await limits.mayContinue({ id: run.id, actor: run.actor })) return { part, ending: stopped(PAY_RECONCILE_RUN_FORBIDDEN) }

    const moment = run.mode === 'changes' ? await sources.accounts.changes?.moment() : undefined
    let batch: Batch | undefined
    try {
      batch = part.paging && !part.paging.ended ? await batchOfPage(work, part, part.paging) : await nextBatch(work, part)
    } catch (error) {
      if (!isProviderError(error)) throw error
      if (rejectsKey(error)) return { part, ending: stoppedBy(error) }
      work.log.warn({ err: error, shopId: part.shopId, runId: run.id }, 'the customers cannot be listed: reading one by one')
      part = { ...part, paging: part.paging && { ...part.paging, ended: true } }
      continue
    }
    // Interrupted or cancelled while reading the page.
    if (!batch) continue
    if (batch.accounts.length === 0 && !batch.page) return { part, ending: knowsNone(run, part) ? stopped(PAY_RECONCILE_PROVIDER_KEY_MISMATCH) : { status: 'done' } }

    const { items, stop } = await reconcileBatch(work, batch, reasonToStop)
    const finished = finishedOf(batch, items)
    part = partAfter(part, batch, finished)
    const next = await runs.advance(part, finished, lease)
    if (moment !== undefined && !run.dryRun && next !== 'lost') await sources.accounts.changes?.done(doneAccounts(finished), moment)
    if (next === 'lost') return { part, ending: { status: 'lost' } }
    if (stop) return { part, ending: { status: 'stopped', ...stop } }
    if (next === 'cancelled') return { part, ending: { status: 'cancelled' } }
  }
}

/** Notes which accounts have changed. @returns the part with their number, or how it ended. */
async function withChanges (work: ShopWork, part: Part): Promise<Part | Ending> {
  const { sources: { accounts }, run, targets, interrupted } = work
  if (!accounts.changes) return stopped(PAY_RECONCILE_STORE_FAILED)
  try {
    if (!await noteChanges(work, accounts.changes, part.shopId)) return { status: interrupted.aborted ? 'interrupted' : 'cancelled' }
  } catch (error) {
    if (!isProviderError(error)) throw error
    return stoppedBy(error)
  }
  const [shop] = await accounts.shops(part.shopId, limitsOf(run, targets))
  return { ...part, total: shop?.accounts ?? 0 }
}

/** Decides how the customers are read, unless that was decided before an interruption. */
async function withPaging ({ sources, run, targets }: ShopWork, part: Part): Promise<Part> {
  const reads = run.mode === 'check' || run.mode === 'sync' || run.mode === 'changes'
  if (!reads || part.paging !== null || part.lastAccount !== null) return part
  const [shop] = await sources.accounts.shops(part.shopId, { ...limitsOf(run, targets), linked: true })
  return { ...part, paging: pagingFor(shop?.accounts ?? 0) }
}

/** The accounts with the customers of the next page. @returns undefined if the run was interrupted or cancelled. */
async function batchOfPage (work: ShopWork, { shopId, runId }: Part, { after }: Paging): Promise<Batch | undefined> {
  const { sources: { accounts }, run, targets } = work
  const page = await readPage(work, after)
  if (!page) return undefined
  const only: AccountLimits = { ...limitsOf(run, targets), customers: [...page.customers.keys()], unfinishedIn: runId }
  return { page, accounts: page.customers.size > 0 ? await accounts.scan({ shopId, after: null, limit: MAX_OF_PAGE, runId, only }) : [] }
}

/** The next accounts in the order of their ids. */
async function nextBatch ({ sources: { accounts }, run, targets, limits: { perSecond, accountsAtOnce } }: ShopWork, part: Part): Promise<Batch> {
  const { shopId, runId, lastAccount, paging } = part
  const limit = Math.min(Math.max(Math.ceil(perSecond), accountsAtOnce), 500)
  const only: AccountLimits = { ...limitsOf(run, targets), ...(paging && { unfinishedIn: runId }) }
  return { accounts: await accounts.scan({ shopId, after: lastAccount, limit, runId, only }) }
}

function stopped (Reason: new () => { readonly code: string }): Ending {
  return { status: 'stopped', reason: new Reason().code }
}

function stoppedBy ({ code, missing_permission: missingPermission }: ProviderError): Ending & Stop {
  return { status: 'stopped', reason: code, missingPermission }
}

/**
 * Whether the provider knew none of several customers. A single unknown one says nothing about the key, nor do those of a
 * limited run or of changed accounts: they may be the very ones that were unknown before.
 */
function knowsNone ({ mode, selection }: NewRun, { processed, outcomes, drift }: Part): boolean {
  if (mode === 'changes' || Object.keys(selection).length > 0) return false
  const requested = processed - (drift.missing ?? 0) - (outcomes.skipped ?? 0)
  return requested > 1 && drift.not_found === requested
}

/** Decides when a shop stops: its key is rejected, or the provider has failed for many accounts in a row. */
function stopRule (): (error: ProviderError | undefined) => Stop | undefined {
  let failures = 0
  return (error) => {
    if (error && rejectsKey(error)) return { reason: error.code, missingPermission: error.missing_permission }
    failures = isTransient(error) ? failures + 1 : 0
    return failures >= MAX_FAILURES ? { reason: new PAY_RECONCILE_PROVIDER_UNAVAILABLE().code } : undefined
  }
}
