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

/** An account as the admin routes answer it. */
export interface AdminAccount {
  readonly id: string
  readonly shop_id: string
  readonly shop_name: string
  readonly name: string
  readonly hash_name: string | null
  readonly details: Details
  readonly pay_customer_id: string | null
  readonly pay_synced_at: string | null
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
  /** What `details` contain, as PostgreSQL's `@>` compares: members of objects, elements of arrays. */
  readonly details?: Details
  /** true: without a pay_customer_id; false: with one. */
  readonly missing_pay?: boolean
  /** Part of the name, in either case. */
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
  /** The id of our own HTTP request, when there was one. */
  readonly requestId: string | null
  /** The bulk run, when it was one; a run changes an account at most once. */
  readonly runId: string | null
  /** The provider's id of the request that the change rests on. */
  readonly providerRequestId: string | null
}

export interface LinkChange {
  readonly action: 'link' | 'create'
  readonly accountId: string
  readonly customerId: string
  /**
   * Link only while this is the account's customer, null for none: somebody else's link is kept. Default: whatever it
   * is.
   */
  readonly expected?: string | null
}

export interface SnapshotChange {
  readonly accountId: string
  /** The id under which the snapshot was read; another id by now, and nothing is stored. */
  readonly customerId: string
  readonly customer: Details
  /** Time of the read, ISO 8601 UTC with milliseconds. */
  readonly syncedAt: string
}

/** What a write did, and the account after it; no account: it does not exist. */
export interface ChangeResult {
  readonly changed: boolean
  readonly account: Account | undefined
}

/** An account in a scan, with what only the database can say about it. */
export interface ScannedAccount {
  readonly account: Account
  /** Another account of the shop has the same pay_customer_id. */
  readonly duplicate: boolean
  /** The run already changed this account, before it was interrupted. */
  readonly changedByRun: boolean
}

/**
 * The accounts of all shops. Every write is one atomic change of `details` that keeps all other keys,
 * with its audit row in the same transaction; neither may exist without the other.
 *
 * Ids arrive as a client wrote them. One that no account or shop could have is unknown, and no error.
 */
export interface AccountStore {
  /**
   * Called once at startup. Throws an error with a `statusCode` when the store can never work, because a table is
   * missing for instance; any other error is logged, since a database may be late.
   */
  ready? (): Promise<void>

  /** A page and the number of all matching accounts, also when the page is empty. */
  list (query: AccountQuery): Promise<{ readonly accounts: readonly Account[], readonly count: number }>

  get (id: string): Promise<Account | undefined>

  /** The shop's secret key in plain text, or null. */
  secretKey (shopId: string): Promise<string | null>

  /** Sets `pay_customer_id` and drops the snapshots of another customer. The same id changes nothing. */
  link (change: LinkChange, origin: ChangeOrigin): Promise<ChangeResult>

  /**
   * Sets `pay_customer` and `pay_synced_at` unless the id changed or a newer snapshot is there. A customer with
   * `deleted: true` is little more than an id: the snapshot that it replaces is kept in `pay_customer_before_deletion`.
   */
  saveSnapshot (change: SnapshotChange, origin: ChangeOrigin): Promise<ChangeResult>

  /** The shops that have accounts, each with their number; of one shop when `shopId` is given. */
  shops (shopId?: string): Promise<ReadonlyArray<{ readonly shopId: string, readonly accounts: number }>>

  /** The next accounts of a shop in the order of their ids, after `after`. */
  scan (page: {
    readonly shopId: string
    readonly after: string | null
    readonly limit: number
    readonly runId: string
  }): Promise<readonly ScannedAccount[]>

  /** How many accounts of the shop have this customer. */
  countLinked (shopId: string, customerId: string): Promise<number>
}

function textOf (value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** The customer id in `details`; an empty one counts as none. */
export function customerIdOf (details: Details): string | null {
  return textOf(details.pay_customer_id)
}

export function syncedAtOf (details: Details): string | null {
  return textOf(details.pay_synced_at)
}

export function adminAccountFrom (account: Account): AdminAccount {
  return {
    id: account.id,
    shop_id: account.shopId,
    shop_name: account.shopName,
    name: account.name,
    hash_name: account.hashName,
    details: account.details,
    pay_customer_id: customerIdOf(account.details),
    pay_synced_at: syncedAtOf(account.details)
  }
}
