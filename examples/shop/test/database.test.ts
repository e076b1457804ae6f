import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { run } from '../src/commands/run.ts'
import { lockDirectory } from '../src/database/directory-lock.ts'
import { openEmbedded, openPostgres } from '../src/database/index.ts'
import { ReplicaPostgresClient } from '../src/database/patient-client.ts'
import { migrate } from '../src/migrations/migrate.ts'
import { migrations } from '../src/migrations/index.ts'
import { createDatabase, createShop, openTestDatabase, TEST_DATABASE_URL } from './build.ts'
import { startAskingPostgres } from './fake-postgres.ts'

const database = await openTestDatabase(t)
const { knex } = database

t.test('a query on the pool from inside a transaction fails at once, and the transaction rolls back', {
  skip: database.engine === 'postgres' && 'a server has more than one connection'
}, async (t) => {
  await t.rejects(
    knex.transaction(async (trx) => {
      await trx('shops').insert({ slug: 'lost', name: 'lost', currency: 'EUR' })
      await knex('shops').select()
    }),
    { code: 'SHOP_QUERY_OUTSIDE_TRANSACTION' }
  )
  await t.rejects(
    knex.transaction(async (trx) => {
      await trx.transaction(async (inner) => {
        await inner('shops').select()
      })
      await knex('shops').select()
    }),
    { code: 'SHOP_QUERY_OUTSIDE_TRANSACTION' },
    'after a nested one, too'
  )
  t.strictSame(await knex('shops').where({ slug: 'lost' }), [])
})

t.test('queries beside a transaction and after it are fine', async (t) => {
  let later: Promise<unknown> = Promise.resolve()
  const inside = knex.transaction(async (trx) => {
    await trx('shops').select()
    await trx.transaction(async (inner) => {
      await inner('shops').select()
    })
    later = new Promise((resolve) => setImmediate(resolve)).then(async () => {
      await inside
      return await knex('shops').select()
    })
    return 'done'
  })
  const beside = knex('shops').select()
  t.equal(await inside, 'done')
  t.strictSame(await beside, [])
  t.strictSame(await later, [], 'work that a transaction leaves behind runs on the pool again')
})

t.test(
  'a call waits for a connection of its own server when PostgreSQL has none left, and fails if the server has none',
  { skip: TEST_DATABASE_URL === undefined && 'set TEST_DATABASE_URL' },
  async (t) => {
    const role = `limited_${process.pid}`
    const admin = openPostgres(TEST_DATABASE_URL!)
    await admin.knex.raw('create role ?? login connection limit 1', [role])
    t.teardown(async () => {
      await admin.knex.raw('drop role ??', [role])
      await admin.close()
    })
    const url = new URL(TEST_DATABASE_URL!)
    url.username = role
    const [one, other] = [openPostgres(url.href), openPostgres(url.href)]
    const calls = await Promise.allSettled(
      Array.from({ length: 5 }, async () => await one.knex.raw('select pg_sleep(0.1)'))
    )
    t.strictSame(
      calls.map(({ status }) => status),
      calls.map(() => 'fulfilled')
    )
    await t.rejects(other.knex.raw('select 1'), { code: '53300' })
    await one.close()
    await other.close()
  }
)

t.test('a missing password is named with its setting, and leaves no connection that keeps the process', async (t) => {
  const { url, connections } = await startAskingPostgres(t)
  for (
    const [setting, database] of [
      ['DATABASE_URL', openPostgres(url)],
      ['DATABASE_READ_URL', openPostgres(url, { client: ReplicaPostgresClient })]
    ] as const
  ) {
    const warned: string[] = []
    database.logTo({ warn: (line) => warned.push(line), error: (line) => warned.push(line) })
    const message = `${setting} has no password: add one, or set PGPASSWORD`
    await t.rejects(database.knex.raw('select 1'), { message })
    t.match(warned, [`Acquire connection error: Error: ${message}`])
    // The other end learns of it a moment later.
    while (await connections() > 0) await nextTurn()
    await database.close()
  }
})

