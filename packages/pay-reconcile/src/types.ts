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

/**
 * Every condition must hold. A list means any of its values; null stands for an account without one. Throw for a
 * condition that the store does not know: one that it does not read makes the call fail.
 */
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

export interface UnlinkChange {
  readonly accountId: string
  /** Unlink only if this is the account's customer at the moment. Default: unlink in any case. */
  readonly expected?: string | undefined
}

export interface SnapshotChange {
  readonly accountId: string
  /** The id that was read. If the account now has another one, nothing is stored. */
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

/** What the audit records of `details`: no personal data. */
export interface AuditedDetails {
  readonly pay_customer_id: string | null
  readonly pay_synced_at: string | null
  readonly snapshot_sha256: string | null
}

/** A change of an account. */
export interface AuditEntry extends ChangeOrigin {
  readonly id: string
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string
  readonly action: AuditAction
  readonly accountId: string
  readonly shopId: string
  readonly before: AuditedDetails
  readonly after: AuditedDetails
  /** Whether {@link AccountStore.replacedSnapshot} still has the snapshot that this change replaced. */
  readonly snapshotKept: boolean
}

export type AuditAction = typeof AUDIT_ACTIONS[number]
export const AUDIT_ACTIONS = ['link', 'create', 'sync', 'unlink'] as const

/** Which changes, in which order. Fields are named as in responses. */
export interface AuditQuery {
  readonly skip: number
  readonly limit: number
  readonly filter: AuditFilter
  /** Null: newest first. Ties are broken by the id, in the same direction. */
  readonly sort: { readonly field: AuditField, readonly descending: boolean } | null
}

/** A field of a change that holds one value. */
export type AuditField =
  | 'id'
  | 'at'
  | 'actor'
  | 'action'
  | 'account_id'
  | 'shop_id'
  | 'run_id'
  | 'provider_request_id'
  | 'request_id'
  | 'snapshot_kept'

/** Every condition must hold. A list means any of its values; null means a change without one. */
export type AuditFilter =
  & { readonly [field in AuditField]?: ReadonlyArray<string | boolean | null> }
  & { readonly [field in 'before' | 'after']?: Readonly<Record<string, unknown>> }
  & { readonly [bound in 'at_gte' | 'at_lte']?: string }

/** A snapshot that a change replaced or removed. */
export interface ReplacedSnapshot {
  readonly auditId: string
  readonly accountId: string
  readonly customerId: string | null
  readonly customer: Details
  /** ISO 8601 UTC with milliseconds. */
  readonly replacedAt: string
}

/** Which accounts a scan returns. Every condition must hold; a store that ignored one would change other accounts. */
export interface AccountLimits {
  /** The ids of accounts. */
  readonly accounts?: readonly string[]
  /** Accounts that failed in this run, and those that its stopped or cancelled shops did not reach. */
  readonly failedIn?: string
  /** Linked accounts without a snapshot from this time or later, ISO 8601 UTC with milliseconds. */
  readonly syncedBefore?: string
  /** Accounts that have a customer. */
  readonly linked?: true
  /** Accounts that have one of these customers. */
  readonly customers?: readonly string[]
  /** Linked accounts that {@link ChangeStore} has noted. */
  readonly changed?: true
  /** Accounts that this run has not finished: it has no item for them, and has not recorded them as unchanged. */
  readonly unfinishedIn?: string
}

/** An event of the provider about a customer. What it says of the customer is not used: the customer is read again. */
export interface CustomerEvent {
  readonly id: string
  /** ISO 8601 UTC. */
  readonly createdAt: string
  /** Null: an event about none. */
  readonly customerId: string | null
}

/** How far the events of a shop have been read; times are ISO 8601 UTC with milliseconds. */
export interface EventPosition {
  /** All events from before this time have been noted. */
  readonly until: string
  /** When all accounts of the shop were noted at once. */
  readonly completeAt: string
}

/**
 * Which accounts are to be read again, for the mode `changes`. An account stays noted until {@link ChangeStore.done}.
 */
export interface ChangeStore {
  /** Undefined: no events of the shop have been read. */
  position(shopId: string): Promise<EventPosition | undefined>

  moveTo(shopId: string, position: EventPosition): Promise<void>

