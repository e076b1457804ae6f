import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openPostgres } from '../src/database/index.ts'
import { migrate } from '../src/migrations/migrate.ts'
import { migrations } from '../src/migrations/index.ts'
import { startPostgres } from '../test/postgres.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'

/** The migration of the drill, after all others, on the table that all calls use. */
const NEXT = '999-drill'

/** For how long the lock is held, in milliseconds. */
const HELD = 8000

const NAMED = 'The migration names the session that keeps it from its lock'
const SLOWEST = 'No call takes longer than 2 s'
const DONE = 'The migration is through within 5 s after the lock is gone'

export const lockHeld: Drill = {
  name: 'lock-held',
  title: 'A lock is held during a migration',
  done: 'A session reads all tables in a transaction that stays open for 8 s, as `pg_dump` does, while a migration ' +
    'adds a column.',
  may: { statuses: [], pause: 2, recovers: 3 },
  holds: [NAMED, SLOWEST, DONE],
  without: () => withoutServers,
  async run (t) {
    const { url } = await startPostgres(t)
    const at = await exercise(t, { url })
    const dumper = new pg.Client({ connectionString: url, application_name: 'pg_dump' })
    await dumper.connect()
    t.teardown(async () => {
      await dumper.end()
    })
    const { rows } = await dumper.query(
      "select format('%I', relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'"
    )
    await dumper.query('begin')
    await dumper.query(`lock table ${rows.map(({ name }) => name).join(', ')} in access share mode`)

    const database = openPostgres(url)
    t.teardown(async () => {
      await database.close()
    })
    const lines: string[] = []
    database.logTo({
      warn: (line) => {
        lines.push(line)
      },
      error: (line) => {
        lines.push(line)
      }
    })
    const steps = {
      ...migrations,
      [NEXT]: {
        up: async (knex: typeof database.knex) => {
          await knex.raw('alter table tags add column drill text')
        }
      }
    }
    const migrating = migrate(database, { steps })
    await sleep(HELD)
    await dumper.query('rollback')
    const start = performance.now()
    await migrating
    at.hold(DONE, performance.now() - start < 5000)
    at.mended()
    await at.serve()
    at.hold(
      NAMED,
      lines.some((line) =>
        line.startsWith(`Migration ${NEXT} waits for a lock of process`) && line.includes('application pg_dump')
      )
    )
    const outcome = await at.end()
    at.hold(SLOWEST, outcome.figures.slowest < 2)
    return outcome
  }
}
