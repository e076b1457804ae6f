import { createHash } from 'node:crypto'
import type { Knex } from 'knex'

/** Of a database: whether its statements may have names. */
export interface StatementOptions {
  /**
   * Whether statements that look rows up by their keys, write single rows or read pages without a filter have names, so
   * that each connection plans them once. A pooler in transaction mode may not support names: PgBouncer does since
   * 1.21, with `max_prepared_statements` above 0.
   *
   * @default true
   */
  readonly namedStatements?: boolean
}

/** Whether the statements of this database may have names, see {@link StatementOptions}. */
export function mayName (knex: Knex): boolean {
  return knex.userParams['namedStatements'] !== false
}

/**
 * The connection has no statement of that name, or has one already that the driver does not know of: a pooler is in
 * between.
 */
const UNSUPPORTED = /^(26000|42P05)$/

/** A table has other columns than when the statement was planned: it needs another name to be planned again. */
const CHANGED = '0A000'

/** How many statements have names: the plan of a page takes 160 kB in each connection. */
const MAX_NAMES = 20

type Bindings = readonly Knex.RawBinding[]

/**
 * Runs statements with names, which each connection plans once, until their tables are analyzed. They are for
 * statements whose plan serves all values: PostgreSQL takes as long to plan a look-up by key as to run it, and three
 * times as long for a page.
 *
 * The first `max` texts have names, and later ones have none: callers cannot fill the memory of the database by sending
 * ever other fields. In a transaction nothing has a name, since a failure because of the name would end it; elsewhere a
 * statement is then repeated without.
 *
 * @param max - how many may have names
 * @returns runs SQL with `?` for its bindings, on the pool or in a transaction
 */
export function namedStatements<Row> (
  knex: Knex,
  max = MAX_NAMES
): (sql: string, bindings: Bindings, on?: Knex) => Promise<readonly Row[]> {
  let isNamed = mayName(knex)
  const names = new Map<string, { name: string, changes: number }>()

  /** A pooler's connection may know a statement of another version of this program: a name must mean one text only. */
  function rename (sql: string, changes: number): string {
    const name = `shop_${createHash('sha256').update(`${changes} ${sql}`).digest('hex').slice(0, 16)}`
    names.set(sql, { name, changes })
    return name
  }

  return async (sql, bindings, on = knex) => {
    const run = async (options: object): Promise<readonly Row[]> =>
      (await on.raw<{ rows: readonly Row[] }>(sql, bindings).options(options)).rows
    if (!isNamed || on.isTransaction === true || (names.size >= max && !names.has(sql))) return await run({})
    const name = names.get(sql)?.name ?? rename(sql, 0)
    try {
      return await run({ name })
    } catch (error) {
      const { code = '' } = error as { code?: string }
      const known = names.get(sql)!
      // Other calls may have failed for the same reason.
      if (code === CHANGED && known.name === name) rename(sql, known.changes + 1)
      else if (UNSUPPORTED.test(code)) isNamed = false
      else if (code !== CHANGED) throw error
      return await run({})
    }
  }
}

/** One statement of {@link namedStatements}. */
export function namedStatement<Row> (
  knex: Knex,
  sql: string
): (bindings: Bindings, on?: Knex) => Promise<readonly Row[]> {
  const run = namedStatements<Row>(knex)
  return async (bindings, on) => await run(sql, bindings, on)
}

/** What {@link namedStatements} runs. */
export function textOf (query: Knex.QueryBuilder): [sql: string, bindings: Bindings] {
  const { sql, bindings } = query.toSQL()
  return [sql, bindings]
}
