import { isDeepStrictEqual } from 'node:util'
import { customerIdOf, type Account, type ScannedAccount } from '../types.ts'
import { isAlive, type PayCustomer } from '../provider/types.ts'
import { storable } from '../storable.ts'
import type { Counters, Drift, Item, Mode, Outcome, Part } from './types.ts'

/** An item about which nothing is said yet. */
export function itemOf ({ id, shopId, details }: Account, outcome: Outcome, rest: Partial<Item> = {}): Item {
  const customerId = customerIdOf(details)
  return {
    accountId: id,
    shopId,
    outcome,
    before: customerId,
    after: customerId,
    reason: null,
    drift: [],
    fields: [],
    candidates: [],
    errorCode: null,
    providerRequestId: null,
    ...rest
  }
}

/** What can be said of an account without asking the provider; nothing when it must be asked. */
export function itemWithoutCall (mode: Mode, { account, changedByRun }: ScannedAccount): Item | undefined {
  const linked = customerIdOf(account.details) !== null
  if (changedByRun) return itemOf(account, mode === 'link' ? 'linked' : 'synced', { before: null, reason: 'before_interruption' })
  if (mode === 'link' && linked) return itemOf(account, 'unchanged')
  if (mode === 'sync' && !linked) return itemOf(account, 'skipped', { reason: 'no_customer_id' })
  if (mode === 'check' && !linked) return itemOf(account, 'drifted', { drift: ['missing'] })
  return undefined
}

/** Customers found for an account that has none. */
export interface Matches {
  readonly byAccount: readonly PayCustomer[]
  /** Asked only when nothing carries the account's id. */
  readonly byEmail: readonly PayCustomer[]
  readonly providerRequestId: string | null
}

/**
 * The link that the matches justify. Metadata are written by us and may link; an e-mail address is typed
 * by anybody and may only suggest.
 */
export function linkItem (account: Account, { byAccount, byEmail, providerRequestId }: Matches): Item {
  const found = byAccount.filter(isAlive)
  const [only] = found
  if (only && found.length === 1) return itemOf(account, 'linked', { after: only.id, reason: 'metadata', providerRequestId })
  if (only) return itemOf(account, 'ambiguous', { reason: 'metadata', candidates: idsOf(found), providerRequestId })
  const candidates = idsOf(byEmail.filter(isAlive))
  if (candidates.length > 0) return itemOf(account, 'suggested', { reason: 'email', candidates, providerRequestId })
  return itemOf(account, 'unmatched', { providerRequestId })
}

function idsOf (customers: readonly PayCustomer[]): readonly string[] {
  return customers.map(({ id }) => id).slice(0, 10)
}

/** How an account differs from its live customer; `undefined` is a customer the provider does not have. */
export function driftOf ({ account, duplicate }: ScannedAccount, live: PayCustomer | undefined):
{ readonly drift: readonly Drift[], readonly fields: readonly string[] } {
  const snapshot = account.details.pay_customer
  const fields = live && isFields(snapshot) ? differingFields(snapshot, live) : []
  const drift: Drift[] = []
  if (!live) drift.push('not_found')
  if (live?.deleted === true) drift.push('deleted')
  if (live && !isFields(snapshot)) drift.push('never_synced')
  if (fields.length > 0) drift.push('differs')
  if (duplicate) drift.push('duplicate')
  return { drift, fields }
}

function isFields (value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Top-level fields that differ, compared as they are stored: the database keeps no order of keys. */
function differingFields (snapshot: Readonly<Record<string, unknown>>, live: PayCustomer): readonly string[] {
  const now = storable(JSON.parse(JSON.stringify(live)))
  const current = isFields(now) ? now : {}
  const names = new Set([...Object.keys(snapshot), ...Object.keys(current)])
  return [...names].filter(name => !isDeepStrictEqual(snapshot[name], current[name])).sort()
}

/** A part after some more items. */
export function advanced (part: Part, items: readonly Item[]): Part {
  const last = items.at(-1)
  return {
    ...part,
    processed: part.processed + items.length,
    lastAccount: last?.accountId ?? part.lastAccount,
    outcomes: counted(part.outcomes, items.map(({ outcome }) => outcome)),
    drift: counted(part.drift, items.flatMap(({ drift }) => drift))
  }
}

function counted<Key extends string> (counters: Counters<Key>, keys: readonly Key[]): Counters<Key> {
  const result: Partial<Record<Key, number>> = { ...counters }
  for (const key of keys) result[key] = (result[key] ?? 0) + 1
  return result
}
