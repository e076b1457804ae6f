import { isDeepStrictEqual } from 'node:util'
import { customerIdOf, isObject } from '../details.ts'
import { isAlive, type PayCustomer } from '../provider/types.ts'
import { storable } from '../storable.ts'
import type { Account, ScannedAccount } from '../types.ts'
import type { Drift, Item, Mode, Outcome } from './types.ts'

/** An item with defaults for everything but its outcome. */
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

/** The item of an account that needs no call to the provider; undefined if a call is needed. */
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
  /** Only searched for if no customer carries the account's id. */
  readonly byEmail: readonly PayCustomer[]
  readonly providerRequestId: string | null
}

/** Only metadata link, because only we write them. Anybody can type an e-mail address, so it only suggests. */
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

/** How an account differs from its live customer; undefined: the provider has no such customer. */
export function driftOf ({ account, duplicate }: ScannedAccount, live: PayCustomer | undefined): Pick<Item, 'drift' | 'fields'> {
  const snapshot = account.details.pay_customer
  const fields = live && isObject(snapshot) ? differingFields(snapshot, live) : []
  const drift: Drift[] = []
  if (!live) drift.push('not_found')
  if (live?.deleted === true) drift.push('deleted')
  if (live && !isObject(snapshot)) drift.push('never_synced')
  if (fields.length > 0) drift.push('differs')
  if (duplicate) drift.push('duplicate')
  return { drift, fields }
}

/** Top-level fields that differ, compared as the database stores them: it does not keep the order of keys. */
function differingFields (snapshot: Readonly<Record<string, unknown>>, live: PayCustomer): readonly string[] {
  const current = storable(JSON.parse(JSON.stringify(live))) as PayCustomer
  const names = new Set([...Object.keys(snapshot), ...Object.keys(current)])
  return [...names].filter(name => !isDeepStrictEqual(snapshot[name], current[name])).sort()
}
