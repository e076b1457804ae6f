import type { ApiKeyOwner, FastifyRequest } from 'fastify'

/** What a list shows of a key: nothing secret. */
export interface ApiKeyRecord {
  readonly id: string
  readonly ownerId: string
  readonly name: string
  readonly prefix: string
  /** Empty: every operation of the owner. */
  readonly scopes: readonly string[]
  readonly createdAt: Date
  /** The subject or client id of its creator. */
  readonly createdBy: string
  readonly lastUsedAt: Date | null
  /** The network of its last use: the first 24 bits of an IPv4 address, 48 of an IPv6 address. Never the address. */
  readonly lastUsedNetwork: string | null
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  /** The id of the key that it replaces. */
  readonly replaces: string | null
  /** The id of its latest successor. */
  readonly replacedBy: string | null
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

declare module 'fastify' {
  /**
   * What the store returns of the owner of a key, in `request.identity.owner`. Declare its properties:
   * `declare module 'fastify' { interface ApiKeyOwner { readonly currency: string } }`
   */
  interface ApiKeyOwner {}
}

/** A row as verification needs it. */
export interface StoredApiKey extends ApiKeySecrets {
  readonly id: string
  readonly ownerId: string
  readonly scopes: readonly string[]
  /** The subject or client id of its creator. */
  readonly createdBy: string
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  /**
   * What the host needs to know of the owner, read together with the key. Null: there is no such owner, and the key is
   * 401.
   */
  readonly owner?: ApiKeyOwner | null
}

/** A row to insert. */
export interface NewApiKey extends ApiKeySecrets {
  readonly id: string
  readonly ownerId: string
  readonly name: string
  readonly prefix: string
  readonly scopes: readonly string[]
  readonly createdAt: Date
  /** The subject or client id of its creator. */
  readonly createdBy: string
  readonly expiresAt: Date | null
}

/** Where a key was found. Nothing in it is secret. */
export interface Leak {
  /** The public address, at most 1,000 characters of ASCII, without credentials; null if the report has none. */
  readonly url: string | null
  /** The kind of place, such as `commit` or `issue_comment`; null if the report has none. */
  readonly source: string | null
}

/** A change of a key, with the key after it. Nothing in it is secret. */
export type KeyChange =
  & {
    /** Where the key was found in public, if that is why it was revoked. */
    readonly leak?: Leak
  }
  & (
    | { readonly action: 'create' | 'revoke', readonly key: ApiKeyRecord }
    | Rotated & { readonly action: 'rotate' }
  )

/** For the option `onKeyChange`. @param transaction - that of the change */
export type OnKeyChange = (change: KeyChange, request: FastifyRequest, transaction: unknown) => void | Promise<void>

/** A key that was rotated. */
export interface Rotated {
  /** The successor. */
  readonly key: ApiKeyRecord
  /** The key that it replaces, after the change. */
  readonly replaced: ApiKeyRecord
}

/**
 * Called with a key that was just created or revoked, inside the transaction of the change: rows written in it are kept
 * if and only if the change is. If it rejects, the change is undone.
 *
 * @param key - the key after the change
 * @param transaction - a `Knex.Transaction` for `knexStore`, undefined for `memoryStore`
 */
export type OnStored = (key: ApiKeyRecord, transaction: unknown) => Promise<void>

/** The same for a rotation. */
export type OnRotated = (rotated: Rotated, transaction: unknown) => Promise<void>

/**
 * The record of a key that was just created.
 *
 * @param replaces - the id of the key that it replaces
 */
export function recordFromNewKey (
  { id, ownerId, name, prefix, scopes, createdAt, createdBy, expiresAt }: NewApiKey,
  replaces: string | null = null
): ApiKeyRecord {
  return {
    id,
    ownerId,
    name,
    prefix,
    scopes,
    createdAt,
    createdBy,
    lastUsedAt: null,
    lastUsedNetwork: null,
    expiresAt,
    revokedAt: null,
    replaces,
    replacedBy: null
  }
}

/** What a store reads, under a lock, of a key to rotate. */
export interface Rotatable {
  readonly key: ApiKeyRecord
  /**
   * Of what replaced it, what replaced that, and so on: the last one that works, or else the last one. Null: nothing
   * did.
   */
  readonly successor: ApiKeyRecord | null
  /** How many keys of the owner work, this one included. */
  readonly working: number
}

/** What a store writes to rotate a key. */
export interface Rotation {
  readonly successor: NewApiKey
  /** When the key to replace ends. */
  readonly expiresAt: Date | null
  /** Set if it ends at once; `revokedBy` is then the creator of the successor. */
  readonly revokedAt: Date | null
}

/** What a key is at a moment: only an active one works. */
export type KeyStatus = 'active' | 'expired' | 'revoked'

/**
 * Whether a key is over at a moment: at its end, too. Also if its end cannot be compared, as a date that a store in
 * JavaScript made of nonsense.
 */
export function hasEnded<Time extends Date | number> (expiresAt: Time | null, at: Time): boolean {
  return expiresAt !== null && !(expiresAt > at)
}

export function statusOfKey (
  { revokedAt, expiresAt }: Pick<ApiKeyRecord, 'revokedAt' | 'expiresAt'>,
  at: Date
): KeyStatus {
  if (revokedAt !== null) return 'revoked'
  return hasEnded(expiresAt, at) ? 'expired' : 'active'
}

type Ends = Pick<ApiKeyRecord, 'revokedAt' | 'expiresAt'>

/**
 * The moment since which a key is refused: it was revoked, expired, or the grace after its rotation ended. Null: it
 * works.
 */
export function refusedSince ({ revokedAt, expiresAt }: Ends, at: Date): Date | null {
  const ended = hasEnded(expiresAt, at) ? expiresAt : null
  if (revokedAt === null || ended === null) return revokedAt ?? ended
  return ended < revokedAt ? ended : revokedAt
}

/** Where a key was used from lately. */
export interface KeyUse {
  readonly id: string
  /** The networks, latest last; empty if they are not known. */
  readonly networks: readonly string[]
}

/** A use of a key that the host may want to know about. */
export interface NotableUse {
  readonly key: ApiKeyRecord
  readonly isFirst: boolean
  /** Networks that the key was not used from before; empty if none was known before. */
  readonly newNetworks: readonly string[]
}

/** A notice that is due by the clock. */
export interface KeyNotice {
  readonly key: ApiKeyRecord
  readonly type: 'expiring' | 'unused'
  /** `expiring`: it has at most so many days left, 30, 7 or 1. `unused`: it was not used for so many, 90. */
  readonly days: number
}

/** How many networks of a key a store remembers. */
export const KNOWN_NETWORKS = 32

/**
 * A field of a key with a single value, named as in the routes: `revoked_at` is the moment since which the key is
 * refused at the `at` of the query, so also the end of a key that expired.
 */
export type KeyField =
  | 'id'
  | 'name'
  | 'prefix'
  | 'created_at'
  | 'created_by'
  | 'last_used_at'
  | 'last_used_network'
  | 'expires_at'
  | 'revoked_at'
  | 'replaces'
  | 'replaced_by'

/**
 * All conditions must hold. A list matches any of its values: strings, times in ISO 8601 UTC with milliseconds, null
 * for keys without a value.
 */
export type KeyFilter = { readonly [field in KeyField]?: ReadonlyArray<string | null> } & {
  /** Keys with one of these scopes; `all`: those without any, which open everything. */
  readonly scopes?: readonly string[],
  /** true: only revoked keys; false: only the others. */
  readonly revoked?: boolean,
  readonly status?: KeyStatus,
  /**
   * Part of the name or prefix, case-insensitive, as it was asked for. Names are stored in Unicode's form NFC; those of
   * older keys as they were.
   */
  readonly q?: string
}

/** Which part of a list, in which order. */
export interface KeyQuery {
  /** The moment for which keys are active or expired. */
  readonly at: Date
  /** How many to skip. */
  readonly skip: number
  /** How many to return at most. */
  readonly limit: number
  readonly filter: KeyFilter
  /**
   * Keys without a value come last. Ties are broken by id, in the same direction. Null: active keys first, newest
   * first.
   */
  readonly sort: { readonly field: KeyField, readonly descending: boolean } | null
}

/** Part of a list. */
export interface KeyPage {
  readonly keys: readonly ApiKeyRecord[]
  /** How many keys match in all, even if the page is empty. */
  readonly count: number
  /** How many keys the owner has of each status, whatever the filter. */
  readonly counts: Readonly<Record<KeyStatus, number>>
}

/**
 * Where keys are stored. Every method must read and write the current state, not a cached copy: `find` runs on every
 * call, so a revoked key stops working on every replica at once. Calls in this process by a request that has been let
 * in share its answer (`guard.ts`). Any error becomes a 503. A store that knows the owners treats an id that no owner
 * can have as an owner without keys.
 */
export interface ApiKeyStore {
  /**
   * Called once at startup. Throws {@link DUAL_AUTH_INVALID_OPTION} if the store can never work, for example because
   * its table is missing; the server then does not start. Other errors are only logged: a database may come up late.
   */
  ready?(): Promise<void>
  /** Returns the key with one of these fingerprints (one for each pepper), or null. */
  find(fingerprints: readonly Buffer[]): Promise<StoredApiKey | null>
  /**
   * Inserts the key and returns true, or returns false if the owner already has `limit` active keys that no other key
   * replaces, or twice as many in all. Must not race with itself. Calls `onStored` after an insertion.
   *
   * @throws {@link DUAL_AUTH_OWNER_UNKNOWN} if the store knows the owners and this one does not exist
   */
  insert(key: NewApiKey, limit: number, onStored?: OnStored): Promise<boolean>
  /** Returns a page of the owner's keys that match. */
  list(ownerId: string, query: KeyQuery): Promise<KeyPage>
  /** Sets `revokedAt` unless it is set, and then calls `onStored`. Returns false if the owner has no such key. */
  revoke(ownerId: string, id: string, by: string, at: Date, onStored?: OnStored): Promise<boolean>
  /**
   * Replaces a key by a successor: inserts it with `replaces`, and sets `replacedBy`, `expiresAt` and `revokedAt` of
   * the key. Then it calls `onRotated`. Must not race with itself, nor with `insert` and `revoke`. The successor takes
   * over the networks that the key was used from.
   *
   * @param at - the moment for which keys are counted
   * @param plan - decides what to write; what it throws undoes everything and rejects
   * @returns both records; null if the owner has no such key
   */
  rotate(
    ownerId: string,
    id: string,
    at: Date,
    plan: (found: Rotatable) => Rotation,
    onRotated?: OnRotated
  ): Promise<Rotated | null>
  /** Replaces the derived values if the hash is still `previous`. */
  rehash(id: string, previous: Buffer, next: ApiKeySecrets): Promise<void>
  /**
   * Sets `lastUsedAt` and `lastUsedNetwork` of keys that are not revoked, if `lastUsedAt` is null or before
   * `unlessAfter` or a network is new to the key; remembers the last 32 networks of each. Returns the notable uses.
   * However many replicas report one, it is returned once.
   */
  touch(uses: readonly KeyUse[], at: Date, unlessAfter: Date): Promise<readonly NotableUse[]>
  /**
   * Returns notices that are due and were not returned before, to whichever replica. Keys that are revoked, expired or
   * replaced have none.
   *
   * - `expiring`: at 30, 7 and 1 days before the end of a key that was created to live longer than that. Only the last
   *   one
   *   that is due.
   * - `unused`: 90 days after the last use, or after the creation of a key that was never used. Again after its next
   *   use.
   *
   * @param limit - of each type
   */
  takeNotices(at: Date, limit: number): Promise<readonly KeyNotice[]>
}
