import { EventEmitter, on } from 'node:events'
import type { Knex } from 'knex'
import pg from 'pg'
import t, { type Test } from 'tap'
import { run } from '../src/commands/run.ts'
import { type Database, openPostgres } from '../src/database/index.ts'
import { MIGRATING } from '../src/database/lock-waits.ts'
import { migrate, pendingMigrations, refusePending } from '../src/migrations/migrate.ts'
import { type Migrations, migrations } from '../src/migrations/index.ts'
import type { Migration } from '../src/migrations/migration.ts'
import { changeIndexes } from '../src/migrations/online.ts'
import {
  bearer,
  build,
  client,
  createDatabase,
  createShop,
  openEmptyDatabase,
  openIdentityProvider,
  openTestDatabase,
  TEST_DATABASE_URL
} from './build.ts'
import { joined } from '../../../test/joined.ts'

const skip = TEST_DATABASE_URL === undefined && 'the embedded database has one connection: set TEST_DATABASE_URL'

/**
 * How long a reader or writer waits for a lock before it fails, in milliseconds: for ever, if a migration waited as
 * long as the lock before it is held.
 */
const MOST = 5000

/** What a next version adds: a column, for which nobody else may use the table, and an index in place of another. */
const column: Migration = {
  up: async (knex) => {
    await knex.raw("alter table products add barcode text not null default 'none'")
  }
}
const index: Migration = {
  online: true,
  up: async (knex) => {
    await changeIndexes(knex, {
      create: { products_barcode: 'products (shop_id, barcode, id)' },
      drop: ['products_currency']
    })
  }
}
const next = (added: Migrations): Migrations => ({ ...migrations, ...added })
const NEXT = next({ '998-barcode': column, '999-barcode-index': index })

/** Gives a database a shop with products. */
async function fill (database: Database): Promise<string> {
  const shop = await createShop(database, 'filled')
  await database.knex.raw(
    "insert into products (shop_id, name, slug, currency) select ?, n, 'product-' || n, 'EUR' from " +
      'generate_series(1, 500) n',
    [shop]
  )
  return shop
}

interface Filled {
  readonly database: Database
  readonly shop: string
  readonly url: string
  readonly lines: string[]
  logged(part: string): Promise<void>
}

/** A filled database on a server, and what its migrations log. */
async function openFilled (t: Test): Promise<Filled> {
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
  await migrate(database)
  const logged = async (part: string): Promise<void> => {
    for await (const [line] of on(logs, 'line')) if (line.includes(part)) return
  }
  return { database, shop: await fill(database), url, lines, logged }
}

async function connect (t: Test, url: string, application: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: application,
    options: `-c lock_timeout=${MOST}`
  })
  await client.connect()
  t.teardown(async () => await client.end())
  return client
}

/** Reads all tables in a transaction that stays open, as pg_dump does. */
async function dump (client: pg.Client): Promise<void> {
  await client.query('begin')
  const { rows } = await client.query(
    "select format('%I', relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'"
  )
  await client.query(`lock table ${rows.map(({ name }) => name).join(', ')} in access share mode`)
}

const write = async (client: pg.Client, shop: string): Promise<unknown> =>
  await client.query(
    "insert into products (shop_id, name, slug, currency) select $1, id, id, 'EUR' from (select " +
      'gen_random_uuid()::text as id) given',
    [shop]
  )

async function namesOf (knex: Knex): Promise<readonly string[]> {
  return (await knex('knex_migrations').orderBy('id').select('name')).map(({ name }) => name)
}

const hasBarcode = async (knex: Knex): Promise<boolean> => await knex.schema.hasColumn('products', 'barcode')

async function isValid (knex: Knex, name: string): Promise<boolean | undefined> {
  return (await knex.raw('select indisvalid as valid from pg_index where indexrelid = to_regclass(?)', [name])).rows[0]
    ?.valid
}

/** What the products of a shop come to, and what is said of them, in bytes. */
async function used (knex: Knex, shop: string): Promise<{ readonly products: number, readonly said: number }> {
  return (await knex.raw(
    'select (select sum(bytes)::int from products) as products, (select sum(bytes)::int from shop_usage where ' +
      "shop_id = ? and kind = 'products') as said",
    [shop]
  )).rows[0]
}

/** Where the rows of each table are: another place once a migration has written the table anew. */
async function placesOf (knex: Knex): Promise<ReadonlyMap<string, number>> {
  const { rows } = await knex.raw(
    "select relname as name, pg_relation_filenode(oid) as place from pg_class where relkind = 'r' and " +
      "relnamespace = 'public'::regnamespace"
  )
  return new Map(rows.map(({ name, place }: { name: string, place: number }) => [name, place]))
}

