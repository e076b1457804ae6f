import { createHash } from 'node:crypto'
// By import: the tests of a host may hold the global one, and calls would wait for ever.
import { setImmediate } from 'node:timers'
import type { ApiKeyShop } from 'fastify'
import type { Knex } from 'knex'
import { DUAL_AUTH_INVALID_OPTION } from '../errors.ts'
import { tableNames, type TableOptions } from './names.ts'
import { must, noOthers, object, string, strings } from '../option-checks.ts'
import { isSchemaError, isUnprepared, recovering } from './postgres-errors.ts'
import { rowsOf, selected, text, type Row } from './record-row.ts'

/** The row of a shop that comes with each of its keys. */
export interface ShopColumns {
  /** The table of the shops, with its schema if that is not on the search path: `shops`, `app.shops`. */
  readonly table: string
  /** The column that `api_keys.shop_id` contains: of the same type, and unique. @default 'id' */
  readonly key?: string
  /**
   * The columns to read. `request.identity.shop` has them under these names, as the driver returns them. Do not change
   * what is in a JSON column: calls with the same key that share a statement share it.
   */
  readonly columns: readonly string[]
}

/** How a key is looked up. */
export interface KnexStoreOptions extends TableOptions {
  /**
   * Reads columns of the shop in the statement that reads the key, on every call. A key whose shop has no row is 401.
   * @default only the key is read
   */
  readonly shop?: ShopColumns
  /**
   * Gives the statement a name, so that each connection plans it once, until its tables are analyzed: run `analyze`
   * after an import. Poolers in transaction mode may not support names: PgBouncer does since 1.21, with
   * `max_prepared_statements` above 0. A call that fails for this reason is repeated without a name, and from then on
   * none is used.
   * @default true
   */
  readonly namedStatements?: boolean
}

/** Reads keys by their fingerprints. */
export interface Lookup {
  /**
   * Shares a statement with other calls of the same turn of the event loop. `shop` is null if the shop has no row, and
   * undefined without the option.
   */
  find(
    fingerprints: readonly Buffer[]
  ): Promise<{ readonly row: Row, readonly shop: ApiKeyShop | null | undefined } | null>
  /** @throws {@link DUAL_AUTH_INVALID_OPTION} if the shops cannot be read, or their key is not unique */
  check(): Promise<void>
}

// Of a column, and of a table with or without its schema. Not `*`, nor an expression.
const NAME = /^[\p{L}_][\p{L}\p{N}_$]*$/u
const TABLE = /^[\p{L}_][\p{L}\p{N}_$]*(?:\.[\p{L}_][\p{L}\p{N}_$]*)?$/u

/** How many calls share a statement at most. */
const MOST = 16

interface Statement {
  readonly sql: string
  readonly name: string
}

