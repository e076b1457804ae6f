/**
 * `link`: find the customer of each account that has none. `sync`: store a new snapshot of each linked one.
 * `check`: report how accounts and customers differ, and change nothing.
 */
export type Mode = typeof modes[number]
export const modes = ['link', 'sync', 'check'] as const

/** What happened to an account; in a dry run, what would have happened. */
export type Outcome = typeof outcomes[number]
export const outcomes = ['unchanged', 'linked', 'synced', 'suggested', 'ambiguous', 'unmatched', 'skipped', 'drifted', 'failed'] as const

/** How an account and its customer differ. */
export type Drift = typeof drifts[number]
export const drifts = ['missing', 'not_found', 'deleted', 'duplicate', 'never_synced', 'differs'] as const

export const statuses = ['running', 'done', 'cancelled'] as const

/** What a run found for one account. */
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
  /** Ids of customers to choose from. */
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

/** A run and its progress. */
export interface Run extends NewRun {
  readonly status: typeof statuses[number]
  readonly cancelRequested: boolean
  readonly startedAt: string
  readonly finishedAt: string | null
  /** Accounts in all its shops, and how many are done. */
  readonly total: number
  readonly processed: number
  readonly outcomes: Counters<Outcome>
  readonly drift: Counters<Drift>
  readonly shops: {
    readonly total: number
    readonly finished: number
    /** Shops that stopped, with the error code that says why. The first 100. */
    readonly stopped: ReadonlyArray<{ readonly shopId: string, readonly reason: string }>
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
  'id' | 'mode' | 'dry_run' | 'shop_id' | 'status' | 'cancel_requested' | 'actor' | 'started_at' | 'finished_at' | 'total' | 'processed'

/**
 * Every condition must hold. A list means any of its values; null means a run without one. The run's `outcomes`, `drift`
 * and `shops` must contain those of the filter, compared by PostgreSQL's `@>`.
 */
export type RunFilter =
  { readonly [field in RunField]?: ReadonlyArray<string | number | boolean | null> } &
  { readonly [field in 'outcomes' | 'drift' | 'shops']?: Readonly<Record<string, unknown>> }

/** Who works on a part. A lease must be renewed, so that another process can take the part after a crash. */
export interface Lease {
  readonly owner: string
  /** In milliseconds. */
  readonly duration: number
}

/** Whether to go on with a part; `lost`: another process has it by now. */
export type Next = 'continue' | 'cancelled' | 'lost'

/** Where runs are stored. A part belongs to one owner at a time, and a shop to one run at a time. */
export interface RunStore {
  /** Like `ready` of an AccountStore. */
  ready? (): Promise<void>

  /** @throws `runActiveError(runId, shopId)` if a shop is part of an unfinished run. */
  start (run: NewRun, shops: ReadonlyArray<{ readonly shopId: string, readonly accounts: number }>): Promise<void>

  get (id: string): Promise<Run | undefined>

  /** A page, and the number of all matching runs even if the page is empty. */
  list (query: RunQuery): Promise<{ readonly runs: readonly Run[], readonly count: number }>

  items (id: string, page: { readonly skip: number, readonly limit: number, readonly outcome?: string | undefined }):
  Promise<{ readonly items: readonly Item[], readonly count: number }>

  /** Requests that a run stops; parts that nobody works on are cancelled immediately. */
  cancel (id: string): Promise<void>

  /** Takes the next part that is pending or whose lease has expired. */
  claim (id: string, lease: Lease): Promise<Part | undefined>

  /** Extends the lease while accounts are in progress. @returns what to do next. */
  renew (part: Part, lease: Lease): Promise<Next>

  /** Stores progress and items together. @returns what to do next. */
  advance (part: Part, items: readonly Item[], lease: Lease): Promise<Next>

  /** Ends a part; the last part ends the run. */
  finish (part: Part, lease: Lease, status: 'done' | 'stopped' | 'cancelled', reason: string | null): Promise<void>

  /** Returns a part unfinished, for any process to continue. */
  release (part: Part, lease: Lease): Promise<void>

  /** Runs that have parts to claim. */
  claimable (): Promise<readonly string[]>
}
