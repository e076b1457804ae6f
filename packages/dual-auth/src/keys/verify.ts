import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { invalidCredential } from '../credentials.ts'
import type { ApiKeySettings } from '../options.ts'
import type { ApiKeyIdentity } from '../types.ts'
import type { StoreCall } from './call-store.ts'
import { fingerprint, flawOfKey, keyMatcher } from './format.ts'
import { readable } from './found.ts'
import { costFromHash, hashFromKey, hashMatches, hashMatchesInline, LOG_N_INLINE } from './hash.ts'
import { createKnownHashes } from './known-hashes.ts'
import type { LastUsed } from './last-used.ts'
import type { AskMayUse } from './may-use.ts'
import type { ReportRefusal } from './refusals.ts'
import type { Queue } from './queue.ts'
import { statusOfKey, type StoredApiKey } from './store.ts'

export interface KeyVerifierParts {
  readonly settings: ApiKeySettings
  readonly callStore: StoreCall
  readonly mayUse: AskMayUse
  readonly queue: Queue
  readonly lastUsed: LastUsed
  readonly report: ReportRefusal
  readonly log: FastifyBaseLogger
}

export interface KeyVerifier {
  /**
   * @returns who calls, and since when that is known, as `performance.now()`
   * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID}, or a 503 if the key cannot be verified now
   */
  identityFromKey(
    key: string,
    request: FastifyRequest
  ): Promise<{ readonly identity: ApiKeyIdentity, readonly checked: number }>
  /** Resolves when no rehash is running. */
  settled(): Promise<void>
}

/**
 * Verifies a key, cheapest test first: form and checksum, one read by fingerprint, the row's state, and only then its
 * hash, by scrypt unless it is known. The host is asked last, about good keys only. Unknown keys cost no dummy scrypt:
 * the difference in time reveals no more than the status does, and a dummy would let anybody use up the CPU.
 */
export function createKeyVerifier (
  { settings, callStore, mayUse, queue, lastUsed, report, log }: KeyVerifierParts
): KeyVerifier {
  const { marker, peppers, logN, store } = settings
  const isWellFormed = keyMatcher(marker)
  const known = createKnownHashes()
  const rehashes = new Map<string, Promise<void>>()

  async function identityFromKey (
    key: string,
    request: FastifyRequest
  ): ReturnType<KeyVerifier['identityFromKey']> {
    const began = performance.now()
    if (!isWellFormed(key)) throw invalidCredential(flawOfKey(key, marker))
    const fingerprints = peppers.map((pepper) => fingerprint(key, pepper))
    const row = await callStore(async () => readable(await store.find(fingerprints)))
    if (row === null) throw refused('unknown', null, request)
    const status = statusOfKey(row, new Date(Date.now()))
    if (status !== 'active') throw refused(status, row, request)
    if (row.owner === null) throw invalidCredential('the owner of the API key does not exist')
    const cost = costFromHash(row.hash)
    const isKnown = known.has(row, fingerprints[0]!)
    if (!isKnown && !await matches(row, key, cost)) {
      log.error({ keyId: row.id }, 'the stored hash of an API key was not made from the key')
      throw invalidCredential('the API key does not match its hash')
    }
    if (!isKnown) known.add(row, fingerprints[0]!)
    const { isAllowed, asked } = await mayUse(row, request)
    if (!isAllowed) {
      report('not_allowed', row, request)
      throw invalidCredential(`mayUse does not allow the API key ${row.id}`)
    }
    lastUsed.touch(row.id, request.ip)
    if (cost !== logN || row.pepperId !== peppers[0].id) rehash(row, key)
    const owner = row.owner && { owner: Object.freeze({ ...row.owner }) }
    const identity = Object.freeze(
      {
        kind: 'api-key',
        keyId: row.id,
        ownerId: row.ownerId,
        scopes: Object.freeze([...row.scopes]),
        ...owner
      } as const
    )
    return { identity, checked: Math.min(began, asked) }
  }

  async function matches ({ hash }: StoredApiKey, key: string, cost: number | null): Promise<boolean> {
    if (cost === null) return false
    return cost <= LOG_N_INLINE ? hashMatchesInline(hash, key) : queue(() => hashMatches(hash, key))
  }

  function refused (
    reason: 'unknown' | 'revoked' | 'expired',
    row: StoredApiKey | null,
    request: FastifyRequest
  ): Error {
    report(reason, row, request)
    return invalidCredential(`the API key is ${reason}`)
  }

  /** Updates a row to the current settings in the background; if that fails, the next use tries again. */
  function rehash (row: StoredApiKey, key: string): void {
    // One at a time for each key: a thousand calls with it must not fill the queue with the same work.
    if (rehashes.has(row.id)) return
    const work = queue(() => hashFromKey(key, logN))
      .then((hash) =>
        callStore(() =>
          store.rehash(row.id, row.hash, { hash, fingerprint: fingerprint(key, peppers[0]), pepperId: peppers[0].id })
        )
      )
      .catch((err) => log.warn({ err, keyId: row.id }, 'an API key was not rehashed'))
      .finally(() => rehashes.delete(row.id))
    rehashes.set(row.id, work)
  }

  return {
    identityFromKey,
    settled: async () => {
      await Promise.all(rehashes.values())
    }
  }
}
