/**
 * `link`: find the customer of each account that has none. `sync`: store a new snapshot of each linked one.
 * `changes`: the same for those whose customers have changed since the last such run, by the provider's events.
 * `check`: report how accounts and customers differ, and change nothing. `unlink`: remove the customers of named
 * accounts.
 */
export type Mode = typeof MODES[number]
export const MODES = ['link', 'sync', 'check', 'unlink', 'changes'] as const

/** What happened to an account; in a dry run, what would have happened. */
export type Outcome = typeof OUTCOMES[number]
export const OUTCOMES = [
  'unchanged',
  'linked',
  'unlinked',
  'synced',
  'suggested',
  'ambiguous',
  'unmatched',
  'skipped',
  'different',
  'failed'
] as const

/** How an account and its customer differ. */
export type Difference = typeof DIFFERENCES[number]
export const DIFFERENCES = ['missing', 'not_found', 'deleted', 'duplicate', 'never_synced', 'differs'] as const

export const STATUSES = ['running', 'done', 'cancelled'] as const

/** A field in which the stored snapshot and the live customer differ. */
export interface FieldDifference {
  /** As a path: `email`, `address.city`. */
  readonly field: string
  /** Absent if there is no such field. Values of more than 500 characters are cut, as JSON that ends with `…`. */
  readonly stored?: unknown
  readonly live?: unknown
}

/** Why a customer may belong to an account: its metadata name the account, or the e-mail addresses are equal. */
export type Match = typeof MATCH_REASONS[number]
export const MATCH_REASONS = ['metadata', 'email'] as const

/** A customer that may belong to an account. */
export interface Candidate {
  readonly customerId: string
  readonly match: Match
  /** Of the customer, to decide by. */
  readonly name: string | null
  readonly email: string | null
  /** What the customer's metadata say: at most ten values, first those that name its account. */
  readonly metadata: Readonly<Record<string, string>>
  /** Another account has this customer, of the shop or of one with the same key. */
  readonly linked: boolean
}

/** What a run found for one account. */
export interface FoundItem {
  readonly accountId: string
  readonly accountName: string
  readonly shopId: string
  readonly shopName: string
  readonly outcome: Outcome
  /** The customer id before and after. */
  readonly before: string | null
  readonly after: string | null
  readonly reason: string | null
  readonly differences: readonly Difference[]
  readonly fields: readonly FieldDifference[]
  /** Customers to choose from, at most ten. */
  readonly candidates: readonly Candidate[]
  readonly errorCode: string | null
  readonly providerRequestId: string | null
}

/** An item as it is stored. */
export interface Item extends FoundItem {
  /** Unique over all runs; set by the store. */
  readonly id: string
}

/** Every condition must hold. A list means any of its values. */
export interface ItemFilter {
  readonly account_id?: readonly string[]
  readonly shop_id?: readonly string[]
  readonly outcome?: readonly Outcome[]
  /** Items with any of these differences. */
  readonly differences?: readonly Difference[]
}

/** Which items of a run. */
export interface ItemQuery {
  readonly skip: number
  readonly limit: number
  readonly filter: ItemFilter
  /**
   * Leave out what this earlier run found in the same way: the same outcome, differences, fields, candidates and error.
   */
  readonly since?: string
}

export interface NewRun {
  readonly id: string
  readonly mode: Mode
  readonly dryRun: boolean
  /** One shop, or null for all. */
  readonly shopId: string | null
  readonly actor: string
  readonly requestId: string | null
  /** Which accounts, as the run shows it; empty: all. Named as in responses. */
  readonly selection: Selection
  /** The time by the schedule that it was started for, ISO 8601 UTC with milliseconds; null: not by the schedule. */
  readonly scheduledFor: string | null
  /** Whether a webhook started it. Default false. */
  readonly webhook?: boolean | undefined
}

/** What a run is limited to; at most one of these. */
export interface Selection {
  /** How many accounts were named, or items accepted. */
  readonly accounts?: number
  readonly accept?: number
  /** Accounts that failed in this run, and those that its stopped or cancelled shops did not reach. */
  readonly failed_in?: string
  /** Linked accounts without a snapshot from this time or later, ISO 8601 UTC with milliseconds. */
  readonly synced_before?: string
}