t.test(
  'a role that may not create tables is told who has to allow it, by migrate and the doctor',
  { skip: TEST_DATABASE_URL === undefined && 'set TEST_DATABASE_URL' },
  async (t) => {
    const [role, second] = [`guest_${process.pid}`, `other_${process.pid}`]
    const admin = openPostgres(TEST_DATABASE_URL!)
    const url = new URL(await createDatabase(t, TEST_DATABASE_URL!))
    const name = url.pathname.slice(1)
    await admin.knex.raw('create role ?? login', [role])
    await admin.knex.raw('create role ?? login', [second])
    t.teardown(async () => {
      await admin.knex.raw('drop database ??', [name])
      await admin.knex.raw('create database ??', [name])
      await admin.knex.raw('drop role ??', [role])
      await admin.knex.raw('drop role ??', [second])
      await admin.close()
    })
    const of = (user: string): { DATABASE_URL: string } => {
      url.username = user
      return { DATABASE_URL: url.href }
    }
    const doctor = async (user: string): Promise<string> =>
      (await run(['doctor'], {
        ...of(user),
        IDP_ISSUER: 'https://idp.example/pool',
        IDP_M2M_CLIENT_IDS: 'none',
        API_KEY_PEPPERS: `1:${'aBcDeFgHiJ'.repeat(4)}`,
        PAY_KEY_SECRETS: `1:${'kLmNoPqRsT'.repeat(4)}`,
        ALLOW_INSECURE: 'http-base-url'
      })).stdout
    const lacks = `the role ${role} may not create tables in the schema public: it must own the database. As an ` +
      `administrator, run alter database ${name} owner to ${role}`
    t.strictSame(await run(['migrate'], of(role)), {
      code: 1,
      stdout: '',
      stderr: `The database cannot be used: ${lacks}\n`
    })
    const examined = await doctor(role)
    t.ok(examined.endsWith(`020-subscribers. They cannot run: ${lacks}\n`), examined)
    t.match(examined, new RegExp(`^ok {4}database {4}PostgreSQL .*, ${name} at `, 'm'))

    await admin.knex.raw('alter database ?? owner to ??', [name, role])
    t.match(await run(['migrate'], of(role)), { code: 0, stdout: /^Done: 001/ })
    const direct = openPostgres(of(role).DATABASE_URL)
    await direct.knex('knex_migrations').where({ name: '020-subscribers' }).delete()
    await direct.knex.raw('grant select on knex_migrations to public')
    await direct.close()
    t.match(await run(['migrate'], of(second)), {
      code: 1,
      stderr:
        `The database cannot be used: its tables belong to the role ${role}, not to ${second}: connect as ${role}\n`
    })
  }
)

t.test('both engines give the same JavaScript values', async (t) => {
  const { rows } = await knex.raw(`select 9007199254740991::bigint as most, count(*) as counted,
    timestamptz '2026-01-02 03:04:05.678+02' as instant, '{"a":[1]}'::jsonb as json, 1.5::float8 as float
      from (values (1), (2)) as two`)
  t.strictSame({ ...rows[0] }, {
    most: 9007199254740991,
    counted: 2,
    instant: '2026-01-02T01:04:05.678Z',
    json: { a: [1] },
    float: 1.5
  })
  await t.rejects(knex.raw('select 9007199254740992::bigint'), RangeError, 'rather than a rounded number')
  t.equal(await knex('shops').where({ slug: 'none' }).delete(), 0)
})

t.test('an instant is ISO 8601 in UTC with milliseconds in every time zone of the session', async (t) => {
  for (const zone of ['UTC', 'Asia/Kolkata', 'America/St_Johns']) {
    await knex.transaction(async (trx) => {
      await trx.raw(`set local time zone '${zone}'`)
      for (
        const [kept, expected] of [
          ['2026-01-02 03:04:05Z', '2026-01-02T03:04:05.000Z'],
          ['2026-01-02 03:04:05.6Z', '2026-01-02T03:04:05.600Z'],
          ['2026-01-02 03:04:05.067Z', '2026-01-02T03:04:05.067Z'],
          ['2026-12-31 23:59:59.999999Z', '2026-12-31T23:59:59.999Z'],
          ['0099-03-01 00:00:00Z', '0099-03-01T00:00:00.000Z'],
          ['12026-01-02 03:04:05.5Z', '+012026-01-02T03:04:05.500Z'],
          ['0002-01-02 03:04:05Z BC', '-000001-01-02T03:04:05.000Z']
        ] as const
      ) {
        const { rows: [row] } = await trx.raw('select ?::timestamptz as instant', [kept])
        t.equal(row.instant, expected, `${kept} in ${zone}`)
      }
    })
  }
})

t.test('what is no instant in ISO 8601 is an error, and not a time that is not set', async (t) => {
  for (const style of ['German', 'SQL', 'Postgres']) {
    await t.rejects(
      knex.transaction(async (trx) => {
        await trx.raw(`set local datestyle = '${style}'`)
        await trx.raw('select clock_timestamp() as instant')
      }),
      { code: 'SHOP_NO_INSTANT' },
      style
    )
  }
  await t.rejects(knex.raw("select timestamptz 'infinity' as instant"), {
    code: 'SHOP_NO_INSTANT',
    message: /as infinity,/
  })
})

