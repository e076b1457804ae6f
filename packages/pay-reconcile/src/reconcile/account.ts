import { originOf, retrieve, saveSnapshot, type LiveCustomer } from '../customers/snapshot.ts'
import { customerIdOf } from '../details.ts'
import { isProviderError } from '../errors.ts'
import type { PayCustomer, ProviderResponse } from '../provider/types.ts'
import type { Account, ScannedAccount } from '../types.ts'
import { differencesOf } from './differences.ts'
import { itemOf } from './item.ts'
import { linkAccount, type LinkWork } from './link.ts'
import type { CustomerPage } from './page.ts'
import type { ShopWork } from './shop-work.ts'
import type { FoundItem, Mode, Outcome, Target } from './types.ts'

/** What is needed to reconcile one account of a shop. */
export interface AccountWork extends LinkWork, Pick<ShopWork, 'targets'> {
  /** Customers that need not be read; undefined: none. */
  readonly page?: CustomerPage | undefined
}

/** @param accepted - what was accepted for the account, if anything. */
type Step = (work: AccountWork, scanned: ScannedAccount, accepted: Target | null) => FoundItem | Promise<FoundItem>

/** What a mode does with an account that has a customer, and with one that has none. */
const STEPS: Readonly<Record<Mode, { readonly linked: Step, readonly unlinked: Step }>> = {
  link: { linked: keepAccount, unlinked: (work, { account }, accepted) => linkAccount(work, account, accepted) },
  unlink: { linked: unlinkAccount, unlinked: keepAccount },
  sync: { linked: syncAccount, unlinked: skipAccount },
  changes: { linked: syncAccount, unlinked: skipAccount },
  check: {
    linked: checkAccount,
    unlinked: (_work, { account }) => itemOf(account, 'different', { differences: ['missing'] })
  }
}

/** The outcome of an account that this run finished before an interruption. */
const FINISHED: Readonly<Record<Mode, Outcome>> = {
  link: 'linked',
  unlink: 'unlinked',
  sync: 'synced',
  changes: 'synced',
  check: 'different'
}

/** Reconciles one account. @throws a provider error, or what the store throws. */
export async function reconcileAccount (work: AccountWork, scanned: ScannedAccount): Promise<FoundItem> {
  const { run: { mode }, targets } = work
  const { account, changedByRun } = scanned
  const customerId = customerIdOf(account.details)
  const accepted = targets && Object.hasOwn(targets, account.id) ? targets[account.id] ?? null : null
  if (changedByRun) return itemOf(account, FINISHED[mode], { before: null, reason: 'before_interruption' })
  if (customerId !== null && accepted && accepted.customerId !== customerId) {
    return itemOf(account, 'skipped', { reason: 'changed_meanwhile' })
  }
  return STEPS[mode][customerId === null ? 'unlinked' : 'linked'](work, scanned, accepted)
}

function keepAccount (_work: AccountWork, { account }: ScannedAccount): FoundItem {
  return itemOf(account, 'unchanged')
}

function skipAccount (_work: AccountWork, { account }: ScannedAccount): FoundItem {
  return itemOf(account, 'skipped', { reason: 'no_customer_id' })
}

async function unlinkAccount ({ sources, run, caller }: AccountWork, { account }: ScannedAccount): Promise<FoundItem> {
  const item = itemOf(account, 'unlinked', { after: null })
  if (run.dryRun || item.before === null) return item
  const { changed } = await sources.accounts.unlink(
    { accountId: account.id, expected: item.before },
    originOf(caller, null)
  )
  return changed ? item : { ...item, outcome: 'skipped', reason: 'changed_meanwhile' }
}

async function checkAccount (work: AccountWork, scanned: ScannedAccount): Promise<FoundItem> {
  const { value, requestId } = await liveOrMissing(work, scanned.account)
  const found = differencesOf(scanned, value, work.limits.comparedFields)
  return itemOf(scanned.account, found.differences.length > 0 ? 'different' : 'unchanged', {
    ...found,
    providerRequestId: requestId
  })
}

async function syncAccount (work: AccountWork, scanned: ScannedAccount): Promise<FoundItem> {
  const { account } = scanned
  const { value: customer, requestId: providerRequestId, readAt } = await live(work, account)
  const item = itemOf(account, 'synced', {
    ...differencesOf(scanned, customer, work.limits.comparedFields),
    providerRequestId
  })
  if (
    work.run.dryRun || await saveSnapshot(work.sources, { account, customer, providerRequestId, readAt }, work.caller)
  ) return item
  return itemOf(account, 'skipped', { reason: 'relinked_meanwhile', providerRequestId })
}

async function liveOrMissing (work: AccountWork, account: Account): Promise<ProviderResponse<PayCustomer | undefined>> {
  try {
    return await live(work, account)
  } catch (error) {
    if (!isProviderError(error) || error.fault !== 'customer_not_found') throw error
    return { value: undefined, requestId: error.provider_request_id ?? null }
  }
}

/**
 * The account's customer, from the page if it has it. A snapshot that was stored since the page was read may show a
 * later state, so that the page's would differ or be refused: then the customer is read again.
 */
async function live (
  { sources, secretKey, caller, page }: AccountWork,
  { details }: Account
): Promise<ProviderResponse<PayCustomer> & Pick<LiveCustomer, 'readAt'>> {
  const customerId = customerIdOf(details) ?? ''
  const listed = page?.customers.get(customerId)
  const isNewer = page !== undefined && typeof details.pay_synced_at === 'string' && details.pay_synced_at > page.readAt
  if (page && listed && !isNewer) return { value: listed, requestId: page.requestId, readAt: page.readAt }
  return retrieve(sources, secretKey, customerId, caller.signal)
}
