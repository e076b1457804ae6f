import type { Knex } from 'knex'
import type { Table } from '#shared/option-table'
import { must } from '../option-checks.ts'

/** What the table of keys, and its column of owners, are called. */
export interface TableOptions {
  /** The table of the keys, with its schema if that is not on the search path. @default 'api_keys' */
  readonly table?: string
  /** Its column with the owner of a key, such as `workspace_id`. @default 'owner_id' */
  readonly ownerColumn?: string
}

/** The names, checked. Statements are written for `owner_id`, and read it from {@link ownerColumn}. */
export interface TableNames extends Required<TableOptions> {
  /** The table for a statement that is written by hand. */
  readonly quotedTable: string
  readonly quotedOwner: string
  /** The call that creates the table, for messages. */
  readonly creation: string
}

// As PostgreSQL folds them. Not an expression.
const COLUMN = /^[a-z_][a-z0-9_]{0,62}$/
const TABLE = /^(?:[a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,62}$/

/** As knex calls them: MySQL and MariaDB, and SQLite. */
export type OtherDialect = 'mysql' | 'sqlite3'

/**
 * @throws {@link DUAL_AUTH_INVALID_OPTION} for a knex of another database, which would understand none of the
 * statements
 */
export function dialectOf (knex: Knex): 'postgresql' | OtherDialect {
  const { dialect } = knex.client
  must(
    ['postgresql', 'mysql', 'sqlite3'].includes(dialect),
    `knexStore needs PostgreSQL, MySQL, MariaDB or SQLite, but this knex speaks ${String(dialect)}: tableStore ` +
      'makes a store of any database'
  )
  return dialect
}

/** @internal */
export const NAMES: Table<Required<TableOptions>> = {
  table: {
    holds: (name) => typeof name === 'string' && TABLE.test(name),
    rule: 'must be the name of a table, in lower case',
    default: 'api_keys'
  },
  ownerColumn: {
    holds: (name) => typeof name === 'string' && COLUMN.test(name),
    rule: 'must be the name of a column, in lower case',
    default: 'owner_id'
  }
}

export function tableNames ({ table, ownerColumn }: Required<TableOptions>): TableNames {
  return {
    table,
    ownerColumn,
    quotedTable: quoted(table),
    quotedOwner: quoted(ownerColumn),
    creation: `createApiKeysTable(knex${
      table === 'api_keys' && ownerColumn === 'owner_id' ? '' : `, { table: '${table}', ownerColumn: '${ownerColumn}' }`
    })`
  }
}

function quoted (name: string): string {
  return name.split('.').map((part) => `"${part}"`).join('.')
}
