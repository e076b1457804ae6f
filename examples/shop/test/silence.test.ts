import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import t from 'tap'
import { openPostgres } from '../src/database/index.ts'
import { whileAtWork } from '../src/database/long-statements.ts'
import { migrate } from '../src/migrations/migrate.ts'
import { openRedis } from '../src/operations/redis.ts'
import { RISKS } from '../src/settings/risks.ts'
import {
  BASE_URL,
  bearer,
  build,
  createDatabase,
  createShop,
  openIdentityProvider,
  TEST_DATABASE_URL
} from './build.ts'
import { startFreezingProxy } from './freezing-proxy.ts'
import { start } from './process.ts'
import { joined } from '../../../test/joined.ts'

const skip = TEST_DATABASE_URL === undefined && 'set TEST_DATABASE_URL'
const TEST_REDIS_URL = process.env['TEST_REDIS_URL']

/** Instead of 25 seconds, in milliseconds: longer than a busy machine needs for an answer. */
const SILENCE = 3000

t.test(
  'connections that die without a word are replaced, and the server is ready again by itself',
  { skip },
  async (t) => {
    const proxy = await startFreezingProxy(t, await createDatabase(t, TEST_DATABASE_URL!))
    const database = openPostgres(proxy.url, { silence: SILENCE })
    t.teardown(async () => await database.close())
    await migrate(database)
    const idp = await openIdentityProvider(t)
    const app = await build(t, database, idp, { settings: { MAX_CONCURRENT_CALLS: 100 } })
    const shop = await createShop(database, 'frozen')
    const headers = bearer(await idp.machineToken())
    const read = async (): Promise<number> => (await app.inject({ url: `/shops/${shop}/products`, headers })).statusCode
    const all = async (): Promise<Set<number>> => new Set(await Promise.all(Array.from({ length: 20 }, read)))
    t.strictSame(await all(), new Set([200]), 'every connection of the pool was used')

    proxy.freeze()
    t.equal(await read(), 503)
    t.match((await app.inject('/readyz')).json().checks.database, /ok|cannot be reached|no answer/)
    while ((await app.inject('/readyz')).statusCode !== 200) await sleep(50)
    t.strictSame(await all(), new Set([200]), 'no connection of before is left')
  }
)

t.test(
  'a statement that begins when its connection has been idle for long is not taken for a silent one',
  { skip },
  async (t) => {
    const database = openPostgres(TEST_DATABASE_URL!, { silence: 100 })
    t.teardown(async () => await database.close())
    const connection = await database.knex.client.acquireConnection()
    await new Promise((resolve) => {
      connection.connection.stream.once('timeout', resolve)
    })
    await t.resolves(Promise.resolve(database.knex.raw('select 1').connection(connection)))
    await database.knex.client.releaseConnection(connection)
  }
)

t.test('/readyz and /metrics answer while the database does not, and take a connection each at most to find out', {
  skip
}, async (t) => {
  const proxy = await startFreezingProxy(t, await createDatabase(t, TEST_DATABASE_URL!))
  const database = openPostgres(proxy.url, { silence: 4 * SILENCE })
  t.teardown(async () => await database.close())
  await migrate(database)
  const METRICS_TOKEN = 'metrics-token-of-the-test'
  const app = await build(t, database, await openIdentityProvider(t), { settings: { METRICS_TOKEN } })
  const age = async (): Promise<number> => {
    const { statusCode, body } = await app.inject({ url: '/metrics', headers: bearer(METRICS_TOKEN) })
    t.equal(statusCode, 200)
    return Number(/^pay_reconcile_scheduled_age_seconds (\d+)$/m.exec(body)?.[1])
  }
  const { pool } = database.knex.client as { pool: { numUsed(): number } }
  t.equal((await app.inject('/readyz')).statusCode, 200)
  t.equal(await age(), 0)
  await sleep(600) // the answer of /readyz serves for that long
  proxy.freeze()
  for (let probe = 0; probe < 2; probe++) {
    const { statusCode, body } = await app.inject('/readyz')
    t.strictSame([statusCode, JSON.parse(body).checks.database, pool.numUsed()], [503, 'no answer within 2000 ms', 1])
  }
  t.ok(await age() >= 1, '/metrics answers, and says how old its values are')
})

t.test('a statement of a migration may be silent while the server works at it, and ends if its connection is dead', {
  skip
}, async (t) => {
  const proxy = await startFreezingProxy(t, await createDatabase(t, TEST_DATABASE_URL!))
  const { knex, close } = openPostgres(proxy.url, { silence: SILENCE })
  t.teardown(close)
  for (const dies of [false, true]) {
    const connection = await knex.client.acquireConnection()
    const sleeps = whileAtWork(knex, connection, async () => {
      const slept = knex.raw('select pg_sleep(?)', [dies ? 0.1 : 1.2 * SILENCE / 1000]).connection(connection)
      if (dies) proxy.freeze()
      await slept
    })
    if (dies) await t.rejects(sleeps, { code: 'ETIMEDOUT' })
    else await t.resolves(sleeps)
    await knex.client.releaseConnection(connection)
  }
})

t.test('a server that starts before its database waits for it', { skip }, async (t) => {
  const proxy = await startFreezingProxy(t, await createDatabase(t, TEST_DATABASE_URL!))
  const { refused, open } = proxy.close()
  const idp = await openIdentityProvider(t)
  const starting = start(t, 'server', {
    ...idp.settings,
    DATABASE_URL: proxy.url,
    PUBLIC_BASE_URL: BASE_URL,
    ALLOW_INSECURE: RISKS.join(',')
  })
  await Promise.race([refused, starting])
  open()
  const { baseUrl, output } = await starting
  t.match(
    output(),
    joined(
      /"needed":"database","setting":"DATABASE_URL","host":"127\.0\.0\.1:\d+",/,
      /"reason":"[^"]+","failures":1,"msg":"(The server waits for its|No connection to the) database"/
    )
  )
  t.equal((await fetch(`${baseUrl}/readyz`)).status, 200)
})

t.test('a connection to Redis that dies without a word is replaced', {
  skip: TEST_REDIS_URL === undefined && 'set TEST_REDIS_URL'
}, async (t) => {
  const proxy = await startFreezingProxy(t, TEST_REDIS_URL!)
  const app = Fastify()
  const redis = await openRedis(proxy.url, app.log)
  t.teardown(() => {
    redis.disconnect()
  })
  const answers = async (): Promise<boolean> => await redis.ping().then(() => true, () => false)
  while (!await answers()) await sleep(20)
  proxy.freeze()
  t.equal(await answers(), false)
  while (!await answers()) await sleep(50)
})
