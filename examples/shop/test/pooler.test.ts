import t from 'tap'
import { openPostgres } from '../src/database/index.ts'
import { migrate, pendingMigrations } from '../src/database/migrate.ts'
import { losesSessions } from '../src/database/pooler.ts'
import { createDatabase, TEST_DATABASE_URL } from './build.ts'
import { startPgBouncer, withoutPgBouncer } from './pgbouncer.ts'

const skip = TEST_DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set: a pooler needs a PostgreSQL server' : withoutPgBouncer

t.test('a pooler in transaction mode is told from a server, and from one in session mode', { skip }, async (t) => {
  const url = await createDatabase(t, TEST_DATABASE_URL!)
  for (const [mode, expected] of [['transaction', true], ['session', false], ['none', false]] as const) {
    const database = openPostgres(mode === 'none' ? url : await startPgBouncer(t, url, { pool_mode: mode }))
    t.teardown(async () => await database.close())
    t.equal(await losesSessions(database.knex), expected, mode)
  }
})
