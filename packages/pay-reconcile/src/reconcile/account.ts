import { writtenAddresses } from '../customers/address.ts'
import { linkedUnderKey } from '../customers/linked.ts'
import { searchByAccount } from '../customers/matching.ts'
import { originOf, retrieve, saveSnapshot, type LiveCustomer } from '../customers/snapshot.ts'
import type { Caller, Sources } from '../customers/types.ts'
import { customerIdOf } from '../details.ts'
import { isProviderError } from '../errors.ts'
import { accountIdOf, isAlive, type PayCustomer, type ProviderResponse } from '../provider/types.ts'
import type { Account, ScannedAccount } from '../types.ts'
import { acceptedItem, driftOf, itemOf, itemWithoutCall, linkItem, type Matches } from './item.ts'
import type { CustomerPage } from './page.ts'
import type { FoundItem, NewRun, Target, Targets } from './types.ts'

/** What is needed to reconcile one account of a shop. */
export interface AccountWork {
  /** `sources.call` waits for the rate limit. */
  readonly sources: Sources
  readonly run: NewRun
  /** What was accepted for accounts; null: all accounts, or named ones, without that. */
  readonly targets: Targets | null
  readonly secretKey: string
  /** Returns an account's e-mail address; used for suggestions only. */
  readonly emailOf: (account: Account) => string | undefined
  /** The fields of a customer that count as drift; undefined: all. */
  readonly driftFields: readonly string[] | undefined
  readonly caller: Caller
  /** Customers that need not be read; undefined: none. */
  readonly page?: CustomerPage | undefined
}

/** Reconciles one account. @throws a provider error, or what the store throws. */
export async function reconcileAccount (work: AccountWork, scanned: ScannedAccount): Promise<FoundItem> {
  const target = targetOf(work, scanned.account)
  const known = itemWithoutCall(work.run.mode, scanned, target)
  if (known?.outcome === 'unlinked' && !scanned.changedByRun) return unlinkAccount(work, scanned.account, known)
  if (known) return known
  if (work.run.mode === 'link') return linkAccount(work, scanned.account)
  return work.run.mode === 'check' ? checkAccount(work, scanned) : syncAccount(work, scanned)
}

async function checkAccount (work: AccountWork, scanned: ScannedAccount): Promise<FoundItem> {
  const { value, requestId } = await liveOrMissing(work, scanned.account)
  const findings = driftOf(scanned, value, work.driftFields)
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

async function syncAccount (work: AccountWork, scanned: ScannedAccount): Promise<FoundItem> {
  const { account } = scanned
  const { value: customer, requestId: providerRequestId, readAt } = await live(work, account)
  const item = itemOf(account, 'synced', { ...driftOf(scanned, customer, work.driftFields), providerRequestId })
  if (work.run.dryRun || await saveSnapshot(work.sources, { account, customer, providerRequestId, readAt }, work.caller)) return item
  return itemOf(account, 'skipped', { reason: 'relinked_meanwhile', providerRequestId })
}

function targetOf ({ targets }: AccountWork, { id }: Account): Target | null {
  return targets && Object.hasOwn(targets, id) ? targets[id] ?? null : null
}

async function unlinkAccount ({ sources, run, caller }: AccountWork, account: Account, item: FoundItem): Promise<FoundItem> {
  if (run.dryRun || item.before === null) return item
  const { changed } = await sources.accounts.unlink({ accountId: account.id, expected: item.before }, originOf(caller, null))
  return changed ? item : { ...item, outcome: 'skipped', reason: 'changed_meanwhile' }
}

async function linkAccount (work: AccountWork, account: Account): Promise<FoundItem> {
  const { sources, secretKey } = work
  const { accounts } = sources
  const found = await matches(work, account)
  const ids = [...found.byAccount, ...found.byEmail].map(({ id }) => id)
  const target = targetOf(work, account)
  const match = linkItem(account, found, await linkedUnderKey(sources, account.shopId, secretKey, ids))
  const item = target ? acceptedItem(account, match, target) : match
  if (work.run.dryRun || item.outcome !== 'linked' || item.after === null) return item
  const { account: after } = await accounts.link(
    { action: 'link', accountId: account.id, customerId: item.after, expected: null },
    originOf(work.caller, item.providerRequestId))
  const linked = after ? customerIdOf(after.details) : null
  return linked === item.after ? item : { ...item, outcome: 'skipped', after: linked, reason: 'linked_meanwhile' }
}

/**
 * Looks for the e-mail address only if a search finds no customer that names the account. Such a customer may still be
 * among those with the address: the search may be refused, or lag.
 */
async function matches ({ sources, secretKey, emailOf, caller: { signal } }: AccountWork, account: Account): Promise<Matches> {
  const { call, provider } = sources
  const { value: byAccount, requestId, refused } = await searchByAccount(sources, { secretKey, accountId: account.id, signal })
  const email = byAccount.length === 0 ? emailOf(account) : undefined
  if (email === undefined) return { byAccount, byEmail: [], searchRefused: refused, providerRequestId: requestId }
  const found = new Map<string, PayCustomer>()
  let lastId = requestId
  for (const address of writtenAddresses(email)) {
    const { value, requestId: id } = await call(secretKey, signal, (attempt) => provider.findByEmail({ secretKey, email: address, signal: attempt }))
    for (const customer of value) found.set(customer.id, customer)
    lastId = id ?? lastId
  }
  const alive = [...found.values()].filter(isAlive)
  const named = alive.filter((customer) => accountIdOf(customer) === account.id)
  return { byAccount: named, byEmail: named.length > 0 ? [] : alive, searchRefused: refused, providerRequestId: lastId }
}

/**
 * The account's customer, from the page if it has it. A snapshot that was stored since the page was read may show a later
 * state, so that the page's would differ or be refused: then the customer is read again.
 */
async function live (
  { sources, secretKey, caller, page }: AccountWork, { details }: Account
): Promise<ProviderResponse<PayCustomer> & Pick<LiveCustomer, 'readAt'>> {
  const customerId = customerIdOf(details) ?? ''
  const listed = page?.customers.get(customerId)
  const isNewer = page !== undefined && typeof details.pay_synced_at === 'string' && details.pay_synced_at > page.readAt
  if (page && listed && !isNewer) return { value: listed, requestId: page.requestId, readAt: page.readAt }
  return retrieve(sources, secretKey, customerId, caller.signal)
}
