import { isDeepStrictEqual } from 'node:util'
import { excerpt } from '#shared/excerpt'
import { isObject, storable } from '../details.ts'
import type { PayCustomer } from '../provider/types.ts'
import type { Details, ScannedAccount } from '../types.ts'
import type { Difference, FieldDifference, FoundItem } from './types.ts'

/**
 * How an account differs from its live customer; undefined: the provider has no such customer.
 *
 * @param compared - the paths that count; undefined: all.
 */
export function differencesOf (
  { account, duplicate }: ScannedAccount,
  live: PayCustomer | undefined,
  compared?: readonly string[]
): Pick<FoundItem, 'differences' | 'fields'> {
  const snapshot = account.details.pay_customer
  const fields = live && isObject(snapshot) ? fieldsFrom(snapshot, live, compared) : []
  const differences: Difference[] = []
  if (!live) differences.push('not_found')
  if (live?.deleted === true) differences.push('deleted')
  if (live && !isObject(snapshot)) differences.push('never_synced')
  if (fields.length > 0) differences.push('differs')
  if (duplicate) differences.push('duplicate')
  return { differences, fields }
}

/** Of a deleted customer only that it is deleted: the provider shows nothing else. */
function fieldsFrom (
  snapshot: Details,
  live: PayCustomer,
  compared: readonly string[] | undefined
): readonly FieldDifference[] {
  if (live.deleted === true) return fieldDifferences({ deleted: snapshot.deleted }, { deleted: true })
  return fieldDifferences(snapshot, storable(JSON.parse(JSON.stringify(live))), compared)
}

/** In characters of JSON. A run keeps the values of every account that differs. */
const MAX_VALUE = 500

/**
 * The fields in which a snapshot and a live customer differ, as paths into nested objects, in alphabetical order. They
 * are compared as the database stores them: it does not keep the order of keys. A field that is null and one that is
 * missing are the same, because a new version of the provider's API adds fields that are null.
 *
 * @param fields - the paths that count, with what is below them; undefined: all.
 */
export function fieldDifferences (
  stored: unknown,
  live: unknown,
  fields?: readonly string[],
  path = ''
): readonly FieldDifference[] {
  if (isDeepStrictEqual(stored ?? null, live ?? null)) return []
  if (isObject(stored) && isObject(live)) {
    return [...new Set([...Object.keys(stored), ...Object.keys(live)])].sort()
      .map((name) => [name, path === '' ? name : `${path}.${name}`] as const)
      .filter(([, inner]) => fields?.some((field) => covers(field, inner) || covers(inner, field)) ?? true)
      .flatMap(([name, inner]) => fieldDifferences(ownOf(stored, name), ownOf(live, name), fields, inner))
  }
  // One side has no object where a field inside it counts, such as a default payment method.
  if (fields && !fields.some((field) => covers(field, path))) {
    return fieldDifferences(asObject(stored), asObject(live), fields, path)
  }
  return [{
    field: excerpt(path),
    ...(stored !== undefined && { stored: cut(stored) }),
    ...(live !== undefined && { live: cut(live) })
  }]
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