t.test('no migration since the first release writes a table anew, while all others wait', async (t) => {
  const database = await openEmptyDatabase(t)
  const { knex } = database
  const first = Object.fromEntries(Object.entries(migrations).filter(([name]) => parseInt(name, 10) <= 11))
  await migrate(database, { steps: first })
  const shop = await fill(database)
  const [before, sizes] = [await placesOf(knex), await used(knex, shop)]
  await migrate(database, { steps: NEXT })
  const after = await placesOf(knex)
  for (const [table, place] of before) t.equal(after.get(table), place, table)
  t.strictSame(await used(knex, shop), sizes, 'and each product keeps its size')
  await knex('products').where({ shop_id: shop }).update({ description: 'x'.repeat(100) })
  const written = await used(knex, shop)
  t.equal(written.said, written.products)
  await knex('products').where({ shop_id: shop }).delete()
  t.match(await used(knex, shop), { said: 0 }, 'nothing is left of what they used')
})

t.test('a column and an index are added to a filled database, and counted in what the shop uses', async (t) => {
  const database = await openTestDatabase(t)
  const { knex } = database
  const shop = await fill(database)
  const before = await used(knex, shop)
  t.strictSame(await migrate(database, { steps: NEXT }), ['998-barcode', '999-barcode-index'])
  t.strictSame(await used(knex, shop), before, 'each product keeps its size')
  await knex('products').where({ shop_id: shop }).update({ barcode: '4006381333931' })
  const after = await used(knex, shop)
  t.ok(after.products - before.products >= 500 * '"barcode":"4006381333931",'.length, 'until it is written')
  t.equal(after.said, after.products)
  t.strictSame([await isValid(knex, 'products_barcode'), await isValid(knex, 'products_currency')], [true, undefined])
  t.strictSame(await migrate(database, { steps: NEXT }), [], 'and not once more')
})

t.test('servers of this version work on, and start, when a newer one has added a migration', async (t) => {
  const database = await openTestDatabase(t)
  const shop = await fill(database)
  const idp = await openIdentityProvider(t)
  const app = await build(t, database, idp)
  const call = client(app, `/shops/${shop}`, bearer(await idp.machineToken()))
  await migrate(database, { steps: NEXT })
  t.match([
    (await app.inject('/readyz')).statusCode,
    (await call('POST', '/products', { name: 'By the old one' })).status,
    (await call('GET', '/products')).headers['content-range']
  ], [200, 201, 'products 0-25/501'])
  await refusePending(database)
  t.strictSame(await migrate(database), [])
})

t.test('a database of another program or of an unreleased version is refused and left as it is', async (t) => {
  const opened = await openEmptyDatabase(t)
  const { knex } = opened
  await knex.raw(
    'create table knex_migrations (id serial primary key, name varchar(255), batch integer, migration_time timestamptz)'
  )
  for (
    const [names, unknown] of [
      [['001-catalog', '002-access', '033-names-of-people'], '001-catalog'],
      [['001-shops', '002-usage', '003-something-else'], '003-something-else'],
      [[...Object.keys(migrations), 'fields'], 'fields']
    ] as const
  ) {
    await knex('knex_migrations').delete()
    await knex('knex_migrations').insert(names.map((name) => ({ name, batch: 1 })))
    const refusal = {
      code: 'SHOP_MIGRATIONS_UNKNOWN',
      message:
        `The database has the migration ${unknown}, which this version does not know: another program made it, ` +
        'or a version before the first release. Nothing was changed. Run the version that made it, or set ' +
        'DATABASE_URL or DATA_DIR to an empty one'
    }
    for (
      const work of [migrate, refusePending, async () => {
        await pendingMigrations(knex)
      }]
    ) {
      await t.rejects(async () => {
        await work(opened)
      }, refusal)
    }
    t.strictSame([await namesOf(knex), await knex('pg_tables').where({ schemaname: 'public' }).pluck('tablename')], [
      names,
      ['knex_migrations']
    ])
  }
})

t.test('the commands say so too', { skip }, async (t) => {
  const url = await createDatabase(t, TEST_DATABASE_URL!)
  const { knex, close } = openPostgres(url)
  t.teardown(close)
  await knex.raw(
    'create table knex_migrations (id serial primary key, name varchar(255)); insert into knex_migrations ' +
      "(name) values ('001-catalog')"
  )
  for (const args of [['migrate'], ['migrate', '--status'], ['admin', 'add', 'someone']]) {
    t.match(await run(args, { DATABASE_URL: url }), {
      code: 1,
      stdout: '',
      stderr: /^The database has the migration 001-catalog, which/
    }, args.join(' '))
  }
  const { settings } = await openIdentityProvider(t)
  t.match(
    await run(['doctor'], {
      ...settings,
      DATABASE_URL: url,
      PUBLIC_BASE_URL: 'http://localhost:8080',
      IDP_M2M_CLIENT_IDS: 'test-machine',
      ALLOW_INSECURE: 'http-base-url,http-issuer,weak-secrets'
    }),
    { code: 1, stdout: /^fail {2}migrations {2}The database has the migration 001-catalog, which/m }
  )
})

