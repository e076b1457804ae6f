import { createHash } from 'node:crypto'
// By import: the tests of a host may hold the global one, and calls would wait for ever.
import { setImmediate } from 'node:timers'
import type { ApiKeyOwner } from 'fastify'
import type { Knex } from 'knex'
import { filledArrayOf, type Table } from '#shared/option-table'
import { DUAL_AUTH_INVALID_OPTION } from '../errors.ts'
import { readRow, STORED, storedFromRow } from './key-row.ts'
import { foundRow, rowsOf, textOf, type Row } from './knex-rows.ts'
import type { TableNames, TableOptions } from './names.ts'
import { must, settingsBy } from '../option-checks.ts'
import { selected } from './postgres-columns.ts'
import { isSchemaError, isUnprepared, recovering } from './postgres-errors.ts'
import type { ApiKeyStore } from './store.ts'

/** The row of an owner that comes with each of its keys. */
export interface OwnerColumns {
  /** The table of the owners, with its schema if that is not on the search path: `owners`, `app.owners`. */
  readonly table: string
  /** The column that `api_keys.owner_id` contains: of the same type, and unique. @default 'id' */
  readonly key?: string
  /**
   * The columns to read. `request.identity.owner` has them under these names, as the driver returns them. Do not change
   * what is in a JSON column: calls with the same key that share a statement share it.
   */
  readonly columns: readonly string[]
}

/** How a key is looked up. */
export interface KnexStoreOptions extends TableOptions {
  /**
   * Reads columns of the owner in the statement that reads the key, on every call. A key whose owner has no row is 401.
   * @default only the key is read
   */
  readonly owner?: OwnerColumns
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
  /** Shares a statement with other calls of the same turn of the event loop. */
  readonly find: ApiKeyStore['find']
  /** @throws {@link DUAL_AUTH_INVALID_OPTION} if the owners cannot be read, or their key is not unique */
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
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 */
export function createLookup (
  knex: Knex,
  names: TableNames,
  owners: Required<OwnerColumns> | undefined,
  namedStatements = true
): Lookup {
  // As knex spells them: hosts may have set `wrapIdentifier`.
  const quoted = (name: string) => knex.raw('??', [name]).toSQL().sql
  const joined = owners === undefined
    ? []
    : [
      `(owner.${quoted(owners.key)} is not null)::text as ownerfound`,
      ...owners.columns.map((column, i) => `owner.${quoted(column)} as owner${i}`)
    ]
  const join = owners === undefined
    ? ''
    : ` left join ${quoted(owners.table)} as owner on owner.${quoted(owners.key)} = api_keys.${names.quotedOwner}`
  const select = `select ${[selected(STORED, names.ownerColumn), ...joined].join(', ')} from ${names.quotedTable} as ` +
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

  const find: Lookup['find'] = async (fingerprints) => {
    const row = await new Promise<Row | undefined>((resolve, reject) => {
      const length = waiting.push({ fingerprints, resolve, reject })
      if (length === 1) setImmediate(flush)
      if (length === MOST) flush()
    })
    if (row === undefined) return null
    const stored = storedFromRow(readRow(foundRow(row, STORED), STORED))
    return owners === undefined ? stored : { ...stored, owner: ownerFromRow(row, owners) }
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
      const found = new Map(rows.map((row) => [textOf(row, 'fingerprint'), row]))
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

  async function check (): Promise<void> {
    if (owners === undefined) return
    const { table, key } = owners
    await recovering(isSchemaError, find([Buffer.alloc(32)]), ({ message }) => {
      // knex puts the whole statement before it.
      const reason = String(message).split(' - ').at(-1)
      throw new DUAL_AUTH_INVALID_OPTION(
        'knexStore.owner must name a table and columns that can be read, and a key of the type of ' +
          `${names.table}.${names.ownerColumn}: ${reason}`
      )
    })
    const [index] = rowsOf(await knex.raw(UNIQUE, [quoted(table), quoted(key)]))
    must(
      textOf(index, 'found') === 'true',
      `knexStore.owner.key must be unique: ${table} has no unique index on ${key} alone`
    )
  }

  return { find, check }
}

/** @returns null if the owner has no row */
function ownerFromRow (row: Row, { columns }: Required<OwnerColumns>): ApiKeyOwner | null {
  if (textOf(row, 'ownerfound') !== 'true') return null
  return Object.fromEntries(columns.map((column, i) => [column, row[`owner${i}`]])) as unknown as ApiKeyOwner
}

/** Otherwise a key could get the columns of another owner. */
const UNIQUE = `select (exists (
  select from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
  where indrelid = to_regclass(?) and attname = (parse_ident(?))[1] and indisunique and indisvalid
    and indpred is null and indnkeyatts = 1
))::text as found`

const isTable = (name: unknown): boolean => typeof name === 'string' && TABLE.test(name)
const isName = (name: unknown): boolean => typeof name === 'string' && NAME.test(name)

const OWNER: Table<Required<OwnerColumns>> = {
  table: { holds: isTable, rule: 'must be the name of a table', required: true },
  key: { holds: isName, rule: 'must be the name of a column', default: 'id' },
  columns: { ...filledArrayOf(isName, 'column names'), required: true }
}

/** @throws {@link DUAL_AUTH_INVALID_OPTION} */
export function ownerColumns (options: OwnerColumns): Required<OwnerColumns> {
  const owner = settingsBy(OWNER, options, 'knexStore.owner')
  must(new Set(owner.columns).size === owner.columns.length, 'knexStore.owner.columns must be different')
  return owner
}
