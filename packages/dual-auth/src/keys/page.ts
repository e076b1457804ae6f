import { inLowerCase, spellingsOf } from './key-name.ts'
import {
  refusedSince,
  statusOfKey,
  type ApiKeyRecord,
  type KeyField,
  type KeyFilter,
  type KeyPage,
  type KeyQuery
} from './store.ts'

/** The page of a list, of all keys of its owner. */
export function pageOf (keys: readonly ApiKeyRecord[], { at, skip, limit, filter, sort }: KeyQuery): KeyPage {
  const found = keys.filter((key) => matches(key, filter, at)).sort(comparatorFromSort(sort, at))
  const counts = { active: 0, expired: 0, revoked: 0 }
  for (const key of keys) counts[statusOfKey(key, at)]++
  return { keys: found.slice(skip, skip + limit), count: found.length, counts }
}

const valueOf: Readonly<Record<KeyField, (key: ApiKeyRecord, at: Date) => string | null>> = {
  id: (key) => key.id,
  name: (key) => key.name,
  prefix: (key) => key.prefix,
  created_at: (key) => key.createdAt.toISOString(),
  created_by: (key) => key.createdBy,
  last_used_at: (key) => key.lastUsedAt?.toISOString() ?? null,
  last_used_network: (key) => key.lastUsedNetwork,
  expires_at: (key) => key.expiresAt?.toISOString() ?? null,
  revoked_at: (key, at) => refusedSince(key, at)?.toISOString() ?? null,
  replaces: (key) => key.replaces,
  replaced_by: (key) => key.replacedBy
}

function matches (key: ApiKeyRecord, { q, revoked, status, scopes, ...fields }: KeyFilter, at: Date): boolean {
  const parts = spellingsOf(q ?? '').map(inLowerCase)
  return [key.name, key.prefix].some((text) => parts.some((part) => inLowerCase(text).includes(part))) &&
    (revoked === undefined || revoked === (key.revokedAt !== null)) &&
    (status === undefined || status === statusOfKey(key, at)) &&
    (scopes === undefined ||
      scopes.some((scope) => key.scopes.includes(scope) || (scope === 'all' && key.scopes.length === 0))) &&
    Object.entries(fields).every(([field, values]) => values.includes(valueOf[field as KeyField](key, at)))
}

function comparatorFromSort (sort: KeyQuery['sort'], at: Date): (a: ApiKeyRecord, b: ApiKeyRecord) => number {
  if (sort === null) {
    return (a, b) =>
      Number(statusOfKey(a, at) !== 'active') - Number(statusOfKey(b, at) !== 'active') ||
      +b.createdAt - +a.createdAt || compare(b.id, a.id)
  }
  const value = (key: ApiKeyRecord): string | null => valueOf[sort.field](key, at)
  const ascending = (a: ApiKeyRecord, b: ApiKeyRecord): number =>
    compare(value(a) ?? '', value(b) ?? '') || compare(a.id, b.id)
  return (a, b) =>
    Number(value(a) === null) - Number(value(b) === null) || (sort.descending ? ascending(b, a) : ascending(a, b))
}

function compare (a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