/** A call whose key is looked up with the next statement. */
interface Waiting {
  readonly fingerprints: readonly Buffer[]
  readonly resolve: (row: Row | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * The statement is written once, and not built by knex on each call, which takes a fifth of the time of a look-up.
 *
 * @param columns - of `api_keys`
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 */
export function createLookup (
  knex: Knex,
  columns: Parameters<typeof selected>[1],
  { shop, namedStatements = true, table, shopColumn, ...rest }: KnexStoreOptions
): Lookup {
  noOthers('knexStore.', rest)
  const names = tableNames({ ...table !== undefined && { table }, ...shopColumn !== undefined && { shopColumn } })
  must(typeof namedStatements === 'boolean', 'knexStore.namedStatements must be true or false')
  const shops = shop === undefined ? undefined : shopColumns(shop)
  // As knex spells them: hosts may have set `wrapIdentifier`.
  const quoted = (name: string) => knex.raw('??', [name]).toSQL().sql
  const joined = shops === undefined
    ? []
    : [
      `(shop.${quoted(shops.key)} is not null)::text as shopfound`,
      ...shops.columns.map((column, i) => `shop.${quoted(column)} as shop${i}`)
    ]
  const join = shops === undefined
    ? ''
    : ` left join ${quoted(shops.table)} as shop on shop.${quoted(shops.key)} = api_keys.${names.quotedShop}`
  const select =
    `select ${[selected(names, columns, 'api_keys'), ...joined].join(', ')} from ${names.quotedTable} as ` +
    `api_keys${join} where api_keys.fingerprint in `
  /** By the number of fingerprints. */
  const statements: Statement[] = []
  let isNamed = namedStatements
  let waiting: Waiting[] = []

  /** Not `= any(?)`: of an array of unknown length, the planner expects so many rows that it does not keep the plan. */
  function statementFor (count: number): Statement {
    const sql = `${select}(${Array(count).fill('?').join(', ')})`
    // A connection, or a pooler's, may know a statement of another version: a name must mean one text only.
    const name = `dual_auth_${createHash('sha256').update(sql).digest('hex').slice(0, 16)}`
    return { sql, name }
  }

  async function find (fingerprints: readonly Buffer[]) {
    const row = await new Promise<Row | undefined>((resolve, reject) => {
      const length = waiting.push({ fingerprints, resolve, reject })
      if (length === 1) setImmediate(flush)
      if (length === MOST) flush()
    })
    return row === undefined ? null : { row, shop: shopFromRow(row) }
  }

  /**
   * Looks up for all that wait: a busy server reads several requests at a time, and one statement costs little more for
   * them.
   */
  function flush (): void {
    const calls = waiting
    waiting = []
    if (calls.length === 0) return
    rowsOfAll(calls.map(({ fingerprints }) => fingerprints)).then((rows) => {
      const found = new Map(rows.map((row) => [text(row, 'fingerprint'), row]))
      for (const { fingerprints, resolve } of calls) {
        resolve(
          fingerprints.map((fingerprint) => found.get(fingerprint.toString('hex'))).find((row) => row !== undefined)
        )
      }
    }).catch((error) => {
      for (const { reject } of calls) reject(error)
    })
  }

  async function rowsOfAll (calls: ReadonlyArray<readonly Buffer[]>): Promise<readonly Row[]> {
    // Repeated up to a power of two, so that there are few statements to plan.
    const filled = [
      ...calls,
      ...Array<readonly Buffer[]>(2 ** Math.ceil(Math.log2(calls.length)) - calls.length).fill(calls[0]!)
    ].flat()
    const { sql, name } = statements[filled.length] ??= statementFor(filled.length)
    const run = async (options: object): Promise<readonly Row[]> => rowsOf(await knex.raw(sql, filled).options(options))
    if (!isNamed) return await run({})
    return await recovering(isUnprepared, run({ name }), async () => {
      isNamed = false
      return await run({})
    })
  }

  function shopFromRow (row: Row): ApiKeyShop | null | undefined {
    if (shops === undefined) return undefined
    if (text(row, 'shopfound') !== 'true') return null
    return Object.fromEntries(shops.columns.map((column, i) => [column, row[`shop${i}`]])) as unknown as ApiKeyShop
  }

  async function check (): Promise<void> {
    if (shops === undefined) return
    const { table, key } = shops
    await recovering(isSchemaError, find([Buffer.alloc(32)]), ({ message }) => {
      // knex puts the whole statement before it.
      const reason = String(message).split(' - ').at(-1)
      throw new DUAL_AUTH_INVALID_OPTION(
        'knexStore.shop must name a table and columns that can be read, and a key of the type of ' +
          `${names.table}.${names.shopColumn}: ${reason}`
      )
    })
    const [index = {}] = rowsOf(await knex.raw(UNIQUE, [quoted(table), quoted(key)]))
    must(
      text(index, 'found') === 'true',
      `knexStore.shop.key must be unique: ${table} has no unique index on ${key} alone`
    )
  }

  return { find, check }
}

/** Otherwise a key could get the columns of another shop. */
const UNIQUE = `select (exists (
  select from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
  where indrelid = to_regclass(?) and attname = (parse_ident(?))[1] and indisunique and indisvalid
    and indpred is null and indnkeyatts = 1
))::text as found`

export function shopColumns (shop: ShopColumns): Required<ShopColumns> {
  const { table, key = 'id', columns, ...rest } = object('knexStore.shop', shop)
  noOthers('knexStore.shop.', rest)
  must(TABLE.test(string('knexStore.shop.table', table)), 'knexStore.shop.table must be the name of a table')
  must(NAME.test(string('knexStore.shop.key', key)), 'knexStore.shop.key must be the name of a column')
  must(
    strings('knexStore.shop.columns', columns, 'column names').every((column) => NAME.test(column)),
    'knexStore.shop.columns must be a list of column names'
  )
  must(
    columns.length > 0 && new Set(columns).size === columns.length,
    'knexStore.shop.columns must be a list of different column names'
  )
  return { table, key, columns }
}
