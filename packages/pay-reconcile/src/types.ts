/** Free-form JSON of an account; three keys of it belong to this package. */
export type Details = Readonly<Record<string, unknown>>

/** A local account as the store returns it; ids are the host's, as strings. */
export interface Account {
  readonly id: string
  readonly shopId: string
  readonly shopName: string
  readonly name: string
  readonly hashName: string | null
  readonly details: Details
}

/** Which accounts, in which order. */
export interface AccountQuery {
  readonly skip: number
  readonly limit: number
  readonly filter: AccountFilter
  readonly sort: readonly AccountSort[]
}

/** Every condition must hold. A list means any of its values; null stands for an account without one. */
export interface AccountFilter {
  readonly id?: readonly string[]
  readonly shop_id?: readonly string[]
  readonly shop_name?: readonly string[]
  readonly name?: readonly string[]
  readonly hash_name?: ReadonlyArray<string | null>
  readonly pay_customer_id?: ReadonlyArray<string | null>
  readonly pay_synced_at?: ReadonlyArray<string | null>
  /** Must be contained in `details`, compared by PostgreSQL's `@>`: members of objects, elements of arrays. */
  readonly details?: Details
  /** true: without a pay_customer_id; false: with one. */
  readonly missing_pay?: boolean
  /** Part of the name, ignoring case. */
  readonly q?: string
}

export interface AccountSort {
  readonly field: 'id' | 'shop_id' | 'shop_name' | 'name' | 'hash_name' | 'pay_customer_id' | 'pay_synced_at'
  readonly descending: boolean
}

/** Who changes an account, for the audit row. */
export interface ChangeOrigin {
  /** The person or machine, as the `actor` option names it. */
  readonly actor: string
  /** The id of our own HTTP request, if any. */
  readonly requestId: string | null
  /** The bulk run, if any. A run changes an account at most once. */
  readonly runId: string | null
  /** The provider's id of the request that led to the change. */
  readonly providerRequestId: string | null
}

export interface LinkChange {
  readonly action: 'link' | 'create'
  readonly accountId: string
  readonly customerId: string
  /** Link only if this is the account's customer at the moment; null: if it has none. Default: link in any case. */
  readonly expected?: string | null
}

export interface SnapshotChange {
  readonly accountId: string
  /** The id that was read. If the account has another one by now, nothing is stored. */
  readonly customerId: string
  readonly customer: Details
  /** Time of the read, ISO 8601 UTC with milliseconds. */
  readonly syncedAt: string
}

/** Whether a write changed anything, and the account after it: undefined if there is no such account. */
export interface ChangeResult {
  readonly changed: boolean
  readonly account: Account | undefined
}

/** An account in a scan, with facts that only the database knows. */
export interface ScannedAccount {
  readonly account: Account
  /** Another account of the shop has the same pay_customer_id. */
  readonly duplicate: boolean
  /** The run already changed this account, before it was interrupted. */
  readonly changedByRun: boolean
}

/**
 * The accounts of all shops. Each write changes `details` atomically, keeps all other keys, and stores its audit row in
 * the same transaction.
 *
 * Ids arrive as the client sent them. Treat a malformed id as unknown, not as an error.
 */
export interface AccountStore {
  /**
   * Called once at startup. Throw an error with a `statusCode` if the store cannot work, for example because a table is
   * missing. Any other error is only logged, since the database may come up later.
   */
  ready? (): Promise<void>

  /** A page, and the number of all matching accounts even if the page is empty. */
  list (query: AccountQuery): Promise<{ readonly accounts: readonly Account[], readonly count: number }>

  get (id: string): Promise<Account | undefined>

  /** The shop's secret key in plain text, or null. */
  secretKey (shopId: string): Promise<string | null>

  /** Sets `pay_customer_id` and removes the snapshots of the previous customer. The same id changes nothing. */
  link (change: LinkChange, origin: ChangeOrigin): Promise<ChangeResult>

  /**
   * Sets `pay_customer` and `pay_synced_at`, unless the id has changed or the stored snapshot is newer. A customer with
   * `deleted: true` has few fields: the snapshot that it replaces is kept in `pay_customer_before_deletion`.
   */
  saveSnapshot (change: SnapshotChange, origin: ChangeOrigin): Promise<ChangeResult>

  /** All shops, or the one with `shopId`, each with its number of accounts. */
  shops (shopId?: string): Promise<ReadonlyArray<{ readonly shopId: string, readonly accounts: number }>>

  /** The next accounts of a shop after the id `after`, in the order of their ids. */
  scan (page: {
    readonly shopId: string
    readonly after: string | null
    readonly limit: number
    readonly runId: string
  }): Promise<readonly ScannedAccount[]>

  /** How many accounts of the shop have this customer. */
  countLinked (shopId: string, customerId: string): Promise<number>
}
