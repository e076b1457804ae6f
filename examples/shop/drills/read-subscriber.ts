import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgres } from '../src/database/index.ts'
import { migrate } from '../src/migrations/migrate.ts'
import { type Postgres, postgresProgram, startPostgres } from '../test/postgres.ts'
import { folderFor, type Scope } from '../../../test/scope.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'
import { startReading } from './reading.ts'
import { METRICS_TOKEN, readsOf, run } from './replica-reads.ts'
import { until } from './until.ts'

const FRESH = 'A caller always sees what it wrote, and no list fails'
const SERVED = 'The subscriber serves lists'
const SAME = 'At the end the subscriber has as many records as the publisher'

export const readSubscriber: Drill = {
  name: 'read-subscriber',
  title: 'Lists are read from a subscriber',
  done: '`DATABASE_READ_URL` leads to a database that gets all tables by logical replication. Callers write at one ' +
    'replica and list at the other.',
  may: { statuses: [], pause: 2, recovers: 1 },
  holds: [FRESH, SERVED, SAME],
  note:
    'Migrations change no subscriber: run `npm run migrate` there first, and refresh the subscription afterwards. ' +
    'While a subscriber is behind, `/readyz` says that it follows no primary, since it is no standby.',
  without: () => withoutServers,
  async run (t) {
    const publisher = await startPostgres(t, { settings: { wal_level: 'logical' } })
    const subscriber = await subscribe(t, publisher)
    const at = await exercise(t, {
      url: publisher.url,
      settings: { DATABASE_READ_URL: subscriber.url, METRICS_TOKEN }
    })
    const reading = await startReading(t, at)
    await reading.rounds(10)
    at.hold(SERVED, await readsOf(at, 'served') > 0)
    const { wrong } = await reading.end()
    at.hold(FRESH, wrong.length === 0)
    at.mended()
    const outcome = await at.end()
    const count = async (on: Postgres) => (await run(on, 'select count(*) as records from tags')).rows[0].records
    const all = await count(publisher)
    await until('the subscriber has all records', 60, async () => await count(subscriber) === all)
    at.hold(SAME, true)
    return outcome
  }
}

/** @returns a server that has all rows of the publisher, and gets what is written there */
async function subscribe (t: Scope, publisher: Postgres): Promise<Postgres> {
  const database = openPostgres(publisher.url)
  await migrate(database)
  await database.close()
  const subscriber = await startPostgres(t)
  const folder = folderFor(t, 'subscriber')
  // PostgreSQL's own user reads it.
  chmodSync(folder, 0o755)
  const tables = join(folder, 'tables.sql')
  writeFileSync(tables, await postgresProgram('pg_dump', '--schema-only', publisher.url))
  await postgresProgram('psql', '-q', '-d', subscriber.superuser, '-f', tables)
  await run(publisher, 'create publication shop for all tables')
  const source = `host=127.0.0.1 port=${publisher.port} user=postgres dbname=shop`
  await run(subscriber, `create subscription shop connection '${source}' publication shop`)
  await until('the subscriber has all rows', 90, async () => {
    const { rows } = await run(subscriber, "select from pg_subscription_rel where srsubstate <> 'r'")
    return rows.length === 0
  })
  return subscriber
}
