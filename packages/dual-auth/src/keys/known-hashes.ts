import { createHash } from 'node:crypto'
import type { StoredApiKey } from './store.ts'

/** How many keys are remembered, about 180 bytes each: those used last. The others are verified by scrypt again. */
const MOST_KNOWN = 20_000

/** Which keys the stored hashes were made from, as far as this process has verified it. */
export interface KnownHashes {
  /** Whether this hash of the row was verified against this key. */
  has(row: StoredApiKey, fingerprint: Uint8Array): boolean
  add(row: StoredApiKey, fingerprint: Uint8Array): void
}

/**
 * Deriving a hash is deterministic: a key that matched a stored hash matches the same bytes again. So each row is
 * compared with what was verified, and scrypt runs once for a key and a hash instead of on every request. Nothing of
 * the row's state is remembered, nor the key: only a digest of its fingerprint and its hash.
 */
export function createKnownHashes (most = MOST_KNOWN): KnownHashes {
  const digests = new Map<string, string>()
  return {
    has (row, fingerprint) {
      const digest = digestOf(row, fingerprint)
      if (digests.get(row.id) !== digest) return false
      // The one that was used longest ago is the first.
      digests.delete(row.id)
      digests.set(row.id, digest)
      return true
    },
    add (row, fingerprint) {
      // Else a key with another hash would keep the place of the former.
      digests.delete(row.id)
      digests.set(row.id, digestOf(row, fingerprint))
      if (digests.size > most) digests.delete(digests.keys().next().value!)
    }
  }
}

function digestOf ({ hash }: StoredApiKey, fingerprint: Uint8Array): string {
  return createHash('sha256').update(fingerprint).update(hash).digest('base64')
}
