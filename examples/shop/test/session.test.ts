import t, { type Test } from 'tap'
import { list as rules } from '../src/catalog/product-schemas.ts'
import { run } from '../src/commands/run.ts'
import { type Database, openPostgres } from '../src/database/index.ts'
import { migrate } from '../src/migrations/migrate.ts'
import { clockDiffers, differenceFrom } from '../src/database/clock.ts'
import { lossesFrom, losesWrites } from '../src/database/durability.ts'
import { refuseUnsuitable, unsuitable } from '../src/database/session.ts'
import { RISKS } from '../src/settings/risks.ts'
import {
  bearer,
  build,
  client,
  createDatabase,
  createShop,
  INSTANT,
  openIdentityProvider,
  TEST_DATABASE_URL
} from './build.ts'
import { startPgBouncer, withoutPgBouncer } from './pgbouncer.ts'
import { start } from './process.ts'

const skip = TEST_DATABASE_URL === undefined &&
  'TEST_DATABASE_URL is not set: the settings are those of a PostgreSQL server'

/** How many calls are made at once. */
const AT_ONCE = 24

/** @returns a server on a new database with the given settings, with a shop and a key */
async function shopOn (t: Test, settings: string) {
  const database = openPostgres(await createDatabase(t, TEST_DATABASE_URL!, settings))
  t.teardown(async () => await database.close())
  await migrate(database)
  return await shopIn(t, database)
}

async function shopIn (t: Test, database: Database) {
  const idp = await openIdentityProvider(t)
  const app = await build(t, database, idp)
  const shop = await createShop(database, 'tea')
  const asMachine = client(app, `/shops/${shop}`, bearer(await idp.machineToken()))
  const { body: { id, plaintext } } = await asMachine('POST', '/api-keys/', { name: 'key' })
  return {
    app,
    database,
    asMachine,
    keyId: id as string,
    asKey: client(app, `/shops/${shop}`, { 'x-api-key': plaintext })
  }
}

for (const style of ['German', 'SQL', 'Postgres', 'SQL, DMY']) {
  t.test(
    `lists, keys and the history have the times that were stored where DateStyle is ${style}`,
    { skip },
    async (t) => {
      const { app, database, asMachine, asKey, keyId } = await shopOn(
        t,
        `DateStyle=${style}; TimeZone=Asia/Kathmandu; IntervalStyle=sql_standard`
      )
      const made = await asKey('POST', '/products', { name: 'Tea', price_amount: 100 })
      t.equal(made.status, 201)
      const at: string = made.body.created_at
      t.match(at, INSTANT)
      t.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000, at)
      const { body: [listed] } = await asKey('GET', '/products?sort=-created_at&limit=1')
      t.equal(listed?.created_at, at)
      t.equal((await asMachine('GET', '/api-keys/')).status, 200)
      t.equal((await asMachine('GET', '/history')).status, 200)
      t.equal((await asKey('PUT', `/products/${made.body.id}/prices/EUR`, {})).status === 500, false)
      t.equal((await app.inject('/readyz')).json().checks.database, 'ok')

      t.equal((await asMachine('DELETE', `/api-keys/${keyId}`)).status, 204)
      t.equal((await asKey('GET', '/products')).status, 401, 'a revoked key')
      t.strictSame(await unsuitable(database.knex), [])
    }
  )
}

for (const isolation of ['repeatable read', 'serializable']) {
  t.test(`changes at once all happen where default_transaction_isolation is ${isolation}`, { skip }, async (t) => {
    const { asKey, asMachine } = await shopOn(t, `default_transaction_isolation=${isolation}`)
    const { body: product } = await asKey('POST', '/products', { name: 'Tea', price_amount: 1 })
    const { body: category } = await asKey('POST', '/categories', { name: 'Drinks' })
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, async (_, n) =>
      n % 3 === 0
        ? await asMachine('PATCH', `/categories/${category.id}`, { description: String(n) })
        : await asMachine('PATCH', `/products/${product.id}`, {
          price_amount: n,
          ...n % 2 === 0 && { category_ids: [category.id] }
        })))
    t.strictSame(answers.map(({ status, body }) => [status, body.code]), answers.map(() => [200, undefined]))
  })
}

