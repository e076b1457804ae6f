import t, { type Test } from 'tap'
import { run } from '../src/commands/run.ts'
import { openPostgres } from '../src/database/index.ts'
import { placeFrom } from '../src/database/place.ts'
import { migrate } from '../src/migrations/migrate.ts'
import { losesSessions } from '../src/database/pooler.ts'
import { migrations } from '../src/migrations/index.ts'
import { bearer, build, client, createDatabase, createShop, openIdentityProvider, TEST_DATABASE_URL } from './build.ts'
import { keepsNames, startPgBouncer, withoutPgBouncer } from './pgbouncer.ts'
import { joined } from '../../../test/joined.ts'

const skip = TEST_DATABASE_URL === undefined
  ? 'TEST_DATABASE_URL is not set: a pooler needs a PostgreSQL server'
  : withoutPgBouncer

/** Fewer than the shop opens, so that its calls share them. */
const CONNECTIONS = 3

/** How many are made at once: enough to share, and not so many that a busy machine lets them wait for too long. */
const KEYS = 4
const PRODUCTS = 9

/** What a driver may get for a name that its connection does not know, or knows from somebody else. */
const NAME_ERRORS = ['26000', '42P05']

/** A database with its tables, made past the pooler, and its URL through it. */
async function pooled (t: Test): Promise<string> {
  const url = await createDatabase(t, TEST_DATABASE_URL!)
  const direct = openPostgres(url)
  await migrate(direct)
  await direct.knex.raw("alter database ?? set statement_timeout = '20s'", [new URL(url).pathname.slice(1)])
  await direct.close()
  return await startPgBouncer(t, url, { default_pool_size: CONNECTIONS })
}

t.test('a pooler in transaction mode is told from a server, and from one in session mode', { skip }, async (t) => {
  const url = await createDatabase(t, TEST_DATABASE_URL!)
  for (const [mode, expected] of [['transaction', true], ['session', false], ['none', false]] as const) {
    const database = openPostgres(mode === 'none' ? url : await startPgBouncer(t, url, { pool_mode: mode }))
    t.teardown(async () => await database.close())
    t.equal(await losesSessions(database.knex), expected, mode)
  }
})

for (const namedStatements of [true, false]) {
  t.test(`the shop works through a pooler in transaction mode, with${namedStatements ? '' : 'out'} named statements`, {
    skip
  }, async (t) => {
    const url = await pooled(t)
    // Two servers, so that their connections to the pooler meet in those of the database.
    const databases = [1, 2].map(() => openPostgres(url, { namedStatements }))
    for (const database of databases) t.teardown(async () => await database.close())
    const idp = await openIdentityProvider(t, ['kim'])
    const apps = await Promise.all(
      databases.map(async (database) => await build(t, database, idp, { settings: { MAX_EVENT_LOOP_DELAY: 0 } }))
    )
    const failed: string[] = []
    for (const { knex } of databases) {
      knex.on('query-error', ({ code }: { code: string }) => {
        failed.push(code)
      })
    }
    const shop = await createShop(databases[0]!, 'pooled')
    const machine = bearer(await idp.machineToken())
    const asMachine = client(apps[0]!, `/shops/${shop}`, machine)

    // In parallel: each takes the shop's advisory lock in its transaction.
    const keys = await Promise.all(
      Array.from({ length: KEYS }, async (_, n) => await asMachine('POST', '/api-keys/', { name: `key ${n}` }))
    )
    t.strictSame(keys.map(({ status }) => status), keys.map(() => 201))
    const headers = { 'x-api-key': keys[0]!.body.plaintext as string }
    const [one, other] = apps.map((app) => client(app, `/shops/${shop}`, headers)) as [
      typeof asMachine,
      typeof asMachine
    ]
    const tool = async (name: string, args: object): Promise<Record<string, unknown>> => {
      const response = await apps[1]!.inject({
        method: 'POST',
        url: '/mcp',
        headers: { ...headers, accept: 'application/json, text/event-stream' },
        payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
      })
      return response.json().result
    }

    const tag = (await one('POST', '/tags', { name: 'Tea' })).body.id as string
    // Beside many reads by key, so that a name meets every connection.
    const made = await Promise.all(Array.from({ length: PRODUCTS }, async (_, n) => {
      const { status, body } = await (n % 2 === 0 ? one : other)('POST', '/products', {
        name: `Product ${n}`,
        price_amount: n,
        ...n % 3 === 0 && { tag_ids: [tag] }
      })
      const found = await Promise.all([one, other].map(async (as) => await as('GET', `/products/${body.id}`)))
      return [status, ...found.map(({ status }) => status), ...found.map((answer) => answer.body.name === body.name)]
    }))
    t.strictSame(made, made.map(() => [201, 200, 200, true, true]))

    const page = await one(
      'GET',
      `/products?limit=2&sort=-price_amount&filter=${encodeURIComponent(JSON.stringify({ tag_ids: [tag] }))}`
    )
    t.strictSame([page.status, page.headers['content-range'], page.body.length], [200, 'products 0-2/3', 2])
    const [{ id: product }] = page.body
    t.match(await tool('get_product', { product_id: product }), { structuredContent: { id: product, tag_ids: [tag] } })
    t.match(await tool('update_product', { product_id: product, name: 'Renamed', tag_ids: [] }), {
      structuredContent: { name: 'Renamed', tag_ids: [] }
    })

    // Deleted and restored, which takes transactions of several statements.
    t.equal((await one('DELETE', `/tags/${tag}`)).status, 204)
    const [deletion] = (await asMachine(
      'GET',
      `/history?limit=1&filter=${encodeURIComponent(JSON.stringify({ record_id: [tag], action: ['delete'] }))}`
    )).body
    t.equal((await asMachine('POST', `/history/${deletion.id}/revert`)).status, 200)
    t.equal((await one('GET', `/tags/${tag}`)).body.name, 'Tea')
    t.equal(
      (await one('GET', `/products?limit=1&filter=${encodeURIComponent(JSON.stringify({ tag_ids: [tag] }))}`))
        .headers['content-range'],
      'products 0-1/2'
    )

    const kim = bearer(await idp.userToken('kim'))
    t.equal((await client(apps[1]!, '', kim)('GET', '/me')).status, 200)
    t.equal((await client(apps[1]!, '', kim)('GET', `/shops/${shop}/products`)).status, 403)

    t.equal((await asMachine('POST', `/api-keys/${keys[1]!.body.id}/rotate`, {})).status, 201)
    t.equal((await asMachine('DELETE', `/api-keys/${keys[0]!.body.id}`)).status, 204)
    t.strictSame([(await one('GET', '/products')).status, (await other('GET', '/products')).status], [401, 401])

    const allowed = namedStatements && !keepsNames ? NAME_ERRORS : []
    t.strictSame(failed.filter((code) => !allowed.includes(code)), [])
  })
}

