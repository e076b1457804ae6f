import { customerIdOf, type Account, type ScannedAccount } from '../types.ts'
import { originOf, retrieve, saveCustomer, type Caller, type Sources } from '../customers/snapshot.ts'
import { isProviderError } from '../errors.ts'
import type { PayCustomer, ProviderAnswer } from '../provider/types.ts'
import { driftOf, itemOf, itemWithoutCall, linkItem, type Matches } from './item.ts'
import type { Item, NewRun } from './types.ts'

/** What it takes to reconcile one account of a shop. `sources.call` waits for its turn. */
export interface Work {
  readonly sources: Sources
  readonly run: NewRun
  readonly secretKey: string
  /** Where an account's e-mail address is; used for suggestions only. */
  readonly emailOf: (account: Account) => string | undefined
  readonly caller: Caller
}

/** Reconciles one account. @throws a provider error, or whatever the store throws. */
export async function reconcileAccount (work: Work, scanned: ScannedAccount): Promise<Item> {
  const known = itemWithoutCall(work.run.mode, scanned)
  if (known) return known
  if (work.run.mode === 'link') return linkAccount(work, scanned.account)
  return work.run.mode === 'sync' ? syncAccount(work, scanned) : checkAccount(work, scanned)
}

async function checkAccount (work: Work, scanned: ScannedAccount): Promise<Item> {
  const { value, requestId } = await liveOrMissing(work, scanned.account)
  const { drift, fields } = driftOf(scanned, value)
  return itemOf(scanned.account, drift.length > 0 ? 'drifted' : 'unchanged', { drift, fields, providerRequestId: requestId })
}

async function liveOrMissing (work: Work, account: Account): Promise<ProviderAnswer<PayCustomer | undefined>> {
  try {
    return await live(work, account)
  } catch (error) {
    if (!isProviderError(error) || error.fault !== 'customer_not_found') throw error
    return { value: undefined, requestId: error.provider_request_id ?? null }
  }
}

async function syncAccount (work: Work, scanned: ScannedAccount): Promise<Item> {
  const { account } = scanned
  const { value, requestId } = await live(work, account)
  const { drift, fields } = driftOf(scanned, value)
  const item = itemOf(account, 'synced', { drift, fields, providerRequestId: requestId })
  if (work.run.dryRun) return item
  const stored = await saveCustomer(
    work.sources, { account, customerId: value.id, customer: value, providerRequestId: requestId }, work.caller)
  return stored ? item : itemOf(account, 'skipped', { reason: 'relinked_meanwhile', providerRequestId: requestId })
}

async function linkAccount (work: Work, account: Account): Promise<Item> {
  const item = linkItem(account, await matches(work, account))
  if (item.outcome !== 'linked' || item.after === null) return item
  const { accounts } = work.sources
  if (await accounts.countLinked(account.shopId, item.after) > 0) {
    return { ...item, outcome: 'ambiguous', after: null, reason: 'linked_to_another_account', candidates: [item.after] }
  }
  if (work.run.dryRun) return item
  const { account: after } = await accounts.link(
    { action: 'link', accountId: account.id, customerId: item.after, expected: null },
    originOf(work.caller, item.providerRequestId))
  const linked = after ? customerIdOf(after.details) : null
  return linked === item.after ? item : { ...item, outcome: 'skipped', after: linked, reason: 'linked_meanwhile' }
}

async function matches ({ sources: { call, provider }, secretKey, emailOf, caller }: Work, account: Account): Promise<Matches> {
  const found = await call(secretKey, caller.signal, signal => provider.findByAccount({ secretKey, accountId: account.id, signal }))
  const email = emailOf(account)
  const byEmail = found.value.length === 0 && email !== undefined
    ? await call(secretKey, caller.signal, signal => provider.findByEmail({ secretKey, email, signal }))
    : undefined
  return { byAccount: found.value, byEmail: byEmail?.value ?? [], providerRequestId: byEmail?.requestId ?? found.requestId }
}

function live ({ sources, secretKey, caller }: Work, account: Account): Promise<ProviderAnswer<PayCustomer>> {
  return retrieve(sources, secretKey, customerIdOf(account.details) ?? '', caller.signal)
}