t.test('a row cannot point into another shop, whatever the code does', async (t) => {
  const [here, elsewhere] = [await createShop(database, 'here'), await createShop(database, 'elsewhere')]
  const insert = async (table: string, row: object): Promise<string> =>
    (await knex(table).insert(row).returning('*'))[0].id
  const product = await insert('products', { shop_id: here, name: 'a', slug: 'a', currency: 'EUR' })
  const foreign = { shop_id: elsewhere, name: 'b', slug: 'b' }
  const category = await insert('categories', foreign)
  const tag = await insert('tags', foreign)
  const attribute = await insert('attributes', { shop_id: elsewhere, name: 'b', code: 'b', type: 'text' })

  for (const shop of [here, elsewhere]) {
    const owner = { shop_id: shop, product_id: product }
    await t.rejects(insert('product_categories', { ...owner, category_id: category }), { code: '23503' })
    await t.rejects(insert('product_tags', { ...owner, tag_id: tag }), { code: '23503' })
    await t.rejects(insert('product_attributes', { ...owner, attribute_id: attribute, value: '1' }), { code: '23503' })
  }
  await t.rejects(insert('categories', { shop_id: here, name: 'c', slug: 'c', parent_id: category }), { code: '23503' })
})

t.test('every tenant table has a shop and keys that hold it', async (t) => {
  const { rows: tables } = await knex.raw(`
    select t.table_name as name,
      exists (select from information_schema.columns c where c.table_schema = 'public' and c.table_name = t.table_name
        and c.column_name = 'shop_id' and c.is_nullable = 'NO') as scoped
    from information_schema.tables t where t.table_schema = 'public' and t.table_name not like 'knex_%'
      and t.table_name not in (
        'shops', 'shop_quota', 'users', 'history', 'pay_reconcile_registrations', 'pay_reconcile_runs',
        'pay_reconcile_schedule', 'oauth_broker', 'oauth_grants', 'standing_reverts', 'confirmations',
        'idempotency_keys'
      )`)
  // Of idempotency_keys the shop is part of the id, which is a digest: a shop is created in none.
  t.ok(tables.length >= 15)
  for (const { name, scoped } of tables) t.ok(scoped, name)

  const { rows: unique } = await knex.raw(`
    select c.conrelid::regclass::text as name, pg_get_constraintdef(c.oid) as definition from pg_constraint c
    where c.contype in ('p', 'u') and c.connamespace = 'public'::regnamespace`)
  for (const { name } of tables.filter(({ name }: { name: string }) => !name.startsWith('pay_reconcile_'))) {
    t.ok(
      unique.some((key: { name: string, definition: string }) =>
        key.name === name && /^(UNIQUE|PRIMARY KEY) .*\(shop_id, /.test(key.definition)
      ),
      `${name} has a key within its shop`
    )
  }

  const { rows: keys } = await knex.raw(`
    select conname, pg_get_constraintdef(oid) as definition from pg_constraint
    where contype = 'f' and connamespace = 'public'::regnamespace and confrelid not in (
      'shops'::regclass, 'users'::regclass, 'pay_reconcile_runs'::regclass, 'history'::regclass
    )`)
  t.ok(keys.length >= 7)
  for (const { conname, definition } of keys) {
    t.match(definition, /^FOREIGN KEY \(shop_id, \w+\) REFERENCES \w+\(shop_id, id\)/, conname)
  }
})

t.test('pictures are counted in the size of their product, and in what its shop uses', async (t) => {
  const shop = await createShop(database, 'pictured')
  const [{ id }] = await knex('products').insert({ shop_id: shop, name: 'a', slug: 'a', currency: 'EUR' }).returning(
    'id'
  )
  const size = async (): Promise<number> => {
    const { bytes } = await knex('products').where({ id }).first('bytes')
    const [usage] = await knex('shop_usage').where({ shop_id: shop, kind: 'products' }).sum({ bytes: 'bytes' })
    t.equal(Number(usage!['bytes']), bytes)
    return bytes
  }
  const before = await size()
  for (
    const [urls, bytes] of [[
      ['/é.svg', 'https://cdn.example/a.jpg'],
      Buffer.byteLength('["/é.svg", "https://cdn.example/a.jpg"]')
    ], [[], 0]] as const
  ) {
    await knex('products').where({ id }).update({ image_urls: JSON.stringify(urls) })
    t.equal(await size() - before, bytes)
  }
})

t.test('three servers that start at once on an empty database all come up', {
  skip: TEST_DATABASE_URL === undefined && 'one process at most has the embedded engine: set TEST_DATABASE_URL'
}, async (t) => {
  const url = await createDatabase(t, TEST_DATABASE_URL!)
  const servers = [openPostgres(url), openPostgres(url), openPostgres(url)]
  const ran = await Promise.all(servers.map(async (server) => await migrate(server)))
  t.strictSame(ran.flat(), Object.keys(migrations))
  await Promise.all(servers.map(async (server) => await server.close()))
})

t.test('an embedded database is opened by one process at a time, and its directory by its owner alone', async (t) => {
  const dataDir = join(t.testdir(), 'data', 'database')
  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)
  const first = await openEmbedded(dataDir)
  await t.rejects(openEmbedded(dataDir), {
    code: 'SHOP_DATA_DIRECTORY_IN_USE',
    message: new RegExp(`process ${process.pid} on`)
  })
  await first.knex.raw('create table kept (id int)')
  await first.close()
  t.strictSame([modeOf(dirname(dataDir)), modeOf(dataDir)], ['700', '700'])

  chmodSync(dataDir, 0o755)
  const second = await openEmbedded(dataDir)
  t.ok(await second.knex.schema.hasTable('kept'))
  t.equal(modeOf(dataDir), '700', 'also one that others could open')
  await second.close()
  t.notOk(existsSync(`${dataDir}.lock`))
})

