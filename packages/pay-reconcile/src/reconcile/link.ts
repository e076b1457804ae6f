import { isDeepStrictEqual } from 'node:util'
import { excerpt } from '#shared/excerpt'
import { linkedUnderKey, searchByAccount, searchWithoutNamespace, writtenAddresses } from '../customers/matching.ts'
import type { Naming } from '../customers/naming.ts'
import { originOf, type Caller } from '../customers/snapshot.ts'
import { customerIdOf, storable } from '../details.ts'
import { excerptOf, isAlive, type PayCustomer } from '../provider/types.ts'
import type { Account } from '../types.ts'
import { itemOf } from './item.ts'
import type { ShopWork } from './shop-work.ts'
import type { Candidate, FoundItem, Match, Outcome, Target } from './types.ts'

/** What is needed to link one account of a shop. */
export interface LinkWork extends Pick<ShopWork, 'sources' | 'run' | 'limits'> {
  readonly secretKey: string
  readonly caller: Caller
}

/** Candidates of an item. */
const MOST = 10

/**
 * Looks for the customer of an account that has none, and links it.
 *
 * @param accepted - the suggestion that was accepted, if any.
 */
export async function linkAccount (work: LinkWork, account: Account, accepted: Target | null): Promise<FoundItem> {
  const { sources, secretKey, run, caller } = work
  const found = await matches(work, account)
  const ids = [...found.byAccount, ...found.perhaps, ...found.byEmail].map(({ id }) => id)
  const match = itemFrom(sources.naming, account, found, await linkedUnderKey(sources, account.shopId, secretKey, ids))
  const item = accepted ? acceptedItem(account, match, accepted) : match
  if (run.dryRun || item.outcome !== 'linked' || item.after === null) return item
  const { account: after } = await sources.accounts.link(
    { action: 'link', accountId: account.id, customerId: item.after, expected: null },
    originOf(caller, item.providerRequestId)
  )
  const linked = after ? customerIdOf(after.details) : null
  return linked === item.after ? item : { ...item, outcome: 'skipped', after: linked, reason: 'linked_meanwhile' }
}

/** Customers found for an account that has none; deleted ones are left out. */
interface Matches {
  readonly byAccount: readonly PayCustomer[]
  /** They carry the account's id, but no namespace. Only searched for if no customer names the account. */
  readonly perhaps: readonly PayCustomer[]
  /** Only searched for if no customer names the account. Without those in `perhaps`. */
  readonly byEmail: readonly PayCustomer[]
  /** The provider refused to search for the account's id. */
  readonly searchRefused: boolean
  readonly providerRequestId: string | null
}

/**
 * Looks for the e-mail address only if a search finds no customer that names the account. Such a customer may still be
 * among those with the address: the search may be refused, or lag.
 */
async function matches (
  { sources, secretKey, limits, caller: { signal } }: LinkWork,
  account: Account
): Promise<Matches> {
  const { call, provider, naming } = sources
  const isPerhaps = (customer: PayCustomer): boolean => naming.perhapsIdOf(customer) === account.id
  const wanted = { secretKey, accountId: account.id, signal }
  const { value: byAccount, requestId, refused } = await searchByAccount(sources, wanted)
  const found = { byAccount, perhaps: [], byEmail: [], searchRefused: refused, providerRequestId: requestId }
  if (byAccount.length > 0) return found
  const perhaps = refused ? [] : (await searchWithoutNamespace(sources, wanted)).value
  const email = limits.emailOf(account)
  if (email === undefined) return { ...found, perhaps }
  const withAddress = new Map<string, PayCustomer>()
  let lastId = requestId
  for (const address of writtenAddresses(email)) {
    const { value, requestId: id } = await call(
      secretKey,
      signal,
      (attempt) => provider.findByEmail({ secretKey, email: address, signal: attempt })
    )
    for (const customer of value) withAddress.set(customer.id, customer)
    lastId = id ?? lastId
  }
  const alive = [...withAddress.values()].filter(isAlive)
  const named = alive.filter((customer) => naming.accountIdOf(customer) === account.id)
  if (named.length > 0) return { ...found, byAccount: named, providerRequestId: lastId }
  const [unnamespaced, others] = [alive.filter(isPerhaps), alive.filter((customer) => !isPerhaps(customer))]
  const known = new Set(perhaps.map(({ id }) => id))
  return {
    ...found,
    perhaps: [...perhaps, ...unnamespaced.filter(({ id }) => !known.has(id))],
    byEmail: others,
    providerRequestId: lastId
  }
}

/**
 * Only metadata link, because only we write them, and only of our namespace. Anybody can type an e-mail address, and an
 * id without a namespace may be that of another app, so they only suggest. A customer that names another account is
 * shown, but no suggestion that could be accepted.
 *
 * @param linked - the customers that accounts of the shop have, or of another shop with the same key.
 */
function itemFrom (naming: Naming, account: Account, found: Matches, linked: ReadonlySet<string>): FoundItem {
  const { byAccount, perhaps, byEmail, searchRefused, providerRequestId } = found
  const candidatesOf = (match: Match, customers: readonly PayCustomer[]): readonly Candidate[] =>
    customers.map((customer) => ({
      customerId: customer.id,
      match,
      name: excerptOf(customer.name),
      email: excerptOf(customer.email),
      metadata: naming.shown(customer),
      linked: linked.has(customer.id)
    }))
  const item = (outcome: Outcome, rest: Partial<FoundItem> = {}): FoundItem =>
    itemOf(account, outcome, { providerRequestId, ...rest })
  const [only, ...others] = byAccount
  if (only && others.length === 0 && !linked.has(only.id)) return item('linked', { after: only.id, reason: 'metadata' })
  if (only) {
    const reason = others.length > 0 ? 'metadata' : 'linked_to_another_account'
    return item('ambiguous', { reason, candidates: candidatesOf('metadata', byAccount).slice(0, MOST) })
  }
  const candidates = [...candidatesOf('metadata', perhaps), ...candidatesOf('email', byEmail)].slice(0, MOST)
  if (perhaps.length > 0) return item('suggested', { reason: 'no_namespace', candidates })
  if (byEmail.some((customer) => !naming.namesAnother(customer, account.id))) {
    return item('suggested', { reason: 'email', candidates })
  }
  if (byEmail.length > 0) return item('ambiguous', { reason: 'names_another_account', candidates })
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
  const isSame = item.outcome === 'suggested' && others.length === 0 && isDeepStrictEqual(storable(found), candidate) &&
    excerpt(account.name) === accountName
  return isSame
    ? { ...item, outcome: 'linked', after: customerId, reason: 'accepted', candidates: [] }
    : { ...item, outcome: 'skipped', after: null, reason: 'changed_meanwhile' }
}
