import { statusOfKey, type ApiKeyRecord, type KeyPage } from '../keys/store.ts'

const OPENS_ALL = 'This key has no scopes: it opens every operation that accepts keys. Create keys with "scopes": ["read"], or the operations they need.'
const NEVER_EXPIRES = 'This key has no expires_at: it works until somebody revokes it.'

/** A key as the routes return it. */
export function bodyFromRecord (key: ApiKeyRecord, at: Date) {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    status: statusOfKey(key, at),
    scopes: [...key.scopes],
    created_at: key.createdAt.toISOString(),
    created_by: key.createdBy,
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    last_used_network: key.lastUsedNetwork,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    replaces: key.replaces,
    replaced_by: key.replacedBy
  }
}

/** The one response that contains the key itself, and says what the key is not limited in. */
export function createdBody (key: ApiKeyRecord, plaintext: string) {
  const warnings = [...(key.scopes.length === 0 ? [OPENS_ALL] : []), ...(key.expiresAt === null ? [NEVER_EXPIRES] : [])]
  return { ...bodyFromRecord(key, key.createdAt), plaintext, warnings }
}

/** The value of `Key-Counts`, a dictionary (RFC 9651 §3.2). */
export function countsHeader ({ active, expired, revoked }: KeyPage['counts']): string {
  return `active=${active}, expired=${expired}, revoked=${revoked}`
}
