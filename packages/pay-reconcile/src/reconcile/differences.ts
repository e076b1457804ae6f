import { isDeepStrictEqual } from 'node:util'
import { excerpt } from '#shared/excerpt'
import { isObject } from '../details.ts'
import type { PayCustomer } from '../provider/types.ts'
import { storable } from '../storable.ts'
import type { Details, ScannedAccount } from '../types.ts'
import type { Difference, Drift, FoundItem } from './types.ts'

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

/** In characters of JSON. A run keeps the values of every account that differs. */
const MAX_VALUE = 500

/**
 * The fields in which a snapshot and a live customer differ, as paths into nested objects, in alphabetical order. They are
 * compared as the database stores them: it does not keep the order of keys. A field that is null and one that is missing
 * are the same, because a new version of the provider's API adds fields that are null.
 *
 * @param fields - the paths that count, with what is below them; undefined: all.
 */
export function differencesBetween (stored: unknown, live: unknown, fields?: readonly string[], path = ''): readonly Difference[] {
  if (isDeepStrictEqual(stored ?? null, live ?? null)) return []
  if (isObject(stored) && isObject(live)) {
    return [...new Set([...Object.keys(stored), ...Object.keys(live)])].sort()
      .map((name) => [name, path === '' ? name : `${path}.${name}`] as const)
      .filter(([, inner]) => fields?.some((field) => covers(field, inner) || covers(inner, field)) ?? true)
      .flatMap(([name, inner]) => differencesBetween(ownOf(stored, name), ownOf(live, name), fields, inner))
  }
  // One side has no object where a field inside it counts, such as a default payment method.
  if (fields && !fields.some((field) => covers(field, path))) return differencesBetween(asObject(stored), asObject(live), fields, path)
  return [{ field: excerpt(path), ...(stored !== undefined && { stored: cut(stored) }), ...(live !== undefined && { live: cut(live) }) }]
}

/** Whether `inner` is `path` or a path below it. */
function covers (path: string, inner: string): boolean {
  return inner === path || inner.startsWith(`${path}.`)
}

function asObject (value: unknown): Details {
  return isObject(value) ? value : {}
}

function ownOf (value: Details, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined
}

function cut (value: unknown): unknown {
  const json = JSON.stringify(value)
  return json.length > MAX_VALUE ? excerpt(json, MAX_VALUE) : value
}
