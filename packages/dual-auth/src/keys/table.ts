import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { DUAL_AUTH_INVALID_OPTION } from '../errors.ts'
import { createTable as createOtherTable } from './knex-table.ts'
import { dialectOf, tableNames, type TableNames, type TableOptions } from './names.ts'
import { rowsOf } from './record-row.ts'
import { committed } from './transaction.ts'

/** The columns of the first version of the table, for good. Later ones may be missing, and are added. */
const createTable = ({ quotedTable, quotedShop }: TableNames) => `
  create table if not exists ${quotedTable} (
    id uuid primary key,
    ${quotedShop} text not null,
    name text not null,
    prefix text not null unique,
    scopes text[] not null default '{}',
    fingerprint bytea not null unique check (octet_length(fingerprint) = 32),
    pepper_id text not null,
    hash bytea not null,
    created_at timestamptz not null,
    created_by text not null,
    last_used_at timestamptz,
    expires_at timestamptz,
    revoked_at timestamptz,
    revoked_by text
  )`

/** Columns that later versions added. Each has a default, so that servers of the version before can go on. */
const ADDED: Readonly<Record<string, string>> = {
  replaces: 'uuid',
  replaced_by: 'uuid',
  last_used_network: 'text',
  networks: "text[] not null default '{}'",
  expiry_notice: 'smallint',
  unused_notice_at: 'timestamptz'
}

const COLUMNS = ['id', 'shop_id', 'name', 'prefix', 'scopes', 'fingerprint', 'pepper_id', 'hash', 'created_at', 'created_by', 'last_used_at', 'expires_at', 'revoked_at', 'revoked_by', ...Object.keys(ADDED)]

/** How long a statement waits for a lock, and between two tries, in milliseconds. The tries take ten minutes, nearly. */
const LOCK_WAIT = 500
const LOCK_PAUSE = 1000
const LOCK_TRIES = 400

/**
 * Creates the table `api_keys` and its indexes, or what is missing of them. Call it at startup or in a migration; several
 * replicas may call it at once. Rows are never deleted: a revoked key stays for the record.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 */
export async function createApiKeysTable (knex: Knex, options: TableOptions = {}): Promise<void> {
  const dialect = dialectOf(knex)
  if (dialect !== 'postgresql') return createOtherTable(knex, dialect, options)
  const names = tableNames(options)
  const { table, shopColumn, quotedTable, quotedShop } = names
  await withBriefLocks(knex, async trx => {
    // Two simultaneous `create table if not exists` fail on the catalog's unique index.
    await trx.raw("select pg_advisory_xact_lock(hashtextextended('api_keys table', 0))")
    await trx.raw(createTable(names))
    // Not `add column if not exists`: that locks the table even if there is nothing to add.
    const missing = (await missingColumns(trx, names)).filter(name => Object.hasOwn(ADDED, name))
    if (missing.length > 0) await trx.raw(additionOf(missing, quotedTable))
    // Neither `create index if not exists`, for the same reason.
    const present = new Set(rowsOf(await trx.raw('select relname::text as name from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = to_regclass(?)', [quotedTable])).map(({ name }) => name))
    for (const [what, columns] of [
      ['created_at', `(${quotedShop}, created_at)`],
      // Creating a key counts those that work, and shops may have revoked thousands.
      ['unrevoked', `(${quotedShop}) where revoked_at is null`]
    ]) {
      const index = `${table.split('.').at(-1)}_${shopColumn}_${what}_index`
      if (!present.has(index)) await trx.raw(`create index if not exists "${index}" on ${quotedTable} ${columns}`)
    }
  })
}

/**
 * Rolls back and tries again if somebody else, such as a dump that runs, keeps a lock: calls wait behind a statement that
 * waits. A transaction of the host has a `lock_timeout` of its own.
 */
async function withBriefLocks (knex: Knex, change: (trx: Knex.Transaction) => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await committed(knex, async trx => {
        if (!knex.isTransaction) await trx.raw(`set local lock_timeout = ${LOCK_WAIT}`)
        await change(trx)
      })
    } catch (error) {
      if ((error as { code?: unknown }).code !== '55P03' || knex.isTransaction || tries === LOCK_TRIES) throw error
      await sleep(LOCK_PAUSE)
    }
  }
}

/**
 * Says why the table cannot be read, and what to do.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 */
export async function throwUnreadable (knex: Knex, options: TableOptions): Promise<never> {
  const names = tableNames(options)
  const missing = await missingColumns(knex, names)
  const isTable = missing.length < COLUMNS.length
  const reason = !isTable
    ? 'the table is missing: create it with createApiKeysTable(knex)'
    : missing.length === 0
      ? 'this database user may not read it'
      : `it has no column ${missing.join(', ')}: call createApiKeysTable(knex)${missing.every(name => Object.hasOwn(ADDED, name)) ? `, or run ${additionOf(missing, names.table)}` : ''}`
  throw new DUAL_AUTH_INVALID_OPTION(`apiKeys.store must be able to read the table ${names.table}, but ${reason}`)
}

function additionOf (columns: readonly string[], table: string): string {
  return `alter table ${table} ${columns.map(name => `add column ${name} ${ADDED[name]}`).join(', ')}`
}

async function missingColumns (knex: Knex, { quotedTable, shopColumn }: TableNames): Promise<readonly string[]> {
  const rows = rowsOf(await knex.raw('select attname::text as name from pg_attribute where attrelid = to_regclass(?) and attnum > 0 and not attisdropped', [quotedTable]))
  const present = new Set(rows.map(({ name }) => name))
  return COLUMNS.map(name => name === 'shop_id' ? shopColumn : name).filter(name => !present.has(name))
}

/** Every column that the store reads or writes. */
export { COLUMNS }