t.test(
  'a server behind the pooler starts on tables that are up to date, and otherwise says how to bring them up to date',
  { skip },
  async (t) => {
    const url = await createDatabase(t, TEST_DATABASE_URL!)
    const through = await startPgBouncer(t, url)
    const all = Object.keys(migrations).join(', ')
    const settings = { DATABASE_URL: through }
    const stderr = (of: string): string => `Database: ${placeFrom(of)}\n`
    t.strictSame(await run(['migrate', '--status'], settings), {
      code: 1,
      stdout: `Pending: ${all}\n`,
      stderr: stderr(through)
    })
    t.strictSame(await run(['migrate'], settings), {
      code: 1,
      stdout: '',
      stderr: `Migrations are pending: ${all}. DATABASE_URL leads through a pooler in transaction mode, which cannot ` +
        'run them. Run npm run migrate with the URL of the PostgreSQL server itself\n'
    })
    t.strictSame(await run(['migrate'], { DATABASE_URL: url }), {
      code: 0,
      stdout: `Done: ${all}\n`,
      stderr: stderr(url)
    })
    t.strictSame(await run(['migrate'], settings), { code: 0, stdout: 'Already up to date\n', stderr: stderr(through) })
  }
)

t.test('the doctor finds the pooler, and that statements have no time limit behind it', { skip }, async (t) => {
  const url = await pooled(t)
  const idp = await openIdentityProvider(t)
  const examine = async (DATABASE_URL: string): Promise<string> =>
    (await run(['doctor'], {
      ...idp.settings,
      DATABASE_URL,
      PUBLIC_BASE_URL: 'http://localhost:8080',
      IDP_M2M_CLIENT_IDS: 'test-machine',
      ALLOW_INSECURE: 'http-base-url,http-issuer,weak-secrets'
    })).stdout
  t.match(
    await examine(url),
    /^ok {4}pooler {13}in transaction mode\. Run migrations with the URL of the PostgreSQL server itself$/m
  )
  const unlimited = await createDatabase(t, TEST_DATABASE_URL!)
  t.match(
    await examine(await startPgBouncer(t, unlimited)),
    /^warn {2}pooler {6}statements have no time limit, .*: alter role … set statement_timeout = '20s'$/m
  )
  t.notMatch(await examine(unlimited), 'pooler')
  const short = await createDatabase(t, TEST_DATABASE_URL!, 'statement_timeout=500ms')
  t.match(
    await examine(await startPgBouncer(t, short)),
    /^warn {2}pooler {6}statements end after 500ms, .*: alter role … set statement_timeout = '20s'$/m
  )
})

t.test('a pooler that refuses the time limit is an error that says what to set', { skip }, async (t) => {
  const through = await startPgBouncer(t, await createDatabase(t, TEST_DATABASE_URL!), {
    ignore_startup_parameters: ''
  })
  t.match(await run(['migrate'], { DATABASE_URL: through }), {
    code: 1,
    stdout: '',
    stderr: joined(
      /unsupported startup parameter: statement_timeout\. /,
      /PgBouncer needs ignore_startup_parameters = statement_timeout\. /,
      /Then set the limit for the role: alter role … set statement_timeout = '20s'\n$/
    )
  })
})
