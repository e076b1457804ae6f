import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createDatabase, createShop, TEST_DATABASE_URL } from './build.ts'
import { install, type Installation, written } from './installation.ts'
import { clientLines, connect, rowsOf } from './mcp-clients.ts'
import { startNginx, withoutNginx } from './nginx.ts'
import { call } from './process.ts'
import { startWriting } from './writers.ts'

const TEST_REDIS_URL = process.env['TEST_REDIS_URL']
const REPLICAS = 3
const WRITERS = 12

/** So many that each replica has one: their ids are random, and with twelve one run in forty left a replica out. */
const SHOPS = 48

const skip = TEST_DATABASE_URL === undefined
  ? 'TEST_DATABASE_URL is not set: replicas need a PostgreSQL server'
  : withoutNginx

/** Starts all replicas at once on an empty database of the test server. */
async function installed (t: Test, settings: Readonly<Record<string, string>> = {}): Promise<Installation> {
  return await install(t, { url: await createDatabase(t, TEST_DATABASE_URL!), replicas: REPLICAS, settings })
}

t.test('replicas started at once on an empty database all come up, and migrate once', { skip }, async (t) => {
  const { replicas, database } = await installed(t)
  for (const { baseUrl } of replicas) {
    t.match(await call('GET', `${baseUrl}/readyz`), { status: 200, body: { status: 'ready' } })
  }
  const names = (await database.knex('knex_migrations').select('name')).map(({ name }) => name)
  t.ok(names.length > 0)
  t.equal(new Set(names).size, names.length)
})

t.test('the clients of agents work through any replica', { skip }, async (t) => {
  const { replicas, shop, headers } = await installed(t)
  const { baseUrl, passed } = await startNginx(t, replicas.map(({ baseUrl }) => baseUrl))
  for (const line of clientLines) {
    const agent = await connect(t, line, `${baseUrl}/mcp`, headers)
    const use = async (name: string, args: object) => {
      const answer = await agent.callTool({ name, arguments: { shop_id: shop, ...args } })
      t.notOk(answer.isError, `${line}: ${name}`)
      return answer
    }
    t.equal((await agent.listTools()).tools.length, 20, line)
    const { id } = (await use('create_product', { name: line })).structuredContent
    t.match((await use('get_product', { product_id: id })).structuredContent, { id, name: line })
    t.match((await use('update_product', { product_id: id, name: `${line} changed` })).structuredContent, {
      id,
      name: `${line} changed`
    })
    t.match(rowsOf(await use('list_products', {})), [{ id, name: `${line} changed` }])
    await use('delete_product', { product_id: id })
    const gone = await agent.callTool({ name: 'get_product', arguments: { shop_id: shop, product_id: id } })
    t.equal(gone.isError, true, `${line}: a deleted product is gone on every replica`)
  }
  t.equal(new Set(passed().flatMap(({ upstreams }) => upstreams)).size, REPLICAS, 'all replicas took part')
})

