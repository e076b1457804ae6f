import type { Knex } from 'knex'
import type { Connection } from './silence.ts'

/** How long the database may take to say what a session does, in milliseconds. */
const ANSWER = 5000

/**
 * Lets statements of a connection take as long as the server works at them, such as those that migrate a large table.
 */
export async function whileAtWork (knex: Knex, connection: Connection, work: () => Promise<void>): Promise<void> {
  const { rows: [{ pid }] } = await knex.raw('select pg_backend_pid() as pid').connection(connection)
  connection.isAtWork = async () =>
    (await knex.raw("select from pg_stat_activity where pid = ? and state = 'active'", [pid]).timeout(ANSWER)).rows
      .length > 0
  try {
    await work()
  } finally {
    connection.isAtWork = undefined
  }
}