/** The named accounts of a run by their ids, each with what was accepted for it, if anything. */
export type Targets = Readonly<Record<string, Target | null>>

/** An accepted item: the customer, and what must not have changed since. */
export interface Target {
  readonly customerId: string
  readonly accountName: string
  /** Null to unlink. */
  readonly candidate: Candidate | null
}

export type Counters<Key extends string> = Readonly<Partial<Record<Key, number>>>

/** A shop's part of a run. */
export interface Part {
  readonly runId: string
  readonly shopId: string
  /** How many accounts there are to process. */
  readonly total: number
  readonly processed: number
  readonly lastAccount: string | null
  readonly outcomes: Counters<Outcome>
  readonly differences: Counters<Difference>
  /** How far the customers of the shop have been read in pages; null: they are read one by one. */
  readonly paging: Paging | null
}

/** Progress through the pages of a shop's customers. */
export interface Paging {
  /** The customer after which the next page starts; null: the first page. */
  readonly after: string | null
  /** Linked accounts whose customers no page has shown yet. */
  readonly left: number
  /** Pages that were not worth their request, since the last ones that were. */
  readonly lost: number
  /** No more pages are read; the accounts that are left are read one by one. */
  readonly ended: boolean
}

/** A run and its progress. */
export interface Run extends NewRun {
  readonly status: typeof STATUSES[number]
  readonly cancelRequested: boolean
  readonly startedAt: string
  readonly finishedAt: string | null
  /** Accounts in all its shops, and how many are done. */
  readonly total: number
  readonly processed: number
  readonly outcomes: Counters<Outcome>
  readonly differences: Counters<Difference>
  readonly shops: {
    readonly total: number,
    readonly finished: number,
    /**
     * Shops that stopped, with the error code that says why, and the permission that a restricted key lacks. The first
     * 100.
     */
    readonly stopped: ReadonlyArray<
      { readonly shopId: string, readonly reason: string, readonly missingPermission?: string }
    >
  }
}

/** Which runs, in which order. Fields are named as in responses. */
export interface RunQuery {
  readonly skip: number
  readonly limit: number
  readonly filter: RunFilter
  /** Null: newest first. Ties are broken by the id, in the same direction. */
  readonly sort: { readonly field: RunField, readonly descending: boolean } | null
}

/** A field of a run that holds one value. */
export type RunField =
  | 'id'
  | 'mode'
  | 'dry_run'
  | 'shop_id'
  | 'status'
  | 'cancel_requested'
  | 'actor'
  | 'scheduled_for'
  | 'started_at'
  | 'finished_at'
  | 'total'
  | 'processed'

/**
 * Every condition must hold. A list means any of its values; null means a run without one. The run's `outcomes`,
 * `differences`, `shops` and `selection` must contain those of the filter, compared by PostgreSQL's `@>`.
 */
export type RunFilter =
  & { readonly [field in RunField]?: ReadonlyArray<string | number | boolean | null> }
  & { readonly [field in 'outcomes' | 'differences' | 'shops' | 'selection']?: Readonly<Record<string, unknown>> }

/** Who works on a part. A lease must be renewed, so that others can take the part after a crash. */
export interface Lease {
  /** Another one each time that a part is claimed. */
  readonly owner: string
  /** In milliseconds. */
  readonly duration: number
}

/** Whether to continue a part; `lost`: another process or worker has taken it over. */
export type Next = 'continue' | 'cancelled' | 'lost'

/** Why a shop stopped. */
export interface Stop {
  /** An error code. */
  readonly reason: string
  /** The permission that its key lacks. */
  readonly missingPermission?: string | undefined
}

/** The shops whose customers have changed, as deliveries of the provider say, and that wait for a run. */
export interface AwaitedShops {
  /** Notes the shop, unless this delivery has been noted before. @returns false if it has. */
  note(shopId: string, deliveryId: string): Promise<boolean>

