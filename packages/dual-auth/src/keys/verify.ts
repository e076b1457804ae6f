import type { FastifyBaseLogger } from 'fastify'
import type { ApiKeyIdentity } from '../tokens/identity.ts'
import type { ApiKeyStore, StoredApiKey } from './store.ts'
import type { Ask } from './call-store.ts'
import type { LastUsed } from './last-used.ts'
import type { Queue } from './queue.ts'
import type { ResolvedApiKeyOptions } from '../options.ts'
import { DUAL_AUTH_CREDENTIAL_INVALID } from '../errors.ts'
import { fingerprint, keyChecker } from './format.ts'
import { costFromHash, hashFromKey, hashMatches, hashMatchesInline, LOG_N_INLINE } from './hash.ts'

/** The parts that verification is made of. */
export interface KeyCheckParts {
  readonly options: ResolvedApiKeyOptions
  readonly store: ApiKeyStore
  readonly ask: Ask
  readonly queue: Queue
  readonly lastUsed: LastUsed
  readonly log: FastifyBaseLogger
}

/** Verifies keys. */
export interface KeyCheck {
  /** @throws {@link DUAL_AUTH_CREDENTIAL_INVALID}, or a 503 when nothing can be said about the key. */
  identityFromKey (key: string): Promise<ApiKeyIdentity>
  /** Resolves when no rehash is under way. */
  settled (): Promise<void>
}

/**
 * Verifies a key, cheapest test first: shape and checksum, then one read by fingerprint, then what the row
 * says, and only then scrypt. There is no dummy scrypt for unknown keys: the difference in time says no more
 * than the status does, and a dummy would sell CPU to everybody.
 */
export function createKeyCheck ({ options, store, ask, queue, lastUsed, log }: KeyCheckParts): KeyCheck {
  const { marker, peppers, logN } = options
  const isWellFormed = keyChecker(marker)
  const rehashes = new Map<string, Promise<void>>()

  async function identityFromKey (key: string): Promise<ApiKeyIdentity> {
    if (!isWellFormed(key)) throw refusal('the API key is malformed')
    const row = await ask(() => store.find(peppers.map(pepper => fingerprint(key, pepper))))
    // A store written in JavaScript may say undefined.
    if (row == null) throw refusal('the API key is unknown')
    if (row.revokedAt !== null) throw refusal('the API key is revoked')
    if (row.expiresAt !== null && row.expiresAt.getTime() <= Date.now()) throw refusal('the API key is expired')
    const cost = costFromHash(row.hash)
    const matches = cost !== null && (cost <= LOG_N_INLINE ? hashMatchesInline(row.hash, key) : await queue(() => hashMatches(row.hash, key)))
    if (!matches) {
      log.error({ keyId: row.id }, 'the stored hash of an API key is not one that was made from it')
      throw refusal('the API key does not match its hash')
    }
    lastUsed.touch(row.id)
    if (cost !== logN || row.pepperId !== peppers[0].id) rehash(row, key)
    return Object.freeze({ kind: 'api-key', keyId: row.id, shopId: row.shopId, scopes: Object.freeze([...row.scopes]) })
  }

  /** Brings a row up to the present settings, out of the request's way; it is tried again on the next use. */
  function rehash (row: StoredApiKey, key: string): void {
    // One at a time for a key: a thousand calls with it must not fill the queue with the same work.
    if (rehashes.has(row.id)) return
    const work = queue(() => hashFromKey(key, logN))
      .then(hash => ask(() => store.rehash(row.id, row.hash, { hash, fingerprint: fingerprint(key, peppers[0]), pepperId: peppers[0].id })))
      .catch(err => log.warn({ err, keyId: row.id }, 'an API key was not rehashed'))
      .finally(() => rehashes.delete(row.id))
    rehashes.set(row.id, work)
  }

  return { identityFromKey, settled: async () => { await Promise.all(rehashes.values()) } }
}

function refusal (reason: string) {
  return new DUAL_AUTH_CREDENTIAL_INVALID({ cause: reason })
}
