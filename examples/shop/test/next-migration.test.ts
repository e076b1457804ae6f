import { EventEmitter, on } from 'node:events'
import pg from 'pg'
import t, { type Test } from 'tap'
import { type Database, openPostgres } from '../src/database/index.ts'
import { migrate } from '../src/database/migrate.ts'
import { imageUrls } from '../src/migrations/030-image-urls.ts'
import { migrations } from '../src/migrations/index.ts'
import { createDatabase, TEST_DATABASE_URL } from './build.ts'

const skip = TEST_DATABASE_URL === undefined && 'the embedded database has one connection: set TEST_DATABASE_URL'

/** How long a reader waits for a lock before it fails, in milliseconds: for ever, if a migration waited as long as the lock before it is held. */
const MOST = 5000

const names = Object.keys(migrations)

/** A database whose only pending migration is the one that the test lets run next, and what its migrations log. */
async function openSteps (t: Test): Promise<{ database: Database, url: string, lines: string[], logged (part: string): Promise<void>, next (name: string): Promise<void> }> {
  const url = await createDatabase(t, TEST_DATABASE_URL!)
  const database = openPostgres(url)
  t.teardown(async () => await database.close())
  const lines: string[] = []
  const logs = new EventEmitter()
  const log = (line: string): void => {
    lines.push(line)
    logs.emit('line', line)
  }
  database.logTo({ warn: log, error: log })
  const { knex } = database
  await knex.raw('create table knex_migrations (id serial primary key, name varchar(255), batch integer, migration_time timestamptz)')
  await knex('knex_migrations').insert(names.map((name) => ({ name, batch: 1 })))
  const logged = async (part: string): Promise<void> => {
    for await (const [line] of on(logs, 'line')) if (line.includes(part)) return
  }
  return { database, url, lines, logged, next: async (name) => { await knex('knex_migrations').where({ name }).delete() } }
}

async function connect (t: Test, url: string, application: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: application })
  await client.connect()
  t.teardown(async () => await client.end())
  return client
}

async function tablesOf (client: pg.Client): Promise<string[]> {
  return (await client.query("select format('%I', relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'")).rows.map(({ name }) => name)
}

/** Reads all tables in a transaction that stays open, as pg_dump does. */
async function dump (client: pg.Client): Promise<void> {
  await client.query('begin')
  await client.query(`lock table ${(await tablesOf(client)).join(', ')} in access share mode`)
}

/** Reads each table once. */
async function readAll (client: pg.Client): Promise<void> {
  for (const table of await tablesOf(client)) await client.query(`select from ${table} limit 1`)
}

t.test('a migration that meets an open reading transaction does not stop other calls, and names the transaction', { skip }, async (t) => {
  const { database, url, lines, logged, next } = await openSteps(t)
  const [dumper, reader] = [await connect(t, url, 'pg_dump'), await connect(t, url, 'shop')]
  await reader.query(`set lock_timeout = ${MOST}`)
  const { rows: [{ pid }] } = await dumper.query('select pg_backend_pid() as pid')
  const blocked: string[] = []
  for (const name of names) {
    await next(name)
    await dump(dumper)
    const migrating = migrate(database)
    const waits = await Promise.race([migrating.then(() => false), logged(name).then(() => true)])
    if (waits) await t.resolves(readAll(reader), `calls go on while ${name} waits`)
    await dumper.query('rollback')
    t.strictSame(await migrating, [name])
    const [line] = lines.splice(0)
    if (!waits) continue
    blocked.push(name)
    t.match(line, new RegExp(`^Migration ${name} waits for a lock of process ${pid} \\(application pg_dump, in a transaction since \\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z\\)\\.`))
  }
  t.ok(blocked.includes('009-shop-usage') && blocked.includes('015-history') && blocked.includes('030-image-urls'), blocked.join(', '))
})

t.test('a migration that does not get its locks ends with an error, and changes nothing', { skip }, async (t) => {
  const { database: { knex }, database, url, next } = await openSteps(t)
  for (const name of names) await next(name)
  await migrate(database)
  await knex.transaction(async (trx) => { await imageUrls.down(trx) })
  await next('030-image-urls')
  const idle = await connect(t, url, '')
  await dump(idle)
  await t.rejects(migrate(database, { limit: 1000 }), {
    code: 'SHOP_MIGRATION_BLOCKED', message: /^Migration 030-image-urls did not get its locks within 1 seconds, and changed nothing\. The lock of process \d+ \(in a transaction since [^)]+\)/
  })
  t.strictSame([await knex.schema.hasColumn('products', 'image_urls'), await knex('knex_migrations').where({ name: '030-image-urls' })], [false, []])
  await idle.query('rollback')
  t.strictSame(await migrate(database), ['030-image-urls'])
})
