import type { Knex } from 'knex'
import { PAY_RECONCILE_INVALID_OPTION } from '../errors.ts'
import { payStringIn } from '../lists/pay-string.ts'
import { hostTables, type AccountTable, type OnlyShop } from './account-table.ts'
import { withBriefLocks } from './brief-locks.ts'
import { record, recordsOf } from './records.ts'
import { APPEND_ONLY, STATEMENTS, TABLE_NAMES, TABLES, type TableName } from './schema.ts'
import { assertUsable, demandPostgres } from './startup.ts'

/**
 * Creates the package's own tables: audit, replaced snapshots, runs and what they found. Can be called repeatedly, and
 * inside the transaction of a migration. It changes and locks no table that exists. Needs PostgreSQL 15 or later.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} also for a table that lacks a column
 */
export async function createPayReconcileTables (knex: Knex): Promise<void> {
  demandPostgres(knex)
  await refuseEarlier(knex)
  await withBriefLocks(knex, createMissing)
  await assertUsable(demandColumns(knex, TABLE_NAMES), 'createPayReconcileTables changes no table that exists')
}

/**
 * Fails with the database's error, which has the name, if one of the package's tables is missing, lacks a column or may
 * not be read.
 */
export async function demandColumns (knex: Knex, names: readonly TableName[]): Promise<void> {
  for (const table of names) {
    const columns = Object.keys(TABLES[table].columns).map((column) => `${table}.${column}`)
    await knex.raw(`select ${columns.join(', ')} from ${table} limit 0`)
  }
}

/**
 * Tables of an earlier version do not say whose accounts their rows are about.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION}
 */
async function refuseEarlier (knex: Knex): Promise<void> {
  const named = TABLE_NAMES.filter((table) => TABLES[table].columns['registration'] !== undefined)
  const [earlier] = await recordsOf<{ readonly name: string }>(
    knex,
    knex.raw(
      `
    select ${record({ name: 'c.relname' })} from pg_class c
    where c.relname = any(?::text[]) and c.relkind in ('r', 'p') and pg_table_is_visible(c.oid)
      and not exists (select from pg_attribute where attrelid = c.oid and attname = 'registration' and not attisdropped)
    order by c.relname limit 1`,
      [named]
    )
  )
  if (earlier) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      `${earlier.name} was created by an earlier version, and does not say whose accounts its rows are about: ` +
        'call dropPayReconcileTables(knex) first, which deletes the audit, the runs and the replaced snapshots; ' +
        'the customers of accounts stay'
    )
  }
}

async function createMissing (knex: Knex): Promise<void> {
  // `if not exists` locks the table even if there is nothing to add.
  const present = await presentNames(knex)
  for (const [name, statement] of STATEMENTS) if (!present.has(name)) await knex.raw(statement)
}

async function presentNames (knex: Knex): Promise<ReadonlySet<string>> {
  const rows = await recordsOf<{ readonly name: string }>(
    knex,
    knex.raw(`select ${record({ name: 'name' })} from (
    select relname::text as name from pg_class where pg_table_is_visible(oid)
    union all select relname || '.' || tgname from pg_trigger join pg_class on pg_class.oid = tgrelid
      where pg_table_is_visible(tgrelid)
    union all select proname::text from pg_proc where pg_function_is_visible(oid)
  ) present where name like 'pay_reconcile_%'`)
  )
  return new Set(rows.map(({ name }) => name))
}

/** Drops what {@link createPayReconcileTables} created, including the audit trail. */
export async function dropPayReconcileTables (knex: Knex): Promise<void> {
  for (const table of TABLE_NAMES.toReversed()) await knex.schema.dropTableIfExists(table)
  await knex.raw(`drop function if exists ${APPEND_ONLY}()`)
}

/**
 * Creates the indexes for lists and bulk runs: by shop, by each sort field, and by parts of names if the database has
 * the extension pg_trgm. Can be called repeatedly, and creates those that are missing. On a large live table, create
 * the same indexes with CONCURRENTLY instead.
 */
export async function createAccountIndexes (
  knex: Knex,
  options: AccountTable & { readonly shop?: OnlyShop } = {}
): Promise<void> {
  const { name: table, columns: { id, shopId, name: called, hashName, details, customerId: customer } } = hostTables(
    knex,
    options
  )
  const prefix = table.replace(/\W/g, '_')
  const quoted = (column: string): string => knex.raw('??', [column]).toString()
  const customerId = customer === null
    ? payStringIn(quoted(details), 'pay_customer_id')
    : `nullif(${quoted(customer)}, '')`
  const syncedAt = payStringIn(quoted(details), 'pay_synced_at')
  const [key, name] = [quoted(id), quoted(called)]
  // Accounts without the value come last in both directions, so each direction needs an index.
  const down = (value: string): string => `(${value} desc nulls last, ${key} desc)`
  // Accounts with and without a customer have indexes of their own, so that an index alone gives the count.
  const indexes: Record<string, string> = {
    name: `(${name}, ${key})`,
    pay_id: `((${customerId}), ${key})`,
    pay_id_down: down(`(${customerId})`),
    synced_at: `(${syncedAt}, ${key})`,
    synced_at_down: down(syncedAt),
    without_pay: `(${name}, ${key}) where ${customerId} is null`,
    with_pay: `(${name}, ${key}) where ${customerId} is not null`,
    ...(hashName !== null && { hash_name: `(${quoted(hashName)}, ${key})`, hash_name_down: down(quoted(hashName)) }),
    ...(shopId !== null && {
      shop_name: `(${quoted(shopId)}, ${name}, ${key})`,
      shop: `(${quoted(shopId)}, ${key})`,
      shop_pay_id: `(${quoted(shopId)}, (${customerId}))`,
      shop_without_pay: `(${quoted(shopId)}, ${name}, ${key}) where ${customerId} is null`
    })
  }
  const schema = table.includes('.') ? `${table.slice(0, table.lastIndexOf('.'))}.` : ''
  if (await finds(knex, "pg_extension where extname = 'pg_trgm'")) indexes['part'] = `using gin (${name} gin_trgm_ops)`
  for (const [suffix, keys] of Object.entries(indexes)) {
    const index = `pay_reconcile_${prefix}_${suffix}`
    if (await finds(knex, 'pg_class where oid = to_regclass(?)', [knex.raw('??', [schema + index]).toString()])) {
      continue
    }
    await withBriefLocks(knex, async (trx) => {
      await trx.raw(`create index if not exists ?? on ?? ${keys}`, [index, table])
    })
  }
}

/** Whether a table of the catalog has such a row. @param from - in SQL */
async function finds (knex: Knex, from: string, bindings: readonly string[] = []): Promise<boolean> {
  return (await recordsOf(knex, knex.raw(`select ${record({ found: 'true' })} from ${from}`, bindings))).length > 0
}
