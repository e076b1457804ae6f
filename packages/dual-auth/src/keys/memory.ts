import { recordFromNewKey, type ApiKeyRecord, type ApiKeyStore, type KeyField, type KeyFilter, type KeyQuery, type NewApiKey, type OnStored, type StoredApiKey } from './store.ts'

interface Row extends NewApiKey {
  readonly lastUsedAt: Date | null
  readonly revokedAt: Date | null
  readonly revokedBy: string | null
}

/** A store that loses everything when the process ends: for first steps and for tests. */
export function memoryStore (): ApiKeyStore {
  const rows = new Map<string, Row>()

  /** Synchronously, so that no other call intervenes; restores the old row if `onStored` rejects. */
  async function replace (id: string, row: Row, record: ApiKeyRecord, onStored: OnStored | undefined): Promise<void> {
    const before = rows.get(id)
    rows.set(id, row)
    try {
      await onStored?.(record, undefined)
    } catch (error) {
      if (before === undefined) rows.delete(id)
      else rows.set(id, before)
      throw error
    }
  }

  return {
    async find (fingerprints): Promise<StoredApiKey | null> {
      return [...rows.values()].find(row => fingerprints.some(wanted => wanted.equals(row.fingerprint))) ?? null
    },
    async insert (key, limit, onStored) {
      const active = [...rows.values()].filter(row => row.shopId === key.shopId && isActive(row, key.createdAt))
      if (active.length >= limit) return false
      await replace(key.id, { ...key, lastUsedAt: null, revokedAt: null, revokedBy: null }, recordFromNewKey(key), onStored)
      return true
    },
    async list (shopId, { skip, limit, filter, sort }) {
      const found = [...rows.values()].filter(row => row.shopId === shopId && matches(row, filter)).sort(comparatorFromSort(sort))
      return { keys: found.slice(skip, skip + limit).map(recordFromRow), count: found.length }
    },
    async revoke (shopId, id, by, at, onStored) {
      const row = rows.get(id)
      if (row?.shopId !== shopId) return false
      if (row.revokedAt !== null) return true
      const revoked = { ...row, revokedAt: at, revokedBy: by }
      await replace(id, revoked, recordFromRow(revoked), onStored)
      return true
    },
    async rehash (id, previous, next) {
      const row = rows.get(id)
      if (row?.hash.equals(previous) === true) rows.set(id, { ...row, ...next })
    },
    async touch (ids, at, unlessAfter) {
      for (const id of ids) {
        const row = rows.get(id)
        if (row === undefined || row.revokedAt !== null) continue
        if (row.lastUsedAt === null || row.lastUsedAt < unlessAfter) rows.set(id, { ...row, lastUsedAt: at })
      }
    }
  }
}

function isActive (row: Row, at: Date): boolean {
  return row.revokedAt === null && (row.expiresAt === null || row.expiresAt > at)
}

const valueOf: Readonly<Record<KeyField, (row: Row) => string | null>> = {
  id: row => row.id,
  name: row => row.name,
  prefix: row => row.prefix,
  created_at: row => row.createdAt.toISOString(),
  last_used_at: row => row.lastUsedAt?.toISOString() ?? null,
  expires_at: row => row.expiresAt?.toISOString() ?? null,
  revoked_at: row => row.revokedAt?.toISOString() ?? null
}

function matches (row: Row, { q, revoked, scopes, ...fields }: KeyFilter): boolean {
  const part = q?.toLowerCase() ?? ''
  return [row.name, row.prefix].some(text => text.toLowerCase().includes(part)) &&
    (revoked === undefined || revoked === (row.revokedAt !== null)) &&
    (scopes === undefined || scopes.some(scope => row.scopes.includes(scope))) &&
    Object.entries(fields).every(([field, values]) => values.includes(valueOf[field as KeyField](row)))
}

function comparatorFromSort (sort: KeyQuery['sort']): (a: Row, b: Row) => number {
  if (sort === null) return (a, b) => Number(a.revokedAt !== null) - Number(b.revokedAt !== null) || +b.createdAt - +a.createdAt || compare(b.id, a.id)
  const value = valueOf[sort.field]
  const sign = sort.descending ? -1 : 1
  return (a, b) => Number(value(a) === null) - Number(value(b) === null) || sign * (compare(value(a) ?? '', value(b) ?? '') || compare(a.id, b.id))
}

function compare (a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function recordFromRow (row: Row): ApiKeyRecord {
  const { id, shopId, name, prefix, scopes, createdAt, lastUsedAt, expiresAt, revokedAt } = row
  return { id, shopId, name, prefix, scopes, createdAt, lastUsedAt, expiresAt, revokedAt }
}
