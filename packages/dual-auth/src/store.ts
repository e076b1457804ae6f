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

/** Which part of a listing. */
export interface Page {
  /** How many to leave out at the front. */
  readonly skip: number
  /** How many to give at most. */
  readonly limit: number
}

/** A part of a listing. */
export interface KeyPage {
  readonly keys: readonly ApiKeyRecord[]
  /** How many there are in all. */
  readonly count: number
}

/**
 * Where keys are kept. Every method reads and writes the truth, not a copy of it: a key is revoked on every
 * replica at once because `find` sees it on every call. What a method throws becomes a 503. A store that knows the
 * shops takes an id that cannot be one's for a shop without keys.
 */
export interface ApiKeyStore {
  /** The key with one of these fingerprints (one for each pepper), or null. */
  find (fingerprints: readonly Buffer[]): Promise<StoredApiKey | null>
  /**
   * Inserts unless the shop has `limit` active keys already; says whether it did. Must not race with itself.
   *
   * @throws {@link DUAL_AUTH_SHOP_UNKNOWN} if the store knows the shops and this is none
   */
  insert (key: NewApiKey, limit: number): Promise<boolean>
  /** A page of the keys of a shop, revoked ones too, oldest first. */
  list (shopId: string, page: Page): Promise<KeyPage>
  /** Sets `revokedAt` unless it is set; false when the shop has no such key. */
  revoke (shopId: string, id: string, by: string, at: Date): Promise<boolean>
  /** Replaces the derived values, provided that the hash is still `previous`. */
  rehash (id: string, previous: Buffer, next: ApiKeySecrets): Promise<void>
  /** Sets `lastUsedAt` of keys that are not revoked and whose value is null or before `unlessAfter`. */
  touch (ids: readonly string[], at: Date, unlessAfter: Date): Promise<void>
}
