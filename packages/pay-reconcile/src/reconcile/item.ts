import { isDeepStrictEqual } from 'node:util'
import { customerIdOf, isObject } from '../details.ts'
import { excerpt } from '../admin/excerpt.ts'
import type { PayCustomer } from '../provider/types.ts'
import { storable } from '../storable.ts'
import type { Account, Details, ScannedAccount } from '../types.ts'
import { differencesBetween } from './differences.ts'
import type { Candidate, Difference, Drift, FoundItem, Match, Mode, Outcome, Target } from './types.ts'

/** An item with defaults for everything but its outcome. */
export function itemOf ({ id, name, shopId, shopName, details }: Account, outcome: Outcome, rest: Partial<FoundItem> = {}): FoundItem {
  const customerId = customerIdOf(details)
  return {
    accountId: id,
    accountName: excerpt(name),
    shopId,
    shopName: excerpt(shopName),
    outcome,
    before: customerId,
    after: customerId,
    reason: null,
    drift: [],
    differences: [],
    candidates: [],
    errorCode: null,
    providerRequestId: null,
    ...rest
  }
}

/** What a mode that changes accounts makes of one. */
const OUTCOME_OF = { link: 'linked', sync: 'synced', changes: 'synced', check: 'drifted', unlink: 'unlinked' } as const

/**
 * The item of an account that needs no call to the provider; undefined if a call is needed.
 *
 * @param target - what was accepted for the account, if anything.
 */
export function itemWithoutCall (mode: Mode, { account, changedByRun }: ScannedAccount, target: Target | null = null): FoundItem | undefined {
  const customerId = customerIdOf(account.details)
  const linked = customerId !== null
  if (changedByRun) return itemOf(account, OUTCOME_OF[mode], { before: null, reason: 'before_interruption' })
  if (linked && target && target.customerId !== customerId) return itemOf(account, 'skipped', { reason: 'changed_meanwhile' })
  if (mode === 'unlink') return linked ? itemOf(account, 'unlinked', { after: null }) : itemOf(account, 'unchanged')
  if (mode === 'link' && linked) return itemOf(account, 'unchanged')
  if ((mode === 'sync' || mode === 'changes') && !linked) return itemOf(account, 'skipped', { reason: 'no_customer_id' })
  if (mode === 'check' && !linked) return itemOf(account, 'drifted', { drift: ['missing'] })
  return undefined
}

/** Customers found for an account that has none; deleted ones are left out. */
export interface Matches {
  readonly byAccount: readonly PayCustomer[]
  /** Only searched for if no customer carries the account's id. */
  readonly byEmail: readonly PayCustomer[]
  /** The provider refused to search for the account's id. */
  readonly searchRefused: boolean
  readonly providerRequestId: string | null
}

/**
 * Only metadata link, because only we write them. Anybody can type an e-mail address, so it only suggests.
 *
 * @param linked - the customers that accounts of the shop have, or of another shop with the same key.
 */
export function linkItem (account: Account, { byAccount, byEmail, searchRefused, providerRequestId }: Matches, linked: ReadonlySet<string>): FoundItem {
  const candidatesOf = (match: Match, customers: readonly PayCustomer[]): readonly Candidate[] => customers.slice(0, 10).map((customer) => ({
    customerId: customer.id, match, name: shown(customer.name), email: shown(customer.email), linked: linked.has(customer.id)
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
export function acceptedItem (account: Account, item: FoundItem, { customerId, accountName, candidate }: Target): FoundItem {
  const [found, ...others] = item.candidates
  if (item.outcome === 'linked' && item.after === customerId) return item
  if (found?.linked) return { ...item, outcome: 'skipped', after: null, reason: 'linked_to_another_account' }
  const isSame = item.outcome === 'suggested' && others.length === 0 && isDeepStrictEqual(storable(found), candidate) && excerpt(account.name) === accountName
  return isSame
    ? { ...item, outcome: 'linked', after: customerId, reason: 'accepted', candidates: [] }
    : { ...item, outcome: 'skipped', after: null, reason: 'changed_meanwhile' }
}

function shown (value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? excerpt(value) : null
}

/**
 * How an account differs from its live customer; undefined: the provider has no such customer.
 *
 * @param fields - the paths that count; undefined: all.
 */
export function driftOf ({ account, duplicate }: ScannedAccount, live: PayCustomer | undefined, fields?: readonly string[]): Pick<FoundItem, 'drift' | 'differences'> {
  const snapshot = account.details.pay_customer
  const differences = live && isObject(snapshot) ? differencesFrom(snapshot, live, fields) : []
  const drift: Drift[] = []
  if (!live) drift.push('not_found')
  if (live?.deleted === true) drift.push('deleted')
  if (live && !isObject(snapshot)) drift.push('never_synced')
  if (differences.length > 0) drift.push('differs')
  if (duplicate) drift.push('duplicate')
  return { drift, differences }
}

/** Of a deleted customer only that it is deleted: the provider shows nothing else. */
function differencesFrom (snapshot: Details, live: PayCustomer, fields: readonly string[] | undefined): readonly Difference[] {
  if (live.deleted === true) return differencesBetween({ deleted: snapshot.deleted }, { deleted: true })
  return differencesBetween(snapshot, storable(JSON.parse(JSON.stringify(live))), fields)
}
