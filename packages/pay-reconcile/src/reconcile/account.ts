import { originOf, retrieve, saveSnapshot } from '../customers/snapshot.ts'
import type { Caller, Sources } from '../customers/types.ts'
import { customerIdOf } from '../details.ts'
import { isProviderError } from '../errors.ts'
import type { PayCustomer, ProviderResponse } from '../provider/types.ts'
import type { Account, ScannedAccount } from '../types.ts'
import { driftOf, itemOf, itemWithoutCall, linkItem, type Matches } from './item.ts'
import type { Item, NewRun } from './types.ts'

/** What is needed to reconcile one account of a shop. */
export interface AccountWork {
  /** `sources.call` waits for the rate limit. */
  readonly sources: Sources
  readonly run: NewRun
  readonly secretKey: string
  /** Returns an account's e-mail address; used for suggestions only. */
  readonly emailOf: (account: Account) => string | undefined
  readonly caller: Caller
}

/** Reconciles one account. @throws a provider error, or what the store throws. */
export async function reconcileAccount (work: AccountWork, scanned: ScannedAccount): Promise<Item> {
  const known = itemWithoutCall(work.run.mode, scanned)
  if (known) return known
  if (work.run.mode === 'link') return linkAccount(work, scanned.account)
  return work.run.mode === 'sync' ? syncAccount(work, scanned) : checkAccount(work, scanned)
}

async function checkAccount (work: AccountWork, scanned: ScannedAccount): Promise<Item> {
  const { value, requestId } = await liveOrMissing(work, scanned.account)
  const findings = driftOf(scanned, value)
  return itemOf(scanned.account, findings.drift.length > 0 ? 'drifted' : 'unchanged', { ...findings, providerRequestId: requestId })
}

async function liveOrMissing (work: AccountWork, account: Account): Promise<ProviderResponse<PayCustomer | undefined>> {
  try {
    return await live(work, account)
  } catch (error) {
    if (!isProviderError(error) || error.fault !== 'customer_not_found') throw error
    return { value: undefined, requestId: error.provider_request_id ?? null }
  }
}

async function syncAccount (work: AccountWork, scanned: ScannedAccount): Promise<Item> {
  const { account } = scanned
  const { value: customer, requestId: providerRequestId } = await live(work, account)
  const item = itemOf(account, 'synced', { ...driftOf(scanned, customer), providerRequestId })
  if (work.run.dryRun || await saveSnapshot(work.sources, { account, customer, providerRequestId }, work.caller)) return item
  return itemOf(account, 'skipped', { reason: 'relinked_meanwhile', providerRequestId })
}

async function linkAccount (work: AccountWork, account: Account): Promise<Item> {
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

async function matches ({ sources: { call, provider }, secretKey, emailOf, caller }: AccountWork, account: Account): Promise<Matches> {
  const found = await call(secretKey, caller.signal, signal => provider.findByAccount({ secretKey, accountId: account.id, signal }))
  const email = emailOf(account)
  const byEmail = found.value.length === 0 && email !== undefined
    ? await call(secretKey, caller.signal, signal => provider.findByEmail({ secretKey, email, signal }))
    : undefined
  return { byAccount: found.value, byEmail: byEmail?.value ?? [], providerRequestId: byEmail?.requestId ?? found.requestId }
}

function live ({ sources, secretKey, caller }: AccountWork, account: Account): Promise<ProviderResponse<PayCustomer>> {
  return retrieve(sources, secretKey, customerIdOf(account.details) ?? '', caller.signal)
}
