import type { Knex } from 'knex'

/** How often the two connections are compared. */
const ATTEMPTS = 3

/**
 * Whether a pooler is between this program and PostgreSQL that gives each transaction another connection, so that a
 * connection of this program is no session: locks and settings that outlive a transaction stay on a connection that
 * others use.
 *
 * A connection that is not in a transaction keeps its process of the server to itself only if it is a session. While
 * others keep such a pooler busy, it may go unnoticed.
 */
export async function losesSessions (knex: Knex): Promise<boolean> {
  const connection = await knex.client.acquireConnection()
  const own = async (): Promise<number> => await processOf(async (sql) => await knex.raw(sql).connection(connection))
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const before = await own()
      const other = await knex.transaction(async (trx) => await processOf(async (sql) => await trx.raw(sql)))
      if (other === before || await own() !== before) return true
    }
    return false
  } finally {
    await knex.client.releaseConnection(connection)
  }
}

async function processOf (
  run: (sql: string) => Promise<{ readonly rows: ReadonlyArray<{ readonly pid: number }> }>
): Promise<number> {
  const { rows: [row] } = await run('select pg_backend_pid() as pid')
  return row!.pid
}

/**
 * How to limit the time of statements where the limit that the driver sends when it connects does not reach PostgreSQL.
 */
export const TIME_LIMIT_REMEDY = "alter role … set statement_timeout = '20s'"

/**
 * @returns what to do about the error of a pooler that refuses what the driver sends when it connects; undefined for
 * other errors
 */
export function remedyForPooler ({ message = '' }: { readonly message?: string }): string | undefined {
  return /unsupported startup parameter/.test(message)
    ? 'PgBouncer needs ignore_startup_parameters = statement_timeout. Then set the limit for the role: ' +
      `${TIME_LIMIT_REMEDY}`
    : undefined
}