for (
  const options of [
    "template template0 locale 'C'",
    "template template0 locale 'C.UTF-8'",
    "template template0 locale_provider icu icu_locale 'und' locale 'C'"
  ]
) {
  t.test(`q finds letters of any alphabet in either case in a database made with ${options}`, { skip }, async (t) => {
    const database = openPostgres(await createDatabase(t, TEST_DATABASE_URL!, '', options))
    t.teardown(async () => await database.close())
    await migrate(database)
    t.strictSame(await unsuitable(database.knex), [])
    const { asKey, asMachine } = await shopIn(t, database)
    for (const name of ['Élan', 'Ελιά', 'Чай']) {
      t.equal((await asKey('POST', '/products', { name, price_amount: 1 })).status, 201)
    }
    t.equal((await asMachine('POST', '/accounts', { name: 'Élan' })).status, 201)
    const find = async (path: string, q: string): Promise<unknown> =>
      (await asMachine('GET', `${path}?filter=${encodeURIComponent(JSON.stringify({ q }))}`)).body.map((
        row: { name?: string, record_name?: string }
      ) => row.name ?? row.record_name)
    for (
      const [q, name] of [
        ['élan', 'Élan'],
        ['ÉLAN', 'Élan'],
        ['LAN', 'Élan'],
        ['ΕΛΙ', 'Ελιά'],
        ['чай', 'Чай'],
        ['ЧАЙ', 'Чай']
      ] as const
    ) t.strictSame(await find('/products', q), [name], q)
    t.strictSame(await find('/accounts', 'éLAN'), ['Élan'])
    t.strictSame(await find('/history', 'éLAN'), ['Élan', 'Élan'])
    const searched = database.knex('products').where({ shop_id: database.knex.raw('gen_random_uuid()') }).select('id')
    rules.filters['q']!.apply(searched, 'lan' as never)
    const plan = await database.knex.transaction(async (trx) => {
      await trx.raw('set local enable_seqscan = off')
      return JSON.stringify((await trx.raw(`explain ${searched.toQuery()}`)).rows)
    })
    t.equal(plan.includes('CASE'), false, 'decided before the rows are read')
    t.equal(plan.includes('~~*'), true)
  })
}

t.test('a search finds all that matches where gin_fuzzy_search_limit would leave some out, and names are quoted', {
  skip
}, async (t) => {
  const { database, asKey } = await shopOn(
    t,
    'gin_fuzzy_search_limit=1; quote_all_identifiers=on; array_nulls=off; transform_null_equals=on; ' +
      // Plans that are switched off cost so much on paper that PostgreSQL would compile them, for seconds under load.
      'enable_seqscan=off; enable_indexscan=off; jit=off'
  )
  await database.knex.raw(
    "insert into products (shop_id, name, slug, currency) select id, 'Tea ' || n, 'tea-' || n, 'EUR' from " +
      'shops, generate_series(1, 1000) n'
  )
  // The limit counts for what is in the index, and not for what is still to be merged into it.
  await database.knex.raw('vacuum analyze products')
  const page = await asKey('GET', `/products?limit=1&filter=${encodeURIComponent('{"q":"tea"}')}`)
  t.match(page, { status: 200, headers: { 'content-range': 'products 0-1/1000' } })
})

t.test('a database that makes answers wrong or writes fail is refused with what to do', { skip }, async (t) => {
  const reasons = async (settings: string, options = ''): Promise<string> => {
    const database = openPostgres(await createDatabase(t, TEST_DATABASE_URL!, settings, options))
    t.teardown(async () => await database.close())
    return await refuseUnsuitable(database.knex).then(() => '', ({ code, message }) => `${code}: ${message}`)
  }
  const options = (encoding: string): string => `template template0 encoding '${encoding}' locale 'C'`
  t.equal(await reasons(''), '')
  t.equal(
    await reasons('', options('LATIN1')),
    'SHOP_DATABASE_UNSUITABLE: The database cannot be used: its encoding is LATIN1, and has to be UTF8: create ' +
      "another database, with encoding 'UTF8'"
  )
  t.match(await reasons('', options('SQL_ASCII')), 'its encoding is SQL_ASCII')
  t.match(
    await reasons('session_replication_role=replica'),
    'session_replication_role is replica, which turns history, quotas and foreign keys off'
  )
  t.match(await reasons('default_transaction_read_only=on'), 'it is read-only')
  t.match(await reasons('search_path=nowhere'), 'no schema of search_path exists')
})

t.test('settings by which a crash loses what was answered are named, and refuse nothing', { skip }, async (t) => {
  const lossy = async (settings: string): Promise<readonly string[]> => {
    const database = openPostgres(await createDatabase(t, TEST_DATABASE_URL!, settings))
    t.teardown(async () => await database.close())
    t.strictSame(await unsuitable(database.knex), [])
    return await losesWrites(database)
  }
  t.strictSame(await lossy(''), [])
  for (const value of ['on', 'local', 'remote_write', 'remote_apply']) {
    t.strictSame(await lossy(`synchronous_commit=${value}`), [], `${value}, where no standby is waited for`)
  }
  t.strictSame(await lossy('synchronous_commit=off'), [
    'synchronous_commit is off: a crash of PostgreSQL loses writes that were acknowledged. alter role … reset ' +
    'synchronous_commit'
  ])
  // Only the configuration of a server has the others.
  const facts = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', synchronous_standby_names: '' }
  t.strictSame(lossesFrom(facts), [])
  t.match(lossesFrom({ ...facts, fsync: 'off', full_page_writes: 'off' }), [
    /^fsync is off: a crash of the host can destroy the database/,
    /^full_page_writes is off: a crash of the host can destroy the database/
  ])
  for (const value of ['local', 'remote_write']) {
    t.match(lossesFrom({ ...facts, synchronous_commit: value, synchronous_standby_names: 'b' }), [
      new RegExp(`^synchronous_commit is ${value}: a failover loses writes that were acknowledged`)
    ])
  }
})

