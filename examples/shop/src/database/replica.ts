import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { isAway } from './errors.ts'
import type { Database } from './index.ts'

/** Between two looks at a replica that is away, in milliseconds. */
const RETRY = 1000

/**
 * How long nothing is read at a replica that was too slow for a read, in milliseconds: every list would wait as long.
 */
const REST = 10_000

/**
 * How long it may be behind without a line in the log, in seconds, and how often that is looked at, in milliseconds.
 */
const LATE = 10
const LOOK = 10_000

/** What became of reads: they were served, or had to be made at the primary. */
export const OUTCOMES = ['served', 'behind', 'away', 'conflict', 'slow', 'failed'] as const
type Outcome = typeof OUTCOMES[number]

/** What is read, with the state of the records that it shows. */
interface Stated {
  readonly state?: string
}

/** Where problems of the replica are written. */
export interface ReplicaLog {
  info(message: string): void
  warn(fields: { readonly err: unknown, readonly needed: 'read_replica' }, message: string): void
}

/** How a replica stands. */
export interface Standing {
  /** Whether it follows a primary, and has not become one. */
  readonly follows: boolean
  /** When it committed what it has last, in seconds ago: 0 if it has all. */
  readonly lag: number
}

/** A standby that lists and exports are read from. */
export interface Replica {
  readonly database: Database
  /** How many reads had which outcome. */
  readonly reads: Readonly<Record<Outcome, number>>
  /** `ok`, or what is wrong. */
  readonly condition: string
  /** Sets where problems are written. Default: nowhere. */
  logTo(log: ReplicaLog): void
  /**
   * Reads at the replica, if it shows there what the primary has.
   *
   * The state of records is the set of lines that their changes have left in `shop_usage`, each of which has a random
   * id and is committed with its change. The state at the primary is read during the call, so it has every change that
   * was acknowledged before the call. The read at the replica tells the state of its own snapshot. If both are the
   * same, all those changes are in that snapshot, and no other: it is what the primary would have shown at that moment.
   * So no caller sees an older state than before, at any server process, and records that did not change are served
   * however far the replica is behind.
   *
   * Positions in the write-ahead log would not do. `pg_last_wal_replay_lsn()` says how far the replica is when it runs,
   * later than the snapshot of its statement; and after a fail-over, or at another database, the same position is
   * another state. Nor may an ordinary role see which timeline is replayed.
   *
   * @param current - reads the state at the primary; runs at the same time
   * @param read - reads at the replica
   * @returns undefined if it has to be read at the primary
   */
  read<Result extends Stated>(current: () => Promise<string>, read: () => Promise<Result>): Promise<Result | undefined>
  /** @throws if it does not answer */
  standing(): Promise<Standing>
  close(): Promise<void>
}

/** @returns the replica of a database, if it has one */
export function replicaOf (knex: Knex): Replica | undefined {
  return knex.userParams['replica']
}

/**
 * Reads from a replica. While it does not answer, and for a while after it was too slow, nobody waits for it: it is
 * looked at in the background until it answers.
 *
 * @param database - the replica
 * @param primary - what it follows
 */
export function openReplica (database: Database, primary: Knex): Replica {
  const reads = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>
  let log: ReplicaLog = { info () {}, warn () {} }
  let [isOut, lookedAt] = [false, -Infinity]
  let fault: string | undefined
  const closed = new AbortController()

  const warn = (err: unknown): void =>
    log.warn({ err, needed: 'read_replica' }, 'Lists are read at the primary, since the replica does not serve them')

  async function untilBack (rest: number): Promise<void> {
    await sleep(rest, undefined, { ref: false })
    while (isOut && !closed.signal.aborted) {
      try {
        if (!closed.signal.aborted) await database.knex.raw('select 1')
        isOut = false
      } catch (error) {
        warn(error)
        await sleep(RETRY, undefined, { ref: false })
      }
    }
    if (!closed.signal.aborted) log.info('The replica is back: lists are read there again')
  }

  /** An error of the caller's is the same at the primary, and told there. */
  function note (error: unknown): void {
    if ((error as { statusCode?: number }).statusCode !== undefined) return
    const outcome = outcomeOf(error as Error)
    reads[outcome]++
    warn(error)
    if (isOut || (outcome !== 'away' && outcome !== 'slow')) return
    isOut = true
    // Through PgBouncer, which drops its time limit, a slow statement is one without an answer.
    const isLate = outcome === 'slow' || (error as { code?: string }).code === 'ETIMEDOUT'
    untilBack(isLate ? REST : RETRY)
  }

  /** It is always behind a little, and for callers who have just written. */
  async function judge (): Promise<void> {
    if (performance.now() - lookedAt < LOOK) return
    lookedAt = performance.now()
    await look()
    if (fault !== undefined) warn(new Error(fault))
  }

  async function look (): Promise<void> {
    try {
      const { follows, lag } = await standing()
      if (!follows) fault = 'it follows no primary'
      else fault = lag > LATE ? `it is ${Math.round(lag)} s behind` : undefined
    } catch {} // The next read tells.
  }

  async function standing (): Promise<Standing> {
    // In this order: what was written in between is no lag.
    const { rows: [{ written }] } = await primary.raw('select pg_current_wal_flush_lsn() as written')
    const { rows: [found] } = await database.knex.raw(
      `select pg_is_in_recovery() as follows, coalesce(case
        when pg_is_in_recovery() and pg_last_wal_replay_lsn() < ?::pg_lsn
        then extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())
      end, 0)::float as lag`,
      [written]
    )
    return found
  }

  return {
    database,
    reads,
    get condition () {
      // It may have caught up since the last read.
      if (fault !== undefined) look()
      const wrong = isOut ? 'it does not answer' : fault
      return wrong === undefined ? 'ok' : `${wrong}: lists are read at the primary`
    },
    logTo (target) {
      log = target
    },
    async read (current, read) {
      if (isOut) {
        reads.away++
        return undefined
      }
      const [state, found] = await Promise.all([current(), read().catch(note)])
      if (found === undefined) return undefined
      const isSame = found.state === state
      reads[isSame ? 'served' : 'behind']++
      if (isSame) {
        fault = undefined
        return found
      }
      judge()
      return undefined
    },
    standing,
    async close () {
      closed.abort()
      await database.close()
    }
  }
}

/** Replaying a change may cancel a statement that still reads what the change removes: 40001, or 40P01. */
function outcomeOf (error: Error & { readonly code?: string }): Outcome {
  // Where rights are missing it answers all the same.
  if (isAway(error) && error.code !== '42501') return 'away'
  if (error.code === '40001' || error.code === '40P01') return 'conflict'
  return error.code === '57014' ? 'slow' : 'failed'
}