t.test('a migration that meets an open reading transaction does not stop other calls, and names the transaction', {
  skip
}, async (t) => {
  const { database, shop, url, lines, logged } = await openFilled(t)
  const [dumper, other] = [await connect(t, url, 'pg_dump'), await connect(t, url, 'shop')]
  const { rows: [{ pid }] } = await dumper.query('select pg_backend_pid() as pid')
  await dump(dumper)
  const migrating = migrate(database, { steps: next({ '998-barcode': column }) })
  await logged('998-barcode')
  await t.resolves(other.query('select from products limit 1'))
  await t.resolves(write(other, shop))
  await dumper.query('rollback')
  t.strictSame(await migrating, ['998-barcode'])
  t.match(
    lines[0],
    new RegExp(
      `^Migration 998-barcode waits for a lock of process ${pid} \\(application pg_dump, in a transaction since ` +
        '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z\\)\\.'
    )
  )
})

t.test('a migration that does not get its locks ends with an error, and changes nothing', { skip }, async (t) => {
  const { database: { knex }, database, url } = await openFilled(t)
  const steps = next({ '998-barcode': column })
  const idle = await connect(t, url, '')
  await dump(idle)
  await t.rejects(migrate(database, { limit: 1000, steps }), {
    code: 'SHOP_MIGRATION_BLOCKED',
    message: joined(
      /^Migration 998-barcode did not get its locks within 1 seconds, and changed nothing\. /,
      /The lock of process \d+ \(in a transaction since [^)]+\)/
    )
  })
  t.strictSame([await hasBarcode(knex), await pendingMigrations(knex, steps)], [false, ['998-barcode']])
  await idle.query('rollback')
  t.strictSame(await migrate(database, { steps }), ['998-barcode'])
})

/** Ends the session that migrates, as when its process or its host dies. */
async function kill (knex: Knex): Promise<void> {
  const { rows } = await knex.raw(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and ' +
      'application_name = ?',
    [MIGRATING]
  )
  if (rows.length !== 1) throw new Error(`${rows.length} sessions migrate`)
}

t.test('an index is made while others write; one that was left half made is made again', { skip }, async (t) => {
  const { database: { knex }, database, shop, url, logged } = await openFilled(t)
  const [open, other] = [await connect(t, url, 'shop'), await connect(t, url, 'shop')]
  const steps = next({
    '998-barcode-index': {
      online: true,
      up: async (knex) => {
        await changeIndexes(knex, { create: { products_next: 'products (slug)' } })
      }
    }
  })
  for (const isKilled of [true, false]) {
    await open.query('begin')
    await write(open, shop)
    const migrating = migrate(database, { steps })
    await logged('998-barcode-index')
    await t.resolves(write(other, shop), 'writes go on')
    if (isKilled) await kill(knex)
    else await open.query('commit')
    if (isKilled) await t.rejects(migrating)
    else t.strictSame(await migrating, ['998-barcode-index'])
    t.equal(await isValid(knex, 'products_next'), !isKilled)
    if (isKilled) await open.query('commit')
  }
})

t.test(
  'a migration that is killed in the middle leaves nothing, and the next start runs it; of two servers, one does',
  { skip },
  async (t) => {
    const { database: { knex }, database, url } = await openFilled(t)
    let started = (): void => {}
    const inTheMiddle = new Promise<void>((resolve) => {
      started = resolve
    })
    const slow: Migration = {
      up: async (knex) => {
        await column.up(knex)
        started()
        await knex.raw('select pg_sleep(60)')
      }
    }
    const rejected = t.rejects(migrate(database, { steps: next({ '998-barcode': slow }) }))
    await inTheMiddle
    await kill(knex)
    await rejected
    t.strictSame([await hasBarcode(knex), await namesOf(knex)], [false, Object.keys(migrations)])
    const another = openPostgres(url)
    t.teardown(async () => await another.close())
    const ran = await Promise.all([database, another].map(async (server) => await migrate(server, { steps: NEXT })))
    t.strictSame(ran.flat(), ['998-barcode', '999-barcode-index'])
  }
)

t.test('each migration has a higher number than the one before: by it, older versions know that it is later', (t) => {
  const numbers = Object.keys(migrations).map((name) => parseInt(name, 10))
  t.strictSame(numbers, [...new Set(numbers)].sort((a, b) => a - b))
  t.end()
})
