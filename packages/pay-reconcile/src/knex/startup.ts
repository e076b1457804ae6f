import type { Knex } from 'knex'
import { PAY_RECONCILE_INVALID_OPTION } from '../errors.ts'
import { record, recordsOf } from './records.ts'

/**
 * Distinguishes a mistake in the set-up from a database that is down. SQLSTATE class 42: a table or column is missing,
 * may not be read or has the wrong type. 3F000: the schema is missing.
 *
 * @param advice - what to do about it.
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} for a mistake, otherwise what the statement threw.
 * @see [PostgreSQL error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html)
 */
export async function assertUsable (statement: Promise<unknown>, advice: string): Promise<void> {
  await statement.catch((error) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!/^(42...|3F000)$/.test(code)) throw error
    // Knex puts the statement before the database's message.
    const reason = error.message.slice(error.message.lastIndexOf(' - ') + 1).replace(/^- /, '')
    throw new PAY_RECONCILE_INVALID_OPTION(`${reason}: ${advice}`)
  })
}

/**
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} for a knex of another database, which would understand none of the
 * statements
 */
export function demandPostgres (knex: Knex): void {
  const { dialect } = knex.client
  if (dialect !== 'postgresql') {
    throw new PAY_RECONCILE_INVALID_OPTION(
      `the stores and tables for knex need PostgreSQL, but this knex speaks ${String(dialect)}: write stores of ` +
        'your own'
    )
  }
}

/**
 * Checks that the host's knex leaves the names of tables and columns, and the results of statements, as they are. It
 * may turn camelCase into snake_case: the names here are in snake_case already.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION}
 */
export async function leavesNames (knex: Knex): Promise<void> {
  for (const name of ['pay_reconcile_run_shops', 'pay_reconcile_audit', 'shop_id', 'id']) {
    const sent = knex.raw('??', [name]).toString()
    if (sent !== `"${name}"`) {
      throw new PAY_RECONCILE_INVALID_OPTION(
        `wrapIdentifier of the knex turns ${name} into ${sent}: pass a knex that leaves names in snake_case as they are`
      )
    }
  }
  await recordsOf(knex, knex.raw(`select ${record({ shop_id: '1' })}`))
  await recordsOf(knex, knex.queryBuilder().select(knex.raw(record({ shop_id: '1' }))))
}
