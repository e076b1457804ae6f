import {
  isProviderError,
  PAY_RECONCILE_PROVIDER_KEY_MISMATCH,
  PAY_RECONCILE_PROVIDER_UNAVAILABLE,
  PAY_RECONCILE_RUN_FORBIDDEN,
  PAY_RECONCILE_STORE_FAILED,
  type ProviderError
} from '../errors.ts'
import { isTransient } from '../provider/calls.ts'
import type { AccountLimits } from '../types.ts'
import { MAX_OF_PAGE, reconcileBatch, type Batch, type StopRule } from './batch.ts'
import { doneAccounts, noteChanges } from './changes.ts'
import { readPage, type CustomerPage } from './page.ts'
import { rejectsKey } from './waits.ts'
import { pagingAfter, pagingFor } from './paging.ts'
import { limitsOf, type ShopWork } from './shop-work.ts'
import type { Counters, FoundItem, NewRun, Next, Part, Stop } from './types.ts'

/** How a shop's part ended: `interrupted` parts continue later, `lost` parts in another process. */
export type Ending =
  | { readonly status: 'done' | 'cancelled' | 'interrupted' | 'lost' }
  | ({ readonly status: 'stopped' } & Stop)

/** Consecutive accounts that fail because of the provider before the shop stops. */
const MAX_FAILURES = 10

/** How far a shop's part has come, and how it ended, if it has. */
interface Reached {
  readonly part: Part
  readonly ending?: Ending | undefined
}

/**
 * Reconciles the accounts of a shop, and stores progress after each step: first those whose customers the provider
 * lists, page by page, then the others one by one, in the order of their ids.
 */
export async function reconcileShop (
  work: ShopWork,
  started: Part
): Promise<{ readonly part: Part, readonly ending: Ending }> {
  const reasonToStop = stopRule()
  let { part, ending } = await begin(work, started)
  while (!ending) ({ part, ending } = await nextStep(work, part, reasonToStop))
  return { part, ending }
}

/**
 * Notes which accounts have changed, and decides how customers are read, unless that was done before an interruption.
 */
async function begin (work: ShopWork, part: Part): Promise<Reached> {
  const { sources: { accounts }, run, targets } = work
  const isResumed = part.paging !== null || part.lastAccount !== null
  if (isResumed || run.mode === 'link' || run.mode === 'unlink') return { part }
  if (run.mode === 'changes') {
    if (!accounts.changes) return { part, ending: stopped(PAY_RECONCILE_STORE_FAILED) }
    try {
      if (!await noteChanges(work, accounts.changes, part.shopId)) return { part }
    } catch (error) {
      if (!isProviderError(error)) throw error
      return { part, ending: stoppedBy(error) }
    }
  }
  const [shop] = await accounts.shops(part.shopId, { ...limitsOf(run, targets), linked: true })
  const linked = shop?.accounts ?? 0
  return { part: { ...part, paging: pagingFor(linked), ...(run.mode === 'changes' && { total: linked }) } }
}

/** Reconciles the next accounts, unless the part has to end before. */
async function nextStep (work: ShopWork, part: Part, reasonToStop: StopRule): Promise<Reached> {
  const { sources: { accounts }, run, runs, lease } = work
  const ending = await endingBefore(work)
  if (ending) return { part, ending }
  const moment = run.mode === 'changes' ? await accounts.changes?.moment() : undefined
  const batch = await nextBatch(work, part)
  if (!('accounts' in batch)) return batch
  if (batch.accounts.length === 0 && !batch.page) {
    return { part, ending: knowsNone(run, part) ? stopped(PAY_RECONCILE_PROVIDER_KEY_MISMATCH) : { status: 'done' } }
  }
  const { finished, last, stop } = await reconcileBatch(work, batch, reasonToStop)
  const reached = partAfter(part, batch, finished, last)
  const next = await runs.advance(reached, finished, lease)
  if (moment !== undefined && !run.dryRun && next !== 'lost') {
    await accounts.changes?.done(doneAccounts(finished), moment)
  }
  return { part: reached, ending: endingAfter(next, stop) }
}

async function endingBefore ({ run, limits, cancelled, interrupted }: ShopWork): Promise<Ending | undefined> {
  if (interrupted.aborted) return { status: 'interrupted' }
  if (cancelled.aborted) return { status: 'cancelled' }
  // The host itself starts the others.
  const isOfPerson = run.scheduledFor === null && run.webhook !== true
  if (!run.dryRun && isOfPerson && !await limits.mayContinue({ id: run.id, actor: run.actor })) {
    return stopped(PAY_RECONCILE_RUN_FORBIDDEN)
  }
}

