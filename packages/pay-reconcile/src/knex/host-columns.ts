import type { Knex } from 'knex'
import { PAY_RECONCILE_INVALID_OPTION } from '../errors.ts'
import { storable } from '../details.ts'
import type { HostTables } from './account-table.ts'
import { record, recordsOf } from './records.ts'

/** Whether a column can hold a string as an id, in the same spelling as the database. */
export type IsId = (id: string) => boolean

/** What the store must know of the host's columns. */
export interface HostColumns {
  /** The check for the ids of accounts, and of shops. */
  readonly account: IsId
  readonly shop: IsId
  /** What a string is cast to for the column of accounts, in SQL. */
  readonly accountType: string
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Only the canonical form, so that an account has one URL: `007` and `+7` are not the id 7. */
const integer = (bits: number): IsId => (id) =>
  /^(0|-?[1-9]\d{0,18})$/.test(id) && BigInt.asIntN(bits, BigInt(id)) === BigInt(id)

const text: IsId = (id) => storable(id) === id

/** The supported types of id columns, by their names in PostgreSQL. */
const types: Readonly<Record<string, IsId>> = {
  uuid: (id) => UUID.test(id),
  smallint: integer(16),
  integer: integer(32),
  bigint: integer(64),
  text,
  'character varying': text,
  character: text
}

/**
 * Reads the types of the host's id columns from the database. A string that such a column cannot hold would be an error
 * (22P02, 22003, 22021) that aborts a transaction of the host.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} for an unsupported type.
 */
export async function hostColumns (
  knex: Knex,
  { accounts, shops, name: table, shopName, columns }: HostTables
): Promise<HostColumns> {
  const rows = await recordsOf<{ readonly name: string, readonly type: string }>(
    knex,
    knex.raw(
      `
    select ${record({ name: 'c.name', type: 'format_type(coalesce(nullif(t.typbasetype, 0), t.oid), null)' })}
    from (values ('account', pg_typeof((select id from ? limit 0))), ('shop', pg_typeof((select id from ? limit 0))))
      c (name, type)
    join pg_type t on t.oid = c.type`,
      [accounts('a'), shops]
    )
  )
  const typeOf = (column: string): string => rows.find(({ name }) => name === column)?.type ?? ''
  const checkOf = (column: string, id: string): IsId => {
    const check = types[typeOf(column)]
    if (!check) {
      throw new PAY_RECONCILE_INVALID_OPTION(
        `${id} must not have the type ${typeOf(column)}; supported are ${Object.keys(types).join(', ')}`
      )
    }
    return check
  }
  const accountType = typeOf('account')
  // As a type, `character` is a single one.
  return {
    account: checkOf('account', `${table}.${columns.id}`),
    shop: checkOf('shop', `${shopName}.id`),
    accountType: accountType === 'character' ? 'bpchar' : accountType
  }
}

/**
 * SQL of the names of accounts `a`, in a collation in which `ilike` knows both cases of every letter: the column's own
 * if it does, or else one of ICU. In a database whose LC_CTYPE is C, the default only knows a to z.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} if there is none.
 */
export async function searchableName (
  knex: Knex,
  { accounts, name: table, columns: { name } }: HostTables
): Promise<string> {
  const [row] = await recordsOf<{ readonly folds: boolean, readonly icu: boolean }>(
    knex,
    knex.raw(
      `select ${
        record({
          // É and é; the collation of the column is that of the expression.
          // With a collation in which different strings may be equal, `ilike` is an error.
          folds: `case when (select collisdeterministic from pg_catalog.pg_collation
              where oid = to_regcollation(collation for ((select name from :accounts limit 0)))) is false
            then false else coalesce((select name from :accounts limit 0), chr(201)) ilike chr(233) end`,
          icu: "getdatabaseencoding() = 'UTF8' and to_regcollation('pg_catalog.\"und-x-icu\"') is not null"
        })
      }`,
      { accounts: accounts('a') }
    )
  )
  if (row?.folds) return 'a.name'
  if (row?.icu) return 'a.name collate pg_catalog."und-x-icu"'
  throw new PAY_RECONCILE_INVALID_OPTION(
    `${table}.${name} must have a collation that knows both cases of every letter: this database knows them of ` +
      'a to z only (its LC_CTYPE is C) and has no ICU collations. Create the column or the database with another ' +
      'locale, such as C.UTF-8'
  )
}

/** A column of the host as the catalog has it. */
interface CatalogColumn {
  readonly name: string
  /** Of a domain, what it is based on; with its length. */
  readonly type: string
  readonly required: boolean
}

/**
 * Checks the columns of the host's table of accounts before a statement fails on one.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} for one that is missing, or in which nothing of its kind can be stored.
 */
export async function checkColumns (knex: Knex, { name: table, columns }: HostTables): Promise<void> {
  const found = await recordsOf<CatalogColumn>(
    knex,
    knex.raw(
      `
    select ${
        record({
          name: 'c.attname',
          required: 'c.attnotnull or t.typnotnull',
          type: `format_type(coalesce(nullif(t.typbasetype, 0), t.oid),
              case when t.typbasetype = 0 then c.atttypmod else t.typtypmod end)`
        })
      }
    from pg_attribute c join pg_type t on t.oid = c.atttypid
    where c.attrelid = to_regclass(?) and c.attnum > 0 and not c.attisdropped`,
      [knex.raw('??', [table]).toString()]
    )
  )
  // A table that is missing is an error of the statements.
  if (found.length === 0) return
  for (const [option, column] of Object.entries(columns)) {
    if (column === null) continue
    const name = knex.raw('??', [column]).toString().slice(1, -1)
    const one = found.find((each) => each.name === name)
    const problem = one
      ? checks[option as keyof typeof checks]?.(one)
      : `does not exist: name the right one in columns.${option}${option === 'hashName' ? ', or set that to null' : ''}`
    if (problem !== undefined) throw new PAY_RECONCILE_INVALID_OPTION(`the column ${table}.${name} ${problem}`)
  }
}

/** What a column must be beyond being there. @returns the problem */
const checks: { readonly [option in keyof HostTables['columns']]?: (column: CatalogColumn) => string | undefined } = {
  details: ({ type }) => /^jsonb?$/.test(type) ? undefined : `must have the type jsonb or json, and not ${type}`,
  customerId: ({ type, required }) => {
    const [, length] = /^character varying(?:\((\d+)\))?$/.exec(type) ?? []
    // The provider's ids may have 255 characters.
    if (type !== 'text' && (!type.startsWith('character varying') || Number(length ?? 255) < 255)) {
      return `must have the type text, or varchar of 255 at least, and not ${type}`
    }
    return required ? 'must allow null: that stands for an account without a customer' : undefined
  }
}
