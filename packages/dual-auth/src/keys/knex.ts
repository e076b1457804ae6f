import type { Knex } from 'knex'
import { must, noOthers } from '../option-checks.ts'
import { tableStore } from './key-table.ts'
import { knexTable } from './knex-table.ts'
import { createLookup, ownerColumns, type KnexStoreOptions } from './lookup.ts'
import { dialectOf, tableNames } from './names.ts'
import { createList } from './postgres-list.ts'
import { postgresTable } from './postgres-table.ts'
import type { ApiKeyStore } from './store.ts'

export { createApiKeysTable } from './table.ts'

export type { KnexStoreOptions, OwnerColumns } from './lookup.ts'
export type { TableOptions } from './names.ts'

/**
 * Stores keys in the table `api_keys` of PostgreSQL, MySQL, MariaDB or SQLite, or in one of another name. If you read
 * from replicas, pass a knex that reads the primary: a revoked key keeps working for as long as a replica lags.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 * @see {@link createApiKeysTable}
 */
export function knexStore (knex: Knex, options: KnexStoreOptions = {}): ApiKeyStore {
  const { owner, namedStatements, table, ownerColumn, ...rest } = options
  noOthers('knexStore.', rest)
  const dialect = dialectOf(knex)
  if (dialect === 'postgresql') return postgresStore(knex, options)
  must(namedStatements === undefined, 'knexStore.namedStatements is for PostgreSQL')
  return tableStore(knexTable(knex, dialect, options, owner === undefined ? undefined : ownerColumns(owner)))
}

/** Two reads are statements of their own: that of each call, and that of a list. */
function postgresStore (knex: Knex, options: KnexStoreOptions): ApiKeyStore {
  const names = tableNames(options)
  const store = tableStore(postgresTable(knex, names))
  const lookup = createLookup(knex, names, options)
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
