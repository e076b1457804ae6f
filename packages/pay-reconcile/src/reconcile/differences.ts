import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../details.ts'
import { excerpt } from '../admin/excerpt.ts'
import type { Details } from '../types.ts'
import type { Difference } from './types.ts'

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
