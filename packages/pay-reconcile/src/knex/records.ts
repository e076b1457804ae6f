import type { Knex } from 'knex'
import { PAY_RECONCILE_INVALID_OPTION } from '../errors.ts'
import { withRetries } from '../retry.ts'

/*
 * How values leave the database: as one column with JSON that PostgreSQL has written. So no value depends on the
 * DateStyle or time zone of a session, on type parsers that the host has set for its driver, or on a knex that renames
 * columns.
 */

/**
 * SQL of the column for {@link recordsOf}. Integers that may exceed 2^53 must be cast to text.
 *
 * @param fields - in SQL, by their names in the record
 */
export function record (fields: Readonly<Record<string, string>>): string {
  return `json_build_object(${Object.entries(fields).map(([name, sql]) => `'${name}', ${sql}`).join(', ')})::text as ` +
    'record'
}

/**
 * Runs a statement that selects or returns a {@link record}.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} if the host's knex changes results.
 */
export async function recordsOf<T> (knex: Knex, statement: Knex.Raw | Knex.QueryBuilder): Promise<T[]> {
  const result: unknown = await run(knex, statement)
  // A host's postProcessResponse may return the rows of a raw statement alone.
  const rows = typeof result === 'object' && result !== null && 'rows' in result ? result.rows : result
  if (!Array.isArray(rows)) throw changedResult()
  return rows.map(({ record }) => {
    if (typeof record !== 'string') throw changedResult()
    return JSON.parse(record)
  })
}

function changedResult (): Error {
  return new PAY_RECONCILE_INVALID_OPTION(
    'postProcessResponse of the knex returns something other than the rows of a statement, or renames the ' +
      'column "record": pass a knex without it'
  )
}

/** How often a statement is run that meets others. */
const TRIES = 5

/**
 * Runs a statement. One that met another one, in a deadlock or because the host's databases default to a stricter
 * isolation level than read committed, is run again as read committed, where it waits for the other one.
 */
export async function run (knex: Knex, statement: Knex.Raw | Knex.QueryBuilder): Promise<unknown> {
  return await withRetries(
    async (failed) =>
      failed === 0
        ? await statement
        : await knex.transaction(async (trx) => await statement.transacting(trx), { isolationLevel: 'read committed' }),
    // A transaction of the host is over after an error.
    (error, failed) => metAnother(error) && !knex.isTransaction && failed < TRIES
  )
}

function metAnother (error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '40001' || error.code === '40P01')
}

/**
 * A time in a {@link record} as ISO 8601 UTC with milliseconds.
 *
 * @throws RangeError for `infinity`, or a year that JavaScript does not know.
 */
export function instantFrom (value: string): string {
  // Not `new Date(value)`: of null that would be 1970.
  return new Date(Date.parse(value)).toISOString()
}

/** How many rows a query matches. */
export async function countOf (knex: Knex, query: Knex.QueryBuilder): Promise<number> {
  const [row] = await recordsOf<{ readonly count: number }>(knex, query.select(knex.raw(record({ count: 'count(*)' }))))
  return row?.count ?? 0
}

/** Whether a statement failed because of this constraint. */
export function violates (constraint: string, error: unknown): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === constraint
}

/** Whether another run has taken a shop since the statement of this one began. */
export function shopIsTaken (error: unknown): boolean {
  return violates('pay_reconcile_one_run_per_shop', error)
}