function endingAfter (next: Next, stop: Stop | undefined): Ending | undefined {
  if (next === 'lost') return { status: 'lost' }
  if (stop) return { status: 'stopped', ...stop }
  if (next === 'cancelled') return { status: 'cancelled' }
}

/**
 * The accounts with the customers of the next page, or without pages the next ones.
 *
 * @returns how far the part is if there is no page.
 */
async function nextBatch (work: ShopWork, part: Part): Promise<Batch | Reached> {
  const { paging, shopId } = part
  if (!paging || paging.ended) return batchById(work, part)
  try {
    const page = await readPage(work, paging.after)
    // Without one the run was interrupted or cancelled.
    return page ? await batchOfPage(work, part, page) : { part }
  } catch (error) {
    if (!isProviderError(error)) throw error
    if (rejectsKey(error)) return { part, ending: stoppedBy(error) }
    work.log.warn({ err: error, shopId, runId: work.run.id }, 'the customers cannot be listed: reading one by one')
    return { part: { ...part, paging: { ...paging, ended: true } } }
  }
}

async function batchOfPage (
  { sources: { accounts }, run, targets }: ShopWork,
  { shopId, runId }: Part,
  page: CustomerPage
): Promise<Batch> {
  const only: AccountLimits = { ...limitsOf(run, targets), customers: [...page.customers.keys()], unfinishedIn: runId }
  return {
    page,
    accounts: page.customers.size > 0
      ? await accounts.scan({ shopId, after: null, limit: MAX_OF_PAGE, runId, only })
      : []
  }
}

/** The next accounts in the order of their ids. */
async function batchById (
  { sources: { accounts }, run, targets, limits: { perSecond, accountsAtOnce } }: ShopWork,
  part: Part
): Promise<Batch> {
  const { shopId, runId, lastAccount, paging } = part
  const limit = Math.min(Math.max(Math.ceil(perSecond), accountsAtOnce), 500)
  const only: AccountLimits = { ...limitsOf(run, targets), ...(paging && { unfinishedIn: runId }) }
  return { accounts: await accounts.scan({ shopId, after: lastAccount, limit, runId, only }) }
}

/** A shop's part after some or all accounts of a batch. */
function partAfter (
  part: Part,
  { accounts, page }: Batch,
  items: readonly FoundItem[],
  last: string | undefined
): Part {
  const isWhole = items.length === accounts.length && accounts.length < MAX_OF_PAGE
  return {
    ...part,
    processed: part.processed + items.length,
    lastAccount: page ? part.lastAccount : last ?? part.lastAccount,
    paging: page && part.paging ? pagingAfter(part.paging, items.length, isWhole ? page.next : undefined) : part.paging,
    outcomes: counted(part.outcomes, items.map(({ outcome }) => outcome)),
    differences: counted(part.differences, items.flatMap(({ differences }) => differences))
  }
}

function counted<Key extends string> (counters: Counters<Key>, keys: readonly Key[]): Counters<Key> {
  const result: Partial<Record<Key, number>> = { ...counters }
  for (const key of keys) result[key] = (result[key] ?? 0) + 1
  return result
}

function stopped (Reason: new() => { readonly code: string }): Ending {
  return { status: 'stopped', reason: new Reason().code }
}

function stoppedBy ({ code, missing_permission: missingPermission }: ProviderError): Ending & Stop {
  return { status: 'stopped', reason: code, missingPermission }
}

/**
 * Whether the provider knew none of several customers. A single unknown one says nothing about the key, nor do those of
 * a limited run or of changed accounts: they may be the very ones that were unknown before.
 */
function knowsNone ({ mode, selection }: NewRun, { processed, outcomes, differences }: Part): boolean {
  if (mode === 'changes' || Object.keys(selection).length > 0) return false
  const requested = processed - (differences.missing ?? 0) - (outcomes.skipped ?? 0)
  return requested > 1 && differences.not_found === requested
}

/**
 * Decides when a shop stops: its key is rejected, or the provider has failed for many accounts in a row. The gate of
 * the key cannot: while it is closed, one request at a time tries, and the account that it was for has failed.
 */
function stopRule (): StopRule {
  let failures = 0
  return (error) => {
    if (error && rejectsKey(error)) return { reason: error.code, missingPermission: error.missing_permission }
    failures = isTransient(error) ? failures + 1 : 0
    return failures >= MAX_FAILURES ? { reason: new PAY_RECONCILE_PROVIDER_UNAVAILABLE().code } : undefined
  }
}