t.test('nginx routes and limits the calls of a token by the shop that they name in a header', { skip }, async (t) => {
  const { replicas, shop, headers, machine, database } = await installed(t)
  const { baseUrl, passed } = await startNginx(t, replicas.map(({ baseUrl }) => baseUrl))
  const shops = [
    shop,
    ...await Promise.all(Array.from({ length: SHOPS - 1 }, async (_, n) => await createShop(database, `other-${n}`)))
  ]
  const agent = await connect(t, 'SDK 2.x, 2026-07-28', `${baseUrl}/mcp`, machine)
  await agent.listTools()
  for (const id of [...shops, ...shops]) {
    t.match(await agent.callTool({ name: 'list_tags', arguments: { shop_id: id } }), {
      structuredContent: { result: [] }
    })
  }
  // nginx writes a line some time after its answer.
  const named = () => passed().filter((call) => call.shop !== '-')
  while (named().length < 2 * shops.length) await sleep(10)
  for (const id of shops) {
    t.equal(
      new Set(named().filter((call) => call.shop === id).flatMap(({ upstreams }) => upstreams)).size,
      1,
      'a shop stays on its replica'
    )
  }
  t.equal(new Set(named().flatMap(({ upstreams }) => upstreams)).size, REPLICAS)

  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {}
  }
  const send = async (sent: Readonly<Record<string, string>>, id = shop) =>
    await call('POST', `${baseUrl}/mcp`, {
      headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'list_tags', ...sent },
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_tags', arguments: { shop_id: id }, _meta: meta }
      }
    })
  const naming = (id: string) => ({ 'mcp-param-shop-id': id })
  t.match(
    await send({ ...machine, ...naming(shops[1]!) }),
    { status: 400, body: { error: { code: -32020 } } },
    'a header that lies'
  )
  t.match(await send(machine), { status: 400, body: { error: { code: -32020 } } })
  t.match(await send(headers), { status: 200 }, 'a key implies its shop and is not asked for the header')
  // Nobody else's calls count for them: not those that only claim to be of the shop.
  const flood = await Promise.all(
    Array.from({ length: 80 }, async () => await send({ authorization: 'Bearer x', ...naming(shop) }))
  )
  t.match(flood.find(({ status }) => status === 429), { body: { jsonrpc: '2.0', error: { code: -32000 } } })
  t.match(await Promise.all([send({ ...machine, ...naming(shop) }), send({ ...headers, ...naming(shop) })]), [{
    status: 200
  }, { status: 200 }])
  const own = await Promise.all(Array.from({ length: 80 }, async () => await send({ ...machine, ...naming(shop) })))
  t.ok(own.some(({ status }) => status === 429))
  t.match(
    await send({ ...machine, ...naming(shops[1]!) }, shops[1]),
    { status: 200 },
    'the other shops of the token are not limited by it'
  )
})

t.test('replicas that are stopped one after another lose no call', { skip }, async (t) => {
  const { replicas, shop, headers, database } = await installed(t)
  const { baseUrl, passed } = await startNginx(t, replicas.map(({ baseUrl }) => baseUrl))
  const load = startWriting(`${baseUrl}/shops/${shop}/tags`, headers, { writers: WRITERS })
  for (const replica of replicas.slice(1)) {
    await load.acknowledges(load.acknowledged.size + 150)
    t.strictSame(await replica.stop('SIGTERM'), { code: 0, signal: null })
  }
  await load.acknowledges(load.acknowledged.size + 150)
  await load.end()

  t.strictSame(load.failures, [])
  t.strictSame(
    [...await written(database)].toSorted(),
    [...load.acknowledged.keys()].toSorted(),
    'every write is there, once'
  )
  const hosts = passed().flatMap(({ upstreams }) => upstreams)
  for (const replica of replicas) t.ok(hosts.includes(new URL(replica.baseUrl).host), 'every replica had calls')
  t.comment(`${load.acknowledged.size} acknowledged`)
})

t.test('a limit counts over all replicas', {
  skip: skip || (TEST_REDIS_URL === undefined && 'TEST_REDIS_URL is not set: nothing counts for all replicas')
}, async (t) => {
  const redis = new URL(TEST_REDIS_URL!)
  redis.searchParams.set('keyPrefix', `${randomUUID()}:`)
  const { replicas, shop, headers } = await installed(t, {
    REDIS_URL: redis.href,
    RATE_LIMIT_MAX: '20',
    RATE_LIMIT_WINDOW: '3600000'
  })
  const tags = `/shops/${shop}/tags`
  // Until its connection to Redis is there, a replica counts alone.
  for (const { baseUrl } of replicas) {
    for (let tries = 0; tries < 500 && (await call('GET', `${baseUrl}/readyz`)).body.checks.redis !== 'ok'; tries++) {
      await sleep(20)
    }
  }
  const statuses: number[] = []
  for (let round = 0; round < 20; round++) {
    const answers = await Promise.all(
      replicas.map(async ({ baseUrl }) => await call('GET', baseUrl + tags, { headers }))
    )
    statuses.push(...answers.map(({ status }) => status))
  }
  t.strictSame(
    [statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 429).length],
    [20, 40]
  )
})
