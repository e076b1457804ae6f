import type { Knex } from 'knex'
import { BOOLEAN, type Complete, OBJECT, type Table } from '#shared/option-table'
import { must, settingsBy } from '../option-checks.ts'
import { tableStore } from './key-table.ts'
import { knexTable } from './knex-table.ts'
import { createLookup, ownerColumns, type KnexStoreOptions, type OwnerColumns } from './lookup.ts'
import { dialectOf, NAMES, tableNames, type TableOptions } from './names.ts'
import { createList } from './postgres-list.ts'
import { postgresTable } from './postgres-table.ts'
import type { ApiKeyStore } from './store.ts'

export { createApiKeysTable } from './table.ts'

export type { KnexStoreOptions, OwnerColumns } from './lookup.ts'
export type { TableOptions } from './names.ts'

const TABLE: Table<Complete<KnexStoreOptions, 'owner' | 'namedStatements'>> = {
  ...NAMES,
  owner: OBJECT,
  namedStatements: BOOLEAN
}

/**
 * Stores keys in the table `api_keys` of PostgreSQL, MySQL, MariaDB or SQLite, or in one of another name. If you read
 * from replicas, pass a knex that reads the primary: a revoked key keeps working for as long as a replica lags.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 * @see {@link createApiKeysTable}
 */
export function knexStore (knex: Knex, options: KnexStoreOptions = {}): ApiKeyStore {
  const { owner, namedStatements, ...names } = settingsBy(TABLE, options, 'knexStore')
  const owners = owner && ownerColumns(owner)
  const dialect = dialectOf(knex)
  if (dialect === 'postgresql') return postgresStore(knex, names, owners, namedStatements)
  must(namedStatements === undefined, 'knexStore.namedStatements is for PostgreSQL')
  return tableStore(knexTable(knex, dialect, names, owners))
}

/** Two reads are statements of their own: that of each call, and that of a list. */
function postgresStore (
  knex: Knex,
  options: Required<TableOptions>,
  owners: Required<OwnerColumns> | undefined,
  namedStatements: boolean | undefined
): ApiKeyStore {
  const names = tableNames(options)
  const store = tableStore(postgresTable(knex, names))
  const lookup = createLookup(knex, names, owners, namedStatements)
  return {
    ...store,
    async ready () {
      await store.ready?.()
      await lookup.check()
    },
    find: lookup.find,
    list: createList(knex, names)
  }
}
