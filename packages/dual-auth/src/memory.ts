import type { ApiKeyStore, NewApiKey, StoredApiKey, ApiKeyRecord } from './store.ts'

interface Row extends NewApiKey {
  readonly lastUsedAt: Date | null
  readonly revokedAt: Date | null
  readonly revokedBy: string | null
}

/** A store that forgets everything when the process ends: for a first try and for tests. */
export function memoryStore (): ApiKeyStore {
  const rows = new Map<string, Row>()

  return {
    async find (fingerprints): Promise<StoredApiKey | null> {
      return [...rows.values()].find(row => fingerprints.some(wanted => wanted.equals(row.fingerprint))) ?? null
    },
    async insert (key, limit) {
      const active = [...rows.values()].filter(row => row.shopId === key.shopId && isActive(row, key.createdAt))
      if (active.length >= limit) return false
      rows.set(key.id, { ...key, lastUsedAt: null, revokedAt: null, revokedBy: null })
      return true
    },
    async list (shopId, { skip, limit }) {
      const ofShop = [...rows.values()].filter(row => row.shopId === shopId).sort((a, b) => +a.createdAt - +b.createdAt)
      return { keys: ofShop.slice(skip, skip + limit).map(recordFromRow), count: ofShop.length }
    },
    async revoke (shopId, id, by, at) {
      const row = rows.get(id)
      if (row?.shopId !== shopId) return false
      if (row.revokedAt === null) rows.set(id, { ...row, revokedAt: at, revokedBy: by })
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

function recordFromRow (row: Row): ApiKeyRecord {
  const { id, shopId, name, prefix, scopes, createdAt, lastUsedAt, expiresAt, revokedAt } = row
  return { id, shopId, name, prefix, scopes, createdAt, lastUsedAt, expiresAt, revokedAt }
}
