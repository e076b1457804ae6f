import type { StoredApiKey } from './store.ts'

/**
 * The key that a store found, once it is clear that what decides about it can be read: null means that a key never
 * expires, that it is not revoked, and that it opens everything, so nothing else may pass for null. The store may be
 * JavaScript.
 *
 * @throws an Error that names the key and what cannot be read
 */
export function readable (row: StoredApiKey | null | undefined): StoredApiKey | null {
  if (row == null) return null
  const { id, ownerId, scopes, hash, expiresAt, revokedAt } = row
  const demand = (holds: boolean, what: string): void => {
    if (!holds) throw new Error(`the store returned an API key (id ${String(id)}) whose ${what}`)
  }
  demand(typeof id === 'string' && id !== '', 'id is not a string')
  demand(typeof ownerId === 'string' && ownerId !== '', 'ownerId is not a string')
  demand(
    Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string'),
    'scopes are not a list of strings'
  )
  demand(hash instanceof Uint8Array, 'hash is not a Buffer')
  demand(isDateOrNull(expiresAt), 'expiresAt is neither a date nor null')
  demand(isDateOrNull(revokedAt), 'revokedAt is neither a date nor null')
  return row
}

function isDateOrNull (value: unknown): boolean {
  return value === null || (value instanceof Date && !Number.isNaN(value.getTime()))
}
