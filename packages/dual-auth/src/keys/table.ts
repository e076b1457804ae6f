import type { Knex } from 'knex'
import { DUAL_AUTH_INVALID_OPTION } from '../errors.ts'
import { settingsBy } from '../option-checks.ts'
import { createTable as createOtherTable } from './knex-table.ts'
import { dialectOf, NAMES, tableNames, type TableNames, type TableOptions } from './names.ts'
import { columnName, rowsOf } from './knex-rows.ts'
import { definition, POSTGRES_COLUMNS } from './postgres-columns.ts'
import { committed } from './transaction.ts'

/**
 * Creates the table `api_keys` with its indexes, if it is missing. Call it at startup or in a migration; several
 * replicas may call it at once. Rows are never deleted: a revoked key stays for the record.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION} on PostgreSQL also for a table that lacks columns; elsewhere the store finds
 *   them missing when the app starts
 */
export async function createApiKeysTable (knex: Knex, options: TableOptions = {}): Promise<void> {
  const names = tableNames(settingsBy(NAMES, options, 'createApiKeysTable'))
  const dialect = dialectOf(knex)
  if (dialect !== 'postgresql') return createOtherTable(knex, dialect, names)
  const { table, ownerColumn, quotedTable, quotedOwner } = names
  await committed(knex, async (trx) => {
    // Two simultaneous `create table if not exists` fail on the catalog's unique index.
    await trx.raw("select pg_advisory_xact_lock(hashtextextended('api_keys table', 0))")
    const missing = await missingColumns(trx, names)
    if (missing.length === 0) return
    if (missing.length < POSTGRES_COLUMNS.length) {
      throw new DUAL_AUTH_INVALID_OPTION(
        `createApiKeysTable changes no table that exists, and ${table} has no column ${missing.join(', ')}`
      )
    }
    await trx.raw(
      `create table ${quotedTable} (${POSTGRES_COLUMNS.map((column) => definition(column, ownerColumn)).join(', ')})`
    )
    const index = `${table.split('.').at(-1)}_${ownerColumn}`
    await trx.raw(`create index "${index}_created_at_index" on ${quotedTable} (${quotedOwner}, created_at)`)
    // Creating a key reads those that work, and owners may have revoked thousands.
    await trx.raw(`create index "${index}_unrevoked_index" on ${quotedTable} (${quotedOwner}) where revoked_at is null`)
  })
}

/**
 * Says why the table cannot be read, and what to do.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 */
export async function throwUnreadable (knex: Knex, names: TableNames): Promise<never> {
  const missing = await missingColumns(knex, names)
  throw new DUAL_AUTH_INVALID_OPTION(
    `apiKeys.store must be able to read the table ${names.table}, but ${whyUnreadable(names, missing)}`
  )
}

function whyUnreadable ({ creation }: TableNames, missing: readonly string[]): string {
  if (missing.length === POSTGRES_COLUMNS.length) return `the table is missing: create it with ${creation}`
  if (missing.length === 0) return 'this database user may not read it'
  return `it has no column ${missing.join(', ')}`
}

async function missingColumns (knex: Knex, { quotedTable, ownerColumn }: TableNames): Promise<readonly string[]> {
  const rows = rowsOf(
    await knex.raw(
      'select attname::text as name from pg_attribute where attrelid = to_regclass(?) and attnum > 0 and not ' +
        'attisdropped',
      [quotedTable]
    )
  )
  const present = new Set(rows.map(({ name }) => name))
  return POSTGRES_COLUMNS.map((column) => columnName(column, ownerColumn)).filter((name) => !present.has(name))
}
