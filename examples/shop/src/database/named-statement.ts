import { createHash } from 'node:crypto'
import type { Knex } from 'knex'

/** Of a database: whether its statements may have names. */
export interface StatementOptions {
  /**
   * Whether statements that look rows up by their keys have names, so that each connection plans them once. A pooler in
   * transaction mode may not support names: PgBouncer does since 1.21, with `max_prepared_statements` above 0.
   *
   * @default true
   */
  readonly namedStatements?: boolean
}

/** Whether the statements of this database may have names, see {@link StatementOptions}. */
export function mayName (knex: Knex): boolean {
  return knex.userParams['namedStatements'] !== false
}

/** The connection has no statement of that name, or has one already that the driver does not know of: a pooler is in between. */
const UNSUPPORTED = /^(26000|42P05)$/

/** A table has other columns than when the statement was planned: it needs another name to be planned again. */
const CHANGED = '0A000'

/**
 * A statement with a name, which each connection plans once, until its tables are analyzed. It is for look-ups by key: one
 * plan serves all values. PostgreSQL takes as long to plan such a statement as to run it.
 *
 * In a transaction it has no name, since a failure because of the name would end the transaction; elsewhere it is
 * then repeated without.
 *
 * @param sql - with `?` for its bindings
 * @returns runs it, on the pool or in a transaction
 */
export function namedStatement<Row> (knex: Knex, sql: string): (bindings: ReadonlyArray<string | null>, on?: Knex) => Promise<readonly Row[]> {
  let isNamed = mayName(knex)
  let changes = 0

  // A pooler's connection may know a statement of another version of this program: a name must mean one text only.
  const nameAfter = (changes: number): string => `shop_${createHash('sha256').update(`${changes} ${sql}`).digest('hex').slice(0, 16)}`
  let name = nameAfter(changes)

  return async (bindings, on = knex) => {
    const run = async (options: object): Promise<readonly Row[]> => (await on.raw<{ rows: readonly Row[] }>(sql, bindings).options(options)).rows
    if (!isNamed || on.isTransaction === true) return await run({})
    const used = name
    try {
      return await run({ name: used })
    } catch (error) {
      const { code = '' } = error as { code?: string }
      // Other calls may have failed for the same reason.
      if (code === CHANGED && used === name) name = nameAfter(++changes)
      else if (UNSUPPORTED.test(code)) isNamed = false
      else if (code !== CHANGED) throw error
      return await run({})
    }
  }
}