t.test('the server and the doctor say at the start that a crash loses writes', { skip }, async (t) => {
  const idp = await openIdentityProvider(t)
  const DATABASE_URL = await createDatabase(t, TEST_DATABASE_URL!, 'synchronous_commit=off')
  const environment = {
    ...idp.settings,
    DATABASE_URL,
    PUBLIC_BASE_URL: 'http://localhost:8080',
    ALLOW_INSECURE: RISKS.join(',')
  }
  const { output } = await start(t, 'server', environment)
  t.match(output(), /"level":40.*"msg":"synchronous_commit is off: a crash of PostgreSQL loses writes/)
  t.match((await run(['doctor'], environment)).stdout, /^warn {2}database +synchronous_commit is off: a crash/m)
})

t.test('a clock that differs from that of the database by more than the answer took is named', { skip }, async (t) => {
  for (
    const [before, now, after, expected] of [
      [100, 100, 100, undefined],
      [100, 105, 100, undefined],
      [100, 106, 100.5, /is 6 s behind .* refuses new tokens/],
      // An answer that took long says little.
      [100, 106, 112, undefined],
      [700, 100, 701, /is 600 s ahead of .* end early here/]
    ] as const
  ) {
    const found = differenceFrom(before, now, after)
    if (expected === undefined) t.equal(found, undefined, `${before} ${now} ${after}`)
    else t.match(found, expected, `${before} ${now} ${after}`)
  }
  const database = openPostgres(await createDatabase(t, TEST_DATABASE_URL!))
  t.teardown(async () => await database.close())
  t.equal(await clockDiffers(database), undefined)
})

t.test('npm run migrate, the doctor and readiness say so too', { skip }, async (t) => {
  const url = await createDatabase(t, TEST_DATABASE_URL!)
  const database = openPostgres(url)
  t.teardown(async () => await database.close())
  await migrate(database)
  const idp = await openIdentityProvider(t)
  await database.knex.raw('alter database ?? set session_replication_role = replica', [new URL(url).pathname.slice(1)])
  const later = openPostgres(url)
  t.teardown(async () => await later.close())
  const app = await build(t, later, idp)
  const ready = await app.inject('/readyz')
  t.equal(ready.statusCode, 503)
  t.match(ready.json().checks, { database: /^session_replication_role is replica/, migrations: 'ok' })
  t.match(await run(['migrate'], { DATABASE_URL: url }), {
    code: 1,
    stderr: /^The database cannot be used: session_replication_role is replica/
  })
  const examined = await run(['doctor'], {
    ...idp.settings,
    DATABASE_URL: url,
    PUBLIC_BASE_URL: 'http://localhost:8080',
    IDP_M2M_CLIENT_IDS: 'test-machine',
    ALLOW_INSECURE: 'http-base-url,http-issuer,weak-secrets'
  })
  t.match(examined, { code: 1, stdout: /^fail {2}database {4}session_replication_role is replica/m })
})

t.test(
  'behind a pooler that keeps no session, the defaults have to be right',
  { skip: skip || withoutPgBouncer },
  async (t) => {
    const through = async (settings: string): Promise<Database> => {
      const url = await createDatabase(t, TEST_DATABASE_URL!, settings)
      const direct = openPostgres(url)
      await migrate(direct)
      await direct.close()
      const database = openPostgres(await startPgBouncer(t, url, { default_pool_size: 3 }))
      t.teardown(async () => await database.close())
      return database
    }
    const { app, asKey } = await shopIn(t, await through('TimeZone=Asia/Kathmandu'))
    const { status, body } = await asKey('POST', '/products', { name: 'Tea', price_amount: 1 })
    t.equal(status, 201)
    t.ok(Math.abs(Date.parse(body.created_at) - Date.now()) < 60_000, 'in any time zone')
    t.equal((await app.inject('/readyz')).json().checks.database, 'ok')

    const strict = await through('default_transaction_isolation=serializable; DateStyle=German')
    t.strictSame(await unsuitable(strict.knex), [
      'DateStyle is German, DMY, and the pooler in transaction mode keeps no other: alter role … set DateStyle ' +
      "= 'ISO, MDY'",
      'default_transaction_isolation is serializable, and the pooler in transaction mode keeps no other: alter ' +
      "role … set default_transaction_isolation = 'read committed'"
    ])
  }
)
