/**
 * `link`: find the customer of each account that has none. `sync`: store a new snapshot of each linked one.
 * `check`: report how accounts and customers differ, and change nothing.
 */
export type Mode = 'link' | 'sync' | 'check'

/** What became of an account; in a dry run, what would have. */
export type Outcome =
  'unchanged' | 'linked' | 'synced' | 'suggested' | 'ambiguous' | 'unmatched' | 'skipped' | 'drifted' | 'failed'

/** How an account and its customer differ. */
export type Drift = 'missing' | 'not_found' | 'deleted' | 'duplicate' | 'never_synced' | 'differs'

/** What a run found out about one account. */
export interface Item {
  readonly accountId: string
  readonly shopId: string
  readonly outcome: Outcome
  /** The customer id before and after. */
  readonly before: string | null
  readonly after: string | null
  readonly reason: string | null
  readonly drift: readonly Drift[]
  /** Fields of the snapshot that differ from the live customer. */
  readonly fields: readonly string[]
  /** Ids of customers that a person may choose from. */
  readonly candidates: readonly string[]
  readonly errorCode: string | null
  readonly providerRequestId: string | null
}

export interface NewRun {
  readonly id: string
  readonly mode: Mode
  readonly dryRun: boolean
  /** One shop, or null for all. */
  readonly shopId: string | null
  readonly actor: string
  readonly requestId: string | null
}

export type Counters<Key extends string> = Readonly<Partial<Record<Key, number>>>

/** A shop's part of a run. */
export interface Part {
  readonly runId: string
  readonly shopId: string
  readonly processed: number
  readonly lastAccount: string | null
  readonly outcomes: Counters<Outcome>
  readonly drift: Counters<Drift>
}

/** A run as it stands. */
export interface Run extends NewRun {
  readonly status: 'running' | 'done' | 'cancelled'
  readonly cancelRequested: boolean
  readonly startedAt: string
  readonly finishedAt: string | null
  /** Accounts in all its shops, and how many are dealt with. */
  readonly total: number
  readonly processed: number
  readonly outcomes: Counters<Outcome>
  readonly drift: Counters<Drift>
  readonly shops: {
    readonly total: number
    readonly finished: number
    /** Shops given up alone, and why: an error code. The first 100. */
    readonly stopped: ReadonlyArray<{ readonly shopId: string, readonly reason: string }>
  }
}

/** Which runs, in which order. Fields are named as on the wire. */
export interface RunQuery {
  readonly skip: number
  readonly limit: number
  readonly filter: RunFilter
  /** Null: newest first. Ties are broken by the id, in the same direction. */
  readonly sort: { readonly field: RunField, readonly descending: boolean } | null
}

/** A field of a run that holds one value. */
export type RunField =
  'id' | 'mode' | 'dry_run' | 'shop_id' | 'status' | 'cancel_requested' | 'actor' | 'started_at' | 'finished_at' | 'total' | 'processed'

/**
 * Every condition must hold. A list means any of its values; null stands for a run without one. `outcomes`, `drift` and
 * `shops` hold what the run's must contain, as PostgreSQL's `@>` compares.
 */
export type RunFilter =
  { readonly [field in RunField]?: ReadonlyArray<string | number | boolean | null> } &
  { readonly [field in 'outcomes' | 'drift' | 'shops']?: Readonly<Record<string, unknown>> }

/** Who works on a part: a lease that must be renewed, so that a crash leaves it to somebody else. */
export interface Lease {
  readonly owner: string
  readonly ms: number
}

/** Whether to go on with a part: `lost` says that it is somebody else's by now. */
export type Next = 'continue' | 'cancelled' | 'lost'

/**
 * Where runs are kept. A part belongs to one owner at a time, and a shop to one run at a time.
 */
export interface RunStore {
  /** As `ready` of an AccountStore. */
  ready? (): Promise<void>

  /** @throws `runActiveError(runId, shopId)` when a shop is part of an unfinished run. */
  start (run: NewRun, shops: ReadonlyArray<{ readonly shopId: string, readonly accounts: number }>): Promise<void>

  get (id: string): Promise<Run | undefined>

  /** A page and the number of all matching runs, also when the page is empty. */
  list (query: RunQuery): Promise<{ readonly runs: readonly Run[], readonly count: number }>

  items (id: string, page: { readonly skip: number, readonly limit: number, readonly outcome?: string | undefined }):
  Promise<{ readonly items: readonly Item[], readonly count: number }>

  /** Asks a run to stop; parts that nobody works on are cancelled at once. */
  cancel (id: string): Promise<void>

  /** Takes the next part that is pending, or whose owner let the lease run out. */
  claim (id: string, lease: Lease): Promise<Part | undefined>

  /** Keeps the lease, while accounts are in work or wait for the provider. @returns what to do next. */
  renew (part: Part, lease: Lease): Promise<Next>

  /** Stores progress and items together. @returns what to do next. */
  advance (part: Part, items: readonly Item[], lease: Lease): Promise<Next>

  /** Ends a part, and the run with its last one. */
  finish (part: Part, lease: Lease, status: 'done' | 'stopped' | 'cancelled', reason: string | null): Promise<void>

  /** Gives a part back unfinished, for somebody to go on with. */
  release (part: Part, lease: Lease): Promise<void>

  /** Runs that have parts to claim. */
  claimable (): Promise<readonly string[]>
}
