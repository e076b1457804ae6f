import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import type { DatabaseLog } from './index.ts'

/** The `application_name` of sessions that run migrations, by which their waits are found. */
export const MIGRATING = 'shop migrate'

/** How long a migration tries to get its locks, in milliseconds. */
export const LOCK_LIMIT = 600_000

/** Between two looks, in milliseconds: several while a statement waits for a lock. */
const LOOK_EVERY = 150

/** How often a wait for the same process is logged, in milliseconds. */
const LOG_EVERY = 30_000

/** A role without `pg_read_all_stats` does not see since when. */
const WAITS = `
  select blocking.pid, nullif(blocker.application_name, '') as application, blocker.xact_start as since
  from pg_stat_activity waiting cross join lateral unnest(pg_blocking_pids(waiting.pid)) blocking (pid)
  left join pg_stat_activity blocker on blocker.pid = blocking.pid
  where waiting.datname = current_database() and waiting.application_name = ?
    and waiting.wait_event_type = 'Lock' limit 1`

interface Blocker {
  readonly pid: number
  readonly application: string | null
  readonly since: string | null
}

/** Who keeps migrations waiting. */
export interface LockWaits {
  /** The last one, in words; undefined if there was none. */
  readonly last: string | undefined
  stop(): Promise<void>
}

/**
 * Looks for whom migrations wait, on another connection, since PostgreSQL does not say so when a wait ends. Logs each,
 * and again while it lasts.
 */
export function watchLockWaits (knex: Knex, log: DatabaseLog, migration: string): LockWaits {
  const stopped = new AbortController()
  let last: string | undefined
  let logged = { what: '', at: 0 }

  const look = async (): Promise<void> => {
    const { rows: [blocker] } = await knex.raw<{ rows: readonly Blocker[] }>(WAITS, [MIGRATING])
    if (blocker === undefined) return
    last = nameOf(blocker)
    const what = `${migration} ${last}`
    if (logged.what === what && performance.now() - logged.at < LOG_EVERY) return
    logged = { what, at: performance.now() }
    log.warn(
      `Migration ${migration} waits for a lock of ${last}. It tries again until that session ends its transaction`
    )
  }
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      // The migration itself fails for the same reason.
      await look().catch(() => {})
      await sleep(LOOK_EVERY, undefined, { signal: stopped.signal }).catch(() => {})
    }
  })()
  return {
    get last () {
      return last
    },
    async stop () {
      stopped.abort()
      await watching
    }
  }
}

function nameOf ({ pid, application, since }: Blocker): string {
  const details = [
    ...application === null ? [] : [`application ${application}`],
    ...since === null ? [] : [`in a transaction since ${since}`]
  ]
  return `process ${pid}${details.length > 0 ? ` (${details.join(', ')})` : ''}`
}
