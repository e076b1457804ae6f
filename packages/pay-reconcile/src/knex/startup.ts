import { PAY_RECONCILE_INVALID_OPTION } from '../errors.ts'

/**
 * Distinguishes a mistake in the set-up from a database that is down. SQLSTATE class 42: a table or column is missing,
 * may not be read or has the wrong type. 3F000: the schema is missing.
 *
 * @param advice what to do about it.
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} for a mistake, otherwise what the statement threw.
 * @see [PostgreSQL error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html)
 */
export async function assertUsable (statement: Promise<unknown>, advice: string): Promise<void> {
  await statement.catch(error => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!/^(42...|3F000)$/.test(code)) throw error
    // Knex puts the statement before the database's message.
    const reason = error.message.slice(error.message.lastIndexOf(' - ') + 1).replace(/^- /, '')
    throw new PAY_RECONCILE_INVALID_OPTION(`${reason}: ${advice}`)
  })
}

/** A statement that fails on a table of an earlier version, whose ids have the type uuid. */
export function hasTextIds (table: string): string {
  return `select from ${table} where account_id = ''::text limit 0`
}
