import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import {
  SHOP_DATABASE_UNSUITABLE,
  SHOP_MIGRATION_BLOCKED,
  SHOP_MIGRATIONS_PENDING,
  SHOP_MIGRATIONS_POOLED,
  SHOP_MIGRATIONS_UNKNOWN
} from '../errors.ts'
import { migrations, type Migrations } from './index.ts'
import type { Migration } from './migration.ts'
import type { Database, DatabaseLog } from '../database/index.ts'
import { LOCK_LIMIT, MIGRATING, watchLockWaits } from '../database/lock-waits.ts'
import { whileAtWork } from '../database/long-statements.ts'
import { losesSessions } from '../database/pooler.ts'
import { cannotMigrate } from '../database/session.ts'
import { metLock } from '../database/tried.ts'

/** An arbitrary number for the advisory lock, unlike those of other applications on the database. */
const LOCK = 7_300_001

/** Between two attempts to get the lock, in milliseconds. */
const POLL = 200

/**
 * How long a statement of a migration waits for a lock, in milliseconds: calls that need the same table wait behind it.
 */
const LOCK_WAIT = 500

/** Between two tries of a migration that did not get its locks, in milliseconds: calls go on meanwhile. */
const PAUSE = 1000

/** As the commands of knex make and read it. */
const TABLE = 'create table if not exists knex_migrations (id serial primary key, name varchar(255), batch integer, ' +
  'migration_time timestamptz)'

export interface MigrateOptions {
  /** How long each migration tries to get its locks, in milliseconds. Default: ten minutes. */
  readonly limit?: number
  /** Default: those of this version. */
  readonly steps?: Migrations
}

/**
 * Brings the tables up to date. Several processes may call it at the same time: they take turns with an advisory lock.
 * They poll it, since a session that waits for it in PostgreSQL holds a snapshot that blocks
 * `CREATE INDEX CONCURRENTLY`.
 *
 * A migration that meets a lock of others rolls back and tries again, so that calls never wait behind it for long. What
 * was migrated before stays, if one fails.
 *
 * @returns the names of the migrations that this call ran
 * @throws {@link SHOP_MIGRATIONS_UNKNOWN}
 * @throws {@link SHOP_MIGRATIONS_POOLED}
 * @throws {@link SHOP_DATABASE_UNSUITABLE}
 * @throws {@link SHOP_MIGRATION_BLOCKED}
 */
export async function migrate (
  { engine, knex, log }: Database,
  { limit = LOCK_LIMIT, steps = migrations }: MigrateOptions = {}
): Promise<readonly string[]> {
  // The lock of the directory is enough, and nobody else has a lock.
  if (engine === 'embedded') {
    return await runMigrations(knex, steps, async (_name, run) => {
      await run()
    })
  }
  const pending = await pendingMigrations(knex, steps)
  if (pending.length === 0) return []
  // Behind such a pooler the lock would stay on a connection that others use, and so would a time limit that was
  // lifted.
  if (await losesSessions(knex)) throw new SHOP_MIGRATIONS_POOLED(pending.join(', '))
  const reason = await cannotMigrate(knex)
  if (reason !== undefined) throw new SHOP_DATABASE_UNSUITABLE(reason)
  const connection = await knex.client.acquireConnection()
  try {
    while (!await tryLock(knex, connection)) await sleep(POLL)
    try {
      return await runMigrations(knex, steps, async (name, run) => {
        await patiently(knex, log, limit, name, run)
      })
    } finally {
      // It ends with the connection, too, which may be lost.
      await knex.raw('select pg_advisory_unlock(?)', [LOCK]).connection(connection).catch(() => {})
    }
  } finally {
    await knex.client.releaseConnection(connection)
  }
}

/**
 * @throws {@link SHOP_MIGRATIONS_PENDING} if the tables are not up to date
 * @throws {@link SHOP_MIGRATIONS_UNKNOWN}
 */
export async function refusePending ({ knex, place }: Database): Promise<void> {
  const names = await pendingMigrations(knex)
  if (names.length > 0) throw new SHOP_MIGRATIONS_PENDING(names.join(', '), place)
}

async function tryLock (knex: Knex, connection: unknown): Promise<boolean> {
  const { rows } = await knex.raw('select pg_try_advisory_lock(?) as locked', [LOCK]).connection(connection)
  return rows[0].locked
}

/** @param around - runs a migration, which it may repeat */
async function runMigrations (
  knex: Knex,
  steps: Migrations,
  around: (name: string, run: () => Promise<void>) => Promise<void>
): Promise<readonly string[]> {
  const names = await pendingMigrations(knex, steps)
  if (names.length === 0) return []
  await knex.raw(TABLE)
  const { batch } = await knex('knex_migrations').first(knex.raw('coalesce(max(batch), 0) + 1 as batch'))
  for (const name of names) {
    await around(name, async () => {
      await runMigration(knex, name, steps[name]!, batch)
    })
  }
  return names
}

async function runMigration (
  knex: Knex,
  name: string,
  { up, online = false }: Migration,
  batch: number
): Promise<void> {
  const record = async (on: Knex): Promise<void> => {
    await on('knex_migrations').insert({ name, batch, migration_time: on.fn.now() })
  }
  if (online) {
    await up(knex)
    await record(knex)
    return
  }
  await knex.transaction(async (trx) => {
    // Migrating a large table may take longer than the time limit of statements.
    await trx.raw(
      "select set_config('statement_timeout', '0', true), set_config('lock_timeout', ?, true), " +
        "set_config('application_name', ?, true)",
      [`${LOCK_WAIT}`, MIGRATING]
    )
    await whileAtWork(knex, await trx.client.acquireConnection(), async () => {
      await up(trx)
    })
    await record(trx)
  })
}

/** @throws {@link SHOP_MIGRATION_BLOCKED} */
async function patiently (
  knex: Knex,
  log: DatabaseLog,
  limit: number,
  name: string,
  run: () => Promise<void>
): Promise<void> {
  const end = performance.now() + limit
  const waits = watchLockWaits(knex, log, name)
  try {
    for (;;) {
      try {
        await run()
        return
      } catch (error) {
        if (!metLock(error)) throw error
        if (performance.now() > end) {
          throw new SHOP_MIGRATION_BLOCKED(
            name,
            limit / 1000,
            waits.last === undefined ? '' : `The lock of ${waits.last} was in its way. `
          )
        }
        await sleep(PAUSE)
      }
    }
  } finally {
    await waits.stop()
  }
}

/**
 * The names of the pending migrations. Two short queries instead of knex's dozen, since every start and every readiness
 * check needs them.
 *
 * @throws {@link SHOP_MIGRATIONS_UNKNOWN}
 */
export async function pendingMigrations (knex: Knex, steps = migrations): Promise<readonly string[]> {
  const { rows: [{ table }] } = await knex.raw("select to_regclass('knex_migrations') as table")
  const done: readonly string[] = table === null
    ? []
    : (await knex('knex_migrations').orderBy('id').select('name')).map(({ name }) => name)
  const unknown = done.find((name) => !Object.hasOwn(steps, name) && !isLater(name, steps))
  if (unknown !== undefined) throw new SHOP_MIGRATIONS_UNKNOWN(unknown)
  return Object.keys(steps).filter((name) => !done.includes(name))
}

/** Whether a newer version added the migration: servers of this one go on beside it. */
function isLater (name: string, steps: Migrations): boolean {
  return parseInt(name, 10) > parseInt(Object.keys(steps).at(-1)!, 10)
}