  /**
   * Starts a run over the noted shops that are due and that no other run holds: all of it, or nothing after a crash.
   * Their notes stay until {@link AwaitedShops.done}, and are due again later: each time after a longer pause, up to an
   * hour. A shop that is noted again is due at once.
   *
   * @returns whether there were any, and whether others are due that another run holds.
   */
  start(run: NewRun): Promise<{ readonly started: boolean, readonly left: boolean }>

  /**
   * The run has read everything of the shop: removes its note, unless the shop was noted again since the run started.
   */
  done(runId: string, shopId: string): Promise<void>
}

/** Where runs are stored. A part belongs to one owner at a time, and a shop to one run at a time. */
export interface RunStore {
  /** Like `ready` of an AccountStore. */
  ready?(): Promise<void>

  /** Like `registration` of an AccountStore. No method returns or changes a run of another one. */
  readonly registration?: string

  /** @throws `new PAY_RECONCILE_RUN_ACTIVE(runId, shopId)` if a shop is part of an unfinished run. */
  start(
    run: NewRun,
    shops: ReadonlyArray<{ readonly shopId: string, readonly accounts: number }>,
    targets: Targets | null
  ): Promise<void>

  /**
   * The last scheduled time of a mode for which a run was started. The first time it remembers and returns `now`:
   * nothing was missed before the schedule.
   */
  lastScheduled(mode: Mode, now: string): Promise<string>

  /**
   * Starts a run by the schedule, unless one was started for its time or a later one: one run per time, however many
   * processes try. A shop that another run holds is `stopped` from the start, with the reason
   * `PAY_RECONCILE_RUN_ACTIVE`.
   *
   * @returns whether it was started.
   */
  startScheduled(
    run: NewRun & { readonly scheduledFor: string },
    shops: ReadonlyArray<{ readonly shopId: string, readonly accounts: number }>
  ): Promise<boolean>

  /** For the extension `webhooks`, which is refused without it. */
  readonly awaited?: AwaitedShops | undefined

  /** The named accounts of a run; null if it has none. */
  targets(id: string): Promise<Targets | null>

  get(id: string): Promise<Run | undefined>

  /** A page, and the number of all matching runs even if the page is empty. */
  list(query: RunQuery): Promise<{ readonly runs: readonly Run[], readonly count: number }>

  /** A page in a fixed order, which may end early if its items are large, and the number of all matching items. */
  items(id: string, query: ItemQuery): Promise<{ readonly items: readonly Item[], readonly count: number }>

  /** Items of any runs by their ids; unknown and malformed ids are left out. */
  itemsById(ids: readonly string[]): Promise<readonly Item[]>

  /** Requests that a run stops; parts that nobody works on are cancelled immediately. */
  cancel(id: string): Promise<void>

  /** Takes the next part that is pending or whose lease has expired. */
  claim(id: string, lease: Lease): Promise<Part | undefined>

  /** Extends the lease while accounts are in progress. @returns what to do next. */
  renew(part: Part, lease: Lease): Promise<Next>

  /**
   * Stores progress together with the items that are not `unchanged`. While pages are read (`paging` is set and has not
   * ended before this step), it also records which accounts were unchanged, for {@link AccountLimits.unfinishedIn}.
   *
   * @returns what to do next.
   */
  advance(part: Part, items: readonly FoundItem[], lease: Lease): Promise<Next>

  /** Ends a part; the last part ends the run. */
  finish(
    part: Part,
    lease: Lease,
    status: 'done' | 'stopped' | 'cancelled',
    reason: string | null,
    missingPermission?: string
  ): Promise<void>

  /** Returns a part unfinished, for any process to continue. */
  release(part: Part, lease: Lease): Promise<void>

  /**
   * Deletes runs of the schedule and of webhooks that are kept no longer, and deliveries that are too old to be valid.
   * Called at startup and hourly.
   */
  deleteExpired?(): Promise<void>

  /** Runs that have parts to claim. */
  claimable(): Promise<readonly string[]>
}
