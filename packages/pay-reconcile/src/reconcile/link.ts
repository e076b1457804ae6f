import { isDeepStrictEqual } from 'node:util'
import { excerpt } from '#shared/excerpt'
import { linkedUnderKey, searchByAccount, writtenAddresses } from '../customers/matching.ts'
import { originOf, type Caller } from '../customers/snapshot.ts'
import { customerIdOf, storable } from '../details.ts'
import { accountIdOf, excerptOf, isAlive, type PayCustomer } from '../provider/types.ts'
import type { Account } from '../types.ts'
import { itemOf } from './item.ts'
import type { ShopWork } from './shop-work.ts'
import type { Candidate, FoundItem, Match, Outcome, Target } from './types.ts'

/** What is needed to link one account of a shop. */
export interface LinkWork extends Pick<ShopWork, 'sources' | 'run' | 'limits'> {
  readonly secretKey: string
  readonly caller: Caller
}

/** Looks for the customer of an account that has none, and links it. @param accepted - the suggestion that was accepted, if any. */
export async function linkAccount (work: LinkWork, account: Account, accepted: Target | null): Promise<FoundItem> {
  const { sources, secretKey, run, caller } = work
  const found = await matches(work, account)
  const ids = [...found.byAccount, ...found.byEmail].map(({ id }) => id)
  const match = itemFrom(account, found, await linkedUnderKey(sources, account.shopId, secretKey, ids))
  const item = accepted ? acceptedItem(account, match, accepted) : match
  if (run.dryRun || item.outcome !== 'linked' || item.after === null) return item
  const { account: after } = await sources.accounts.link(
    { action: 'link', accountId: account.id, customerId: item.after, expected: null },
    originOf(caller, item.providerRequestId))
  const linked = after ? customerIdOf(after.details) : null
  return linked === item.after ? item : { ...item, outcome: 'skipped', after: linked, reason: 'linked_meanwhile' }
}

/** Customers found for an account that has none; deleted ones are left out. */
interface Matches {
  readonly byAccount: readonly PayCustomer[]
  /** Only searched for if no customer carries the account's id. */
  readonly byEmail: readonly PayCustomer[]
  /** The provider refused to search for the account's id. */
  readonly searchRefused: boolean
  readonly providerRequestId: string | null
}

/**
 * Looks for the e-mail address only if a search finds no customer that names the account. Such a customer may still be
 * among those with the address: the search may be refused, or lag.
 */
async function matches ({ sources, secretKey, limits, caller: { signal } }: LinkWork, account: Account): Promise<Matches> {
  const { call, provider } = sources
  const { value: byAccount, requestId, refused } = await searchByAccount(sources, { secretKey, accountId: account.id, signal })
  const email = byAccount.length === 0 ? limits.emailOf(account) : undefined
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
 * Only metadata link, because only we write them. Anybody can type an e-mail address, so it only suggests.
 *
 * @param linked - the customers that accounts of the shop have, or of another shop with the same key.
 */
function itemFrom (account: Account, { byAccount, byEmail, searchRefused, providerRequestId }: Matches, linked: ReadonlySet<string>): FoundItem {
  const candidatesOf = (match: Match, customers: readonly PayCustomer[]): readonly Candidate[] => customers.slice(0, 10).map((customer) => ({
    customerId: customer.id, match, name: excerptOf(customer.name), email: excerptOf(customer.email), linked: linked.has(customer.id)
  }))
  const item = (outcome: Outcome, rest: Partial<FoundItem> = {}): FoundItem => itemOf(account, outcome, { providerRequestId, ...rest })
  const [only, ...others] = byAccount
  if (only && others.length === 0 && !linked.has(only.id)) return item('linked', { after: only.id, reason: 'metadata' })
  if (only) return item('ambiguous', { reason: others.length > 0 ? 'metadata' : 'linked_to_another_account', candidates: candidatesOf('metadata', byAccount) })
  if (byEmail.length > 0) return item('suggested', { reason: 'email', candidates: candidatesOf('email', byEmail) })
  return item('unmatched', { reason: searchRefused ? 'search_refused' : null })
}

/**
 * The item of an account for which a suggestion was accepted: linked if the account and the customer are still as they
 * were shown to the person who accepted.
 */
function acceptedItem (account: Account, item: FoundItem, { customerId, accountName, candidate }: Target): FoundItem {
  const [found, ...others] = item.candidates
  if (item.outcome === 'linked' && item.after === customerId) return item
  if (found?.linked) return { ...item, outcome: 'skipped', after: null, reason: 'linked_to_another_account' }
  const isSame = item.outcome === 'suggested' && others.length === 0 && isDeepStrictEqual(storable(found), candidate) && excerpt(account.name) === accountName
  return isSame
    ? { ...item, outcome: 'linked', after: customerId, reason: 'accepted', candidates: [] }
    : { ...item, outcome: 'skipped', after: null, reason: 'changed_meanwhile' }
}
