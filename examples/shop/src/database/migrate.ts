import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { SHOP_MIGRATIONS_PENDING, SHOP_MIGRATIONS_POOLED } from '../errors.ts'
import { migrations } from '../migrations/index.ts'
import type { Database } from './index.ts'
import { losesSessions } from './pooler.ts'

/** An arbitrary number for the advisory lock, unlike those of other applications on the database. */
const LOCK = 7_300_001

/** Between two attempts to get the lock, in milliseconds. */
const POLL = 200

const settings: Knex.MigratorConfig = {
  migrationSource: {
    getMigrations: async () => Object.keys(migrations),
    getMigrationName: (name) => name as string,
    getMigration: async (name) => {
      const { up, down, online = false } = migrations[name as string]!
      return online ? { up, down, config: { transaction: false } } : { up: unhurried(up), down: unhurried(down) }
    }
  }
}

/** Migrating a large table may take longer than the time limit of statements. */
function unhurried (change: (knex: Knex) => Promise<void>) {
  return async (trx: Knex): Promise<void> => {
    await trx.raw('set local statement_timeout = 0')
    await change(trx)
  }
}

/**
 * Brings the tables up to date. Several processes may call it at the same time: they take turns with an advisory lock. They
 * poll it, since a session that waits for it in PostgreSQL holds a snapshot that blocks `CREATE INDEX CONCURRENTLY`.
 *
 * @returns the names of the migrations that this call ran
 * @throws {@link SHOP_MIGRATIONS_POOLED}
 */
export async function migrate ({ engine, knex }: Database): Promise<readonly string[]> {
  if (engine === 'embedded') return await runMigrations(knex) // the lock of the directory is enough
  const pending = await pendingMigrations(knex)
  if (pending.length === 0) return []
  // Behind such a pooler the lock would stay on a connection that others use, and so would a time limit that was lifted.
  if (await losesSessions(knex)) throw new SHOP_MIGRATIONS_POOLED(pending.join(', '))
  const connection = await knex.client.acquireConnection()
  try {
    while (!await tryLock(knex, connection)) await sleep(POLL)
    try {
      return await runMigrations(knex)
    } finally {
      await knex.raw('select pg_advisory_unlock(?)', [LOCK]).connection(connection)
    }
  } finally {
    await knex.client.releaseConnection(connection)
  }
}

/** @throws {@link SHOP_MIGRATIONS_PENDING} if the tables are not up to date */
export async function refusePending ({ knex }: Database): Promise<void> {
  const names = await pendingMigrations(knex)
  if (names.length > 0) throw new SHOP_MIGRATIONS_PENDING(names.join(', '))
}

async function tryLock (knex: Knex, connection: unknown): Promise<boolean> {
  const { rows } = await knex.raw('select pg_try_advisory_lock(?) as locked', [LOCK]).connection(connection)
  return rows[0].locked
}

async function runMigrations (knex: Knex): Promise<readonly string[]> {
  if ((await pendingMigrations(knex)).length === 0) return []
  // A killed process leaves knex's own lock, a row, behind; ours ends with the connection.
  await knex.migrate.forceFreeMigrationsLock(settings)
  const [, names] = await knex.migrate.latest(settings)
  return names
}

/**
 * The names of the pending migrations. Two short queries instead of knex's dozen, since every start and every readiness
 * check needs them.
 */
export async function pendingMigrations (knex: Knex): Promise<readonly string[]> {
  const { rows: [{ table }] } = await knex.raw("select to_regclass('knex_migrations') as table")
  const done = new Set(table === null ? [] : (await knex('knex_migrations').select('name')).map(({ name }) => name))
  return Object.keys(migrations).filter((name) => !done.has(name))
}