  /**
   * Notes the accounts of the shop that have the customers of these events. An event that was noted before is ignored.
   */
  note(shopId: string, events: readonly CustomerEvent[]): Promise<void>

  /** Notes all linked accounts of the shop. */
  noteAll(shopId: string): Promise<void>

  /**
   * The present moment, for `done`: everything noted before it is older than what is read from the provider after it.
   */
  moment(): Promise<string>

  /** Removes accounts that were added before a moment, except those added again since. */
  done(accountIds: readonly string[], moment: string): Promise<void>
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
   * Called at startup, and again after an error before runs start by themselves. Throw an error with a `statusCode` if
   * the store cannot work, for example because a table is missing. Any other error is only logged, since the database
   * may come up later.
   */
  ready?(): Promise<void>

  /**
   * Under which name the store keeps audit, notes and snapshots. Two registrations of the plugin in one app must not
   * have the same, and a run store with a `registration` must have the same as the account store.
   */
  readonly registration?: string

  /**
   * Whether the ids of accounts are UUIDs; undefined: the store cannot tell. Without a `namespace`, false stops
   * startup.
   */
  hasUuids?(): Promise<boolean | undefined>

  /** A page, and the number of all matching accounts even if the page is empty. */
  list(query: AccountQuery): Promise<{ readonly accounts: readonly Account[], readonly count: number }>

  get(id: string): Promise<Account | undefined>

  /** The shop's secret key in plain text, or null. */
  secretKey(shopId: string): Promise<string | null>

  /** Sets `pay_customer_id` and removes the snapshots of the previous customer. The same id changes nothing. */
  link(change: LinkChange, origin: ChangeOrigin): Promise<ChangeResult>

  /** Removes `pay_customer_id` and the snapshots. An account without a customer is not changed. */
  unlink(change: UnlinkChange, origin: ChangeOrigin): Promise<ChangeResult>

  /**
   * Sets `pay_customer` and `pay_synced_at`, unless the id has changed or the stored snapshot is newer. A customer with
   * `deleted: true` has few fields: the snapshot that it replaces is kept in `pay_customer_before_deletion`.
   */
  saveSnapshot(change: SnapshotChange, origin: ChangeOrigin): Promise<ChangeResult>

  /** A page of changes, and the number of all matching ones even if the page is empty. */
  audit(query: AuditQuery): Promise<{ readonly entries: readonly AuditEntry[], readonly count: number }>

  /** The snapshot that a change replaced, while it is kept. */
  replacedSnapshot(auditId: string): Promise<ReplacedSnapshot | undefined>

  /** Deletes replaced snapshots that are kept no longer. Called at startup and hourly. */
  deleteExpired?(): Promise<void>

  /**
   * For the mode `changes`, which is refused without it. {@link AccountStore.link} must note the account, because an
   * event about its customer may be older.
   */
  readonly changes?: ChangeStore

  /**
   * The shop with `shopId`, or else all shops that have such accounts, each with their number: a run over all shops
   * leaves out those with 0. Without limits: all shops, with the number of all their accounts.
   */
  shops(
    shopId?: string,
    only?: AccountLimits
  ): Promise<ReadonlyArray<{ readonly shopId: string, readonly accounts: number }>>

  /** The next of these accounts of a shop after the id `after`, in the order of their ids. */
  scan(page: {
    readonly shopId: string,
    readonly after: string | null,
    readonly limit: number,
    readonly runId: string,
    readonly only: AccountLimits
  }): Promise<readonly ScannedAccount[]>

  /**
   * Those of the accounts of the shop that have one of the ids, or one of the e-mail addresses in `details.email`, in
   * any case and with any blanks around it; at most 1000.
   *
   * @param emails - as the provider writes them, and in lower case
   */
  accountsLike(shopId: string, ids: readonly string[], emails: readonly string[]): Promise<readonly Account[]>

  /** Those of the customers that accounts of the shop are linked to. */
  linkedCustomers(shopId: string, customerIds: readonly string[]): Promise<ReadonlySet<string>>

  /**
   * The other shops that have accounts with some of the customers: their keys may be of the same account at the
   * provider.
   */
  linkedElsewhere(
    shopId: string,
    customerIds: readonly string[]
  ): Promise<ReadonlyArray<{ readonly shopId: string, readonly customerId: string }>>
}
