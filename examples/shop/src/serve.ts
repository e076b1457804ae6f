import type { FastifyInstance } from 'fastify'
import closeWithGrace from 'close-with-grace'
import type { Config } from './config.ts'
import { type Database, openDatabase } from './database/index.ts'
import { migrate, refusePending } from './database/migrate.ts'
import { makeAdmins } from './users/repository.ts'

/** How long requests in flight may take to finish when the process is told to stop, in milliseconds. */
const GRACE = 10_000

/**
 * Opens the database, brings it up to date, listens, and stops cleanly on SIGINT and SIGTERM.
 *
 * @param prepare - work on the database between migrations and listening
 */
export async function serve (config: Config, prepare: (database: Database) => Promise<void> = async () => {}): Promise<FastifyInstance> {
  // The embedded engine compiles in the background while the routes and their libraries load.
  const [database, { buildApp }] = await Promise.all([openDatabase(config), import('./app.ts')])
  try {
    if (config.MIGRATE_ON_START) await migrate(database)
    else await refusePending(database)
    await makeAdmins(database.knex, config.ADMIN_SUBJECTS)
    await prepare(database)
    const app = await buildApp({ config, database })
    await app.listen({ host: config.HOST, port: config.PORT })
    closeWithGrace({ delay: GRACE, logger: app.log }, async () => {
      // In this order: plugins write what they still hold when they close.
      await app.close()
      await database.close()
    })
    return app
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Says why the server could not start, and ends the process. */
export function refuse (error: unknown): never {
  const { code, message, stack } = error as { code?: string, message: string, stack?: string }
  // What has a code is about the surroundings, settings or data, and needs no stack: a port that is
  // taken, a wrong option. Node has no message for a host that answers on none of its addresses.
  process.stderr.write(`${code === undefined ? stack : message || `Cannot connect: ${code}`}\n`)
  process.exit(1)
}
