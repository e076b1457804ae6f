/** What a list shows of a key: nothing secret. */
export interface ApiKeyRecord {
  readonly id: string
  readonly shopId: string
  readonly name: string
  readonly prefix: string
  readonly scopes: readonly string[]
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

/** The derived values by which a key is found and verified. */
export interface ApiKeySecrets {
  /** HMAC-SHA-256 of the key, 32 bytes, unique. */
  readonly fingerprint: Buffer
  /** Which pepper keyed the fingerprint. */
  readonly pepperId: string
  /** scrypt hash of the key: 96 bytes, including its parameters and salt. */
  readonly hash: Buffer
}

/** A row as verification needs it. */
export interface StoredApiKey extends ApiKeySecrets {
  readonly id: string
  readonly shopId: string
  readonly scopes: readonly string[]
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

/** A row to insert. */
export interface NewApiKey extends ApiKeySecrets {
  readonly id: string
  readonly shopId: string
  readonly name: string
  readonly prefix: string
  readonly scopes: readonly string[]
  readonly createdAt: Date
  /** The subject or client id of its creator. */
  readonly createdBy: string
  readonly expiresAt: Date | null
}

/** A key that was just created or revoked. Nothing in it is secret. */
export interface KeyChange {
  readonly action: 'create' | 'revoke'
  /** The key after the change. */
  readonly key: ApiKeyRecord
}

/**
 * Called with a key that was just created or revoked, inside the transaction of the change: rows written in it are kept
 * if and only if the change is. If it rejects, the change is undone.
 *
 * @param key the key after the change
 * @param transaction a `Knex.Transaction` for `knexStore`, undefined for `memoryStore`
 */
export type OnStored = (key: ApiKeyRecord, transaction: unknown) => Promise<void>

/** The record of a key that was just created. */
export function recordFromNewKey ({ id, shopId, name, prefix, scopes, createdAt, expiresAt }: NewApiKey): ApiKeyRecord {
  return { id, shopId, name, prefix, scopes, createdAt, lastUsedAt: null, expiresAt, revokedAt: null }
}

/** A field of a key with a single value, named as in the routes. */
export type KeyField = 'id' | 'name' | 'prefix' | 'created_at' | 'last_used_at' | 'expires_at' | 'revoked_at'

/**
 * All conditions must hold. A list matches any of its values: strings, times in ISO 8601 UTC with milliseconds, null for
 * keys without a value.
 */
export type KeyFilter = { readonly [field in KeyField]?: ReadonlyArray<string | null> } & {
  /** Keys with one of these scopes. */
  readonly scopes?: readonly string[]
  /** true: only revoked keys; false: only the others. */
  readonly revoked?: boolean
  /** Part of the name or prefix, case-insensitive. */
  readonly q?: string
}

/** Which part of a list, in which order. */
export interface KeyQuery {
  /** How many to skip. */
  readonly skip: number
  /** How many to return at most. */
  readonly limit: number
  readonly filter: KeyFilter
  /** Keys without a value come last. Ties are broken by id, in the same direction. Null: keys that are not revoked first, newest first. */
  readonly sort: { readonly field: KeyField, readonly descending: boolean } | null
}

/** Part of a list. */
export interface KeyPage {
  readonly keys: readonly ApiKeyRecord[]
  /** How many keys match in all, even if the page is empty. */
  readonly count: number
}

/**
 * Where keys are stored. Every method must read and write the current state, not a cached copy: `find` runs on every
 * call, so a revoked key stops working on every replica at once. Any error becomes a 503. A store that knows the shops
 * treats an id that no shop can have as a shop without keys.
 */
export interface ApiKeyStore {
  /**
   * Called once at startup. Throws {@link DUAL_AUTH_INVALID_OPTION} if the store can never work, for example because its
   * table is missing; the server then does not start. Other errors are only logged: a database may come up late.
   */
  ready? (): Promise<void>
  /** Returns the key with one of these fingerprints (one for each pepper), or null. */
  find (fingerprints: readonly Buffer[]): Promise<StoredApiKey | null>
  /**
   * Inserts the key and returns true, or returns false if the shop already has `limit` active keys. Must not race with
   * itself. Calls `onStored` after an insertion.
   *
   * @throws {@link DUAL_AUTH_SHOP_UNKNOWN} if the store knows the shops and this one does not exist
   */
  insert (key: NewApiKey, limit: number, onStored?: OnStored): Promise<boolean>
  /** Returns a page of the shop's keys that match. */
  list (shopId: string, query: KeyQuery): Promise<KeyPage>
  /** Sets `revokedAt` unless it is set, and then calls `onStored`. Returns false if the shop has no such key. */
  revoke (shopId: string, id: string, by: string, at: Date, onStored?: OnStored): Promise<boolean>
  /** Replaces the derived values if the hash is still `previous`. */
  rehash (id: string, previous: Buffer, next: ApiKeySecrets): Promise<void>
  /** Sets `lastUsedAt` of keys that are not revoked and whose `lastUsedAt` is null or before `unlessAfter`. */
  touch (ids: readonly string[], at: Date, unlessAfter: Date): Promise<void>
}