t.test('an embedded database that a killed start left incomplete is created again', async (t) => {
  const dataDir = join(t.testdir({ database: { PG_VERSION: '18', incomplete: '', base: {} } }), 'database')
  for (const tables of [[], ['kept']]) {
    const opened = await openEmbedded(dataDir)
    t.strictSame(await opened.knex('pg_tables').where({ schemaname: 'public' }).pluck('tablename'), tables)
    if (tables.length === 0) await opened.knex.raw('create table kept (id int)')
    await opened.close()
    t.notOk(existsSync(join(dataDir, 'incomplete')))
  }
})

t.test('the lock of a process that is gone is taken over, any other is respected', async (t) => {
  const dataDir = join(t.testdir(), 'database')
  const lock = `${dataDir}.lock`
  const hold = (content: unknown): void =>
    writeFileSync(lock, typeof content === 'string' ? content : JSON.stringify(content))

  lockDirectory(dataDir)()
  t.notOk(existsSync(lock), 'released')

  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  hold({ host: hostname(), pid: child.pid, started: 'boot:1' })
  lockDirectory(dataDir)()

  for (
    const [who, content] of [
      ['a process on another host', { host: 'elsewhere', pid: 1, started: null }],
      ['a live process whose start is not known', { host: hostname(), pid: process.pid, started: null }],
      ['who knows whom', 'not JSON']
    ] as const
  ) {
    hold(content)
    t.throws(() => lockDirectory(dataDir), { code: 'SHOP_DATA_DIRECTORY_IN_USE' }, who)
    t.equal(readFileSync(lock, 'utf8'), typeof content === 'string' ? content : JSON.stringify(content))
  }

  if (existsSync('/proc/self/stat')) {
    hold({ host: hostname(), pid: process.pid, started: 'boot:1' })
    lockDirectory(dataDir)()
    t.pass('a live process that is not the one that took the lock')
  }
})

t.test('of many processes that find a stale lock, one gets it', async (t) => {
  const dataDir = join(t.testdir(), 'database')
  mkdirSync(dataDir)
  writeFileSync(`${dataDir}.lock`, JSON.stringify({ host: hostname(), pid: 2 ** 22 + 1, started: null }))
  const program = `
    import { lockDirectory } from ${JSON.stringify(new URL('../dist/database/directory-lock.js', import.meta.url).href)}
    try { lockDirectory(${
    JSON.stringify(dataDir)
  }); process.stdout.write('got it'); setTimeout(() => {}, 3000) } catch (error) { process.stdout.write(error.code) }`
  const outcomes = await Promise.all(Array.from({ length: 6 }, async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program])
    let said = ''
    child.stdout.on('data', (data) => {
      said += String(data)
    })
    await once(child, 'close')
    return said
  }))
  t.strictSame(outcomes.toSorted(), [...Array.from({ length: 5 }, () => 'SHOP_DATA_DIRECTORY_IN_USE'), 'got it'])
})
