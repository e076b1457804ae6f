/** What a listing may show of a key: nothing secret. */
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

/** The derived values that a key is found and verified by. */
export interface ApiKeySecrets {
  /** HMAC-SHA-256 of the key, 32 bytes, unique. */
  readonly fingerprint: Buffer
  /** Which pepper keyed the fingerprint. */
  readonly pepperId: string
  /** scrypt hash of the key, 96 bytes with its parameters and salt. */
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
  /** The subject or client id of whoever made it. */
  readonly createdBy: string
  readonly expiresAt: Date | null
}

/** A key that was just made or revoked. Nothing in it is secret. */
export interface KeyChange {
  readonly action: 'create' | 'revoke'
  /** As it is after the change. */
  readonly key: ApiKeyRecord
}

/**
 * Called with a key that was just made or revoked, inside the transaction of the change: what it writes in there is kept
 * if and only if the change is. If it rejects, the change is undone.
 *
 * @param key as it is after the change
 * @param transaction what the store writes with: a `Knex.Transaction` for `knexStore`, undefined for `memoryStore`
 */
export type OnStored = (key: ApiKeyRecord, transaction: unknown) => Promise<void>

/** The record of a key that was just made. */
export function recordFromNewKey ({ id, shopId, name, prefix, scopes, createdAt, expiresAt }: NewApiKey): ApiKeyRecord {
  return { id, shopId, name, prefix, scopes, createdAt, lastUsedAt: null, expiresAt, revokedAt: null }
}

/** A field of a key that holds one value, as the routes name it. */
export type KeyField = 'id' | 'name' | 'prefix' | 'created_at' | 'last_used_at' | 'expires_at' | 'revoked_at'

/**
 * Every condition must hold. A list means any of its values: strings, times in ISO 8601 UTC with milliseconds, null for a
 * key without one.
 */
export type KeyFilter = { readonly [field in KeyField]?: ReadonlyArray<string | null> } & {
  /** Keys that were made with one of these scopes. */
  readonly scopes?: readonly string[]
  /** true: revoked keys only; false: the others only. */
  readonly revoked?: boolean
  /** Part of the name or prefix, in either case. */
  readonly q?: string
}

/** Which part of a listing, in which order. */
export interface KeyQuery {
  /** How many to leave out at the front. */
  readonly skip: number
  /** How many to return at most. */
  readonly limit: number
  readonly filter: KeyFilter
  /** Keys without the value come last. Ties are broken by the id, in the same direction. Null: keys that are not revoked first, then the newest first. */
  readonly sort: { readonly field: KeyField, readonly descending: boolean } | null
}

/** A part of a listing. */
export interface KeyPage {
  readonly keys: readonly ApiKeyRecord[]
  /** How many match in all, also when the page is empty. */
  readonly count: number
}

/**
 * Where keys are kept. Every method reads and writes the truth, not a copy of it: a key is revoked on every
 * replica at once because `find` sees it on every call. What a method throws becomes a 503. A store that knows the
 * shops takes an id that cannot be one's for a shop without keys.
 */
export interface ApiKeyStore {
  /**
   * Called once at startup, if there is one: a chance to say that the store can never work, as its table is missing.
   * Anything else that it throws is logged, since a database may be late.
   *
   * @throws {@link DUAL_AUTH_OPTION_INVALID}
   */
  ready? (): Promise<void>
  /** The key with one of these fingerprints (one for each pepper), or null. */
  find (fingerprints: readonly Buffer[]): Promise<StoredApiKey | null>
  /**
   * Inserts unless the shop has `limit` active keys already; says whether it did. Must not race with itself. Calls
   * `onStored` if it inserted.
   *
   * @throws {@link DUAL_AUTH_SHOP_UNKNOWN} if the store knows the shops and this is none
   */
  insert (key: NewApiKey, limit: number, onStored?: OnStored): Promise<boolean>
  /** A page of the keys of a shop that match. */
  list (shopId: string, query: KeyQuery): Promise<KeyPage>
  /** Sets `revokedAt` unless it is set, and calls `onStored` if it did; false when the shop has no such key. */
  revoke (shopId: string, id: string, by: string, at: Date, onStored?: OnStored): Promise<boolean>
  /** Replaces the derived values, provided that the hash is still `previous`. */
  rehash (id: string, previous: Buffer, next: ApiKeySecrets): Promise<void>
  /** Sets `lastUsedAt` of keys that are not revoked and whose value is null or before `unlessAfter`. */
  touch (ids: readonly string[], at: Date, unlessAfter: Date): Promise<void>
}
