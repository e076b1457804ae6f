import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { AppOptions } from '../app.ts'
import { type Database, openDatabase } from '../database/index.ts'
import { clockDiffers } from '../database/clock.ts'
import { losesWrites } from '../database/durability.ts'
import { mayPass } from '../database/errors.ts'
import { migrate, refusePending } from '../migrations/migrate.ts'
import { refuseUnsuitable } from '../database/session.ts'
import { openTracing, wantsTraces } from '../operations/tracing.ts'
import { misspeltIn, sentenceOf } from '../settings/misspelt.ts'
import type { Settings } from '../settings/settings.ts'
import { setQuota } from '../shops/shop-repository.ts'
import { makeAdmins } from '../users/repository.ts'

/** How long requests in flight may take to finish at shutdown, in milliseconds. */
const GRACE = 10_000

/** How long closing may take after that, in milliseconds. */
const CLOSE = 5000

/** What a supervisor must allow for a stop beyond `SHUTDOWN_DELAY`, in milliseconds. */
export const STOPPING = GRACE + CLOSE

/** Between two tries to reach the database, in milliseconds. */
const RETRY = 1000

/**
 * Repeats what may be repeated until the database takes part: it starts later than the server, fails over or has no
 * connection left, and a supervisor would only start the server again. What somebody has to mend ends the start.
 */
async function untilReachable (log: FastifyBaseLogger, work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await work()
      return
    } catch (error) {
      if (!mayPass(error as Error)) throw error
      log.error({ err: error, needed: 'database' }, 'The server waits for its database')
      await sleep(RETRY)
    }
  }
}

/**
 * Opens the database, builds the app, brings the database up to date, listens, and stops cleanly on SIGINT and SIGTERM.
 *
 * @param prepare - work on the database between migrations and listening
 * @param demoKey - see {@link AppOptions.demoKey}
 */
export async function serve (
  config: Settings,
  prepare: (database: Database) => Promise<void> = async () => {},
  demoKey?: AppOptions['demoKey']
): Promise<FastifyInstance> {
  // The embedded engine compiles in the background while the routes and their libraries load.
  const [database, { buildApp }, tracing] = await Promise.all([
    openDatabase(config),
    import('../app.ts'),
    wantsTraces(process.env) ? openTracing() : undefined
  ])
  try {
    // First, since plugins check their options too, and a mistake there must not come after migrations.
    const app = await buildApp({ config, database, tracing, demoKey })
    for (const warning of misspeltIn(process.env)) app.log.warn(sentenceOf(warning))
    await untilReachable(app.log, async () => {
      await refuseUnsuitable(database.knex)
      if (config.MIGRATE_ON_START) await migrate(database)
      else await refusePending(database)
      await app.storedSecrets.compare()
      await setQuota(database.knex, config)
      await makeAdmins(database.knex, config.ADMIN_SUBJECTS)
    })
    for (const loss of await losesWrites(database)) app.log.warn(loss)
    const difference = await clockDiffers(database)
    if (difference !== undefined) app.log.warn(difference)
    await prepare(database)
    await app.listen({ host: config.HOST, port: config.PORT })
    closeWithGrace({ delay: config.SHUTDOWN_DELAY + STOPPING, logger: app.log }, async ({ err }) => {
      if (err !== undefined) app.log.fatal({ err }, 'The server stops because of an uncaught error')
      // After an uncaught error the state of the process is unknown: accept no more calls.
      await app.shutdown.drain(err === undefined ? config.SHUTDOWN_DELAY : 0, GRACE)
      // In this order, since plugins write their last data when they close.
      await app.close()
      await database.close()
      await tracing?.close()
      app.log.info('The server has stopped')
    })
    return app
  } catch (error) {
    await database.close()
    throw error
  }
}
