// npm run scale [-- 500000]: what a call costs in a shop of 100,000 products, beside one of 1,000 and 200 other shops,
// on a PostgreSQL server (TEST_DATABASE_URL, as a superuser). Exits with 1 if a figure is missed: the growth of a call,
// 100 ms for any call in the larger shop that the argument asks for, or get beside a bare route. One client sends one
// call after another, over REST and through /mcp, to the shops in turn: whatever else the machine does befalls them
// alike. Each figure is a median, in milliseconds.
import { loadavg } from 'node:os'
import knex, { type Knex } from 'knex'
import { Pool } from 'undici'
import { openPostgres } from '../src/database/index.ts'
import { migrate } from '../src/migrations/migrate.ts'
import { fillShops, settle } from './fill.ts'
import { besideBare, comparisonsOfGet } from './saturation.ts'
import { measureBulk } from './scale-bulk.ts'
import { type Call, READS, type Sized, WRITES } from './scale-calls.ts'
import { compareWrites } from './scale-writes.ts'
import { launch, onDatabase, type Shop, stop, toolCall } from './shop.ts'

const SIZES = [1000, 100_000]
const OTHERS = { shops: 200, products: 200 }
const ROUNDS = 25
/** For the larger shop, in milliseconds. */
const MOST = 100
/** The shops of two people. */
const MEMBERSHIPS = { few: 100, many: 5000 }
/** Revoked keys of the large shop. */
const REVOKED = 5000
/** In one page of the walk, and in how many seconds it has to end. */
const WALK = { limit: 200, seconds: 60 }
/** How many calls a second get has to serve, as a part of those of a bare route. */
const BESIDE_BARE = 0.6

const larger = process.argv.slice(2).map(Number)
const TRANSPORTS = { REST: overRest, MCP: overMcp }
/** What was not reached. */
const missed: string[] = []

await onDatabase('large shops', async (url, server) => {
  await measure(server, url)
  console.log(missed.length === 0 ? 'every figure is reached' : `MISSED: ${missed.join('; ')}`)
  if (missed.length > 0) process.exitCode = 1
})

async function measure (server: string, url: string): Promise<void> {
  const sizes = [...SIZES, ...larger]
  const database = openPostgres(url)
  await migrate(database)
  await database.close()
  const admin = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 } })
  const started = performance.now()
  for (const size of sizes) await fillShops(admin, [`of-${size}`], size)
  await fillShops(admin, Array.from({ length: OTHERS.shops }, (_, n) => `other-${n}`), OTHERS.products)
  await settle(admin)
  console.log(`filled in ${seconds(started)} s; load ${load()}`)
  await admin.destroy()
  missed.push(...await compareWrites(server, url, `of-${SIZES.at(-1)!}`))

  const shop = await launch(url, { people: Object.keys(MEMBERSHIPS) })
  const tables = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 } })
  const client = new Pool(shop.address, { connections: 1 })
  try {
    const shops: Sized[] = []
    for (const size of sizes) shops.push(await sized(tables, client, shop, size))
    await compare(client, shops, READS)
    await compare(client, shops, WRITES)
    await settle(tables)
    await compareKeys(tables, client, shop, shops)
    await compareMembers(tables, client, shop)
    await walk(client, shops[1]!)
    await compareWithBare(url, shop)
    missed.push(...await measureBulk(tables, client, shop, shops[0]!.id))
  } finally {
    await client.close()
    await tables.destroy()
    await stop(shop)
  }
}

async function sized (tables: Knex, client: Pool, shop: Shop, size: number): Promise<Sized> {
  const { id } = await tables('shops').where({ slug: `of-${size}` }).first('id')
  const one = async (table: string): Promise<string> =>
    (await tables(table).where({ shop_id: id }).orderBy('slug').first('id')).id
  const { plaintext } = await answer(client, {
    method: 'POST',
    path: `/shops/${id}/api-keys/`,
    headers: { authorization: `Bearer ${await shop.token()}` },
    body: { name: 'scale' }
  }) as { plaintext: string }
  return {
    size,
    id,
    key: plaintext,
    tag: await one('tags'),
    category: await one('categories'),
    product: await one('products')
  }
}

interface Sent {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: object | string
}

/** @throws RangeError for anything but a 2xx, and for a tool error */
async function answer (client: Pool, { body, headers, ...rest }: Sent): Promise<unknown> {
  const sent = body === undefined
    ? { headers }
    : {
      headers: { ...headers, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body)
    }
  const { statusCode, body: received } = await client.request({ ...rest, ...sent })
  const text = await received.text()
  if (statusCode > 299 || text.includes('"isError":true')) {
    throw new RangeError(`${rest.path} answered ${statusCode}: ${text.slice(0, 500)}`)
  }
  return text === '' ? undefined : JSON.parse(text)
}

function overRest ({ tool, args }: Call, shop: Sized): Sent {
  const path = `/shops/${shop.id}/products`
  const headers = { 'x-api-key': shop.key }
  const { product_id: id, ...rest } = args(shop)
  if (tool === 'create_product') return { method: 'POST', path, headers, body: rest }
  if (tool === 'get_product') return { method: 'GET', path: `${path}/${String(id)}`, headers }
  const query = new URLSearchParams(
    Object.entries(rest).map((
      [name, value]
    ) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)])
  )
  return { method: 'GET', path: `${path}?${query.toString()}`, headers }
}

function overMcp ({ tool, args }: Call, shop: Sized): Sent {
  const { filter, ...rest } = args(shop)
  return toolCall({ 'x-api-key': shop.key }, tool, {
    shop_id: shop.id,
    ...rest,
    ...filter !== undefined && { filter }
  }) as Sent
}

/** Prints the median of each call in each shop, and how it grows from the first to the second. */
async function compare (client: Pool, shops: readonly Sized[], calls: readonly Call[]): Promise<void> {
  const create = WRITES.find(({ tool }) => tool === 'create_product')!
  const times = new Map<string, number[]>()
  const before = load()
  for (let round = 0; round <= ROUNDS; round++) {
    for (const call of calls) {
      for (const [transport, requestOf] of Object.entries(TRANSPORTS)) {
        for (const shop of shops) {
          if (call.afterWrite === true) await answer(client, overRest(create, shop))
          const request = requestOf(call, shop)
          const start = performance.now()
          await answer(client, request)
          const key = `${call.name} ${transport} ${shop.size}`
          // The first round compiles, and counts what is remembered after it.
          if (round > 0) times.set(key, [...times.get(key) ?? [], performance.now() - start])
        }
      }
    }
  }
  console.log(`load ${before} to ${load()}`)
  console.table(
    Object.fromEntries(
      calls.map(({ name, growth }) => [
        name,
        Object.fromEntries(
          Object.keys(TRANSPORTS).flatMap((transport) => {
            const medians = shops.map(({ size }) => median(times.get(`${name} ${transport} ${size}`)!))
            const [small, large, ...more] = medians as [number, number, ...number[]]
            const grown = large / small
            if (growth !== undefined && grown > growth) {
              missed.push(`${name}, ${transport}: grows ${grown.toFixed(1)} times, not ${growth}`)
            }
            for (const time of more) {
              if (time > MOST) missed.push(`${name}, ${transport}: ${time.toFixed(0)} ms, more than ${MOST}`)
            }
            return [
              ...medians.map((time, n) => [`${transport} ${shops[n]!.size}`, Number(time.toFixed(1))] as const),
              [`${transport} growth`, Number(grown.toFixed(1))] as const
            ]
          })
        )
      ])
    )
  )
}

/** Creating a key in a shop of many revoked ones. */
async function compareKeys (tables: Knex, client: Pool, shop: Shop, shops: readonly Sized[]): Promise<void> {
  await tables.raw(
    `
    insert into api_keys (id, shop_id, name, prefix, fingerprint, pepper_id, hash, created_at, created_by, revoked_at)
    select gen_random_uuid(), ?, 'revoked', 'revoked' || n, sha256(n::text::bytea), 'bench', '', now(), 'bench', now()
      from generate_series(1, ?::int) n`,
    [shops[1]!.id, REVOKED]
  )
  await tables.raw('vacuum analyze api_keys')
  const headers = { authorization: `Bearer ${await shop.token()}` }
  await alternate(
    { name: `create an API key beside ${REVOKED} revoked ones`, growth: 2 },
    shops.slice(0, 2).map(({ id }) => async () => {
      const start = performance.now()
      const key = await answer(client, {
        method: 'POST',
        path: `/shops/${id}/api-keys/`,
        headers,
        body: { name: 'one more' }
      }) as { id: string }
      const time = performance.now() - start
      await answer(client, { method: 'DELETE', path: `/shops/${id}/api-keys/${key.id}`, headers })
      return time
    })
  )
}

/** The list of shops of somebody who is in many. */
async function compareMembers (tables: Knex, client: Pool, shop: Shop): Promise<void> {
  await tables.raw(
    "insert into shops (slug, name, currency) select 'empty-' || n, 'Empty ' || n, 'EUR' from " +
      'generate_series(1, ?::int) n',
    [MEMBERSHIPS.many]
  )
  const people: Array<Record<string, string>> = []
  for (const [name, count] of Object.entries(MEMBERSHIPS)) {
    const headers = { authorization: `Bearer ${await shop.personToken(name)}` }
    const { id } = await answer(client, { method: 'GET', path: '/me', headers }) as { id: string }
    await tables.raw('insert into shop_members (shop_id, user_id) select id, ? from shops order by slug desc limit ?', [
      id,
      count
    ])
    people.push(headers)
  }
  await settle(tables)
  await alternate(
    { name: `list ${MEMBERSHIPS.many} shops of a person, beside ${MEMBERSHIPS.few}` },
    people.map((headers) => async () => {
      const start = performance.now()
      await answer(client, { method: 'GET', path: '/shops', headers })
      return performance.now() - start
    })
  )
}

/** Prints the medians of two kinds of work that are done in turn. */
async function alternate (
  { name, growth }: { readonly name: string, readonly growth?: number },
  works: ReadonlyArray<() => Promise<number>>
): Promise<void> {
  const times: number[][] = works.map(() => [])
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [n, work] of works.entries()) {
      const time = await work()
      if (round > 0) times[n]!.push(time)
    }
  }
  const [small, large] = times.map(median) as [number, number]
  console.log(`${name}: ${small.toFixed(1)} to ${large.toFixed(1)} ms, growth ${(large / small).toFixed(1)}`)
  if (growth !== undefined && large / small > growth) {
    missed.push(`${name}: grows ${(large / small).toFixed(1)} times, not ${growth}`)
  }
}

/** Reads a whole shop by cursors, as an agent would. */
async function walk (client: Pool, { id, key }: Sized): Promise<void> {
  const started = performance.now()
  const seen = new Set<string>()
  const times: number[] = []
  let read = 0
  let after: string | undefined
  do {
    const start = performance.now()
    const { result } = await answer(
      client,
      toolCall({ 'x-api-key': key }, 'list_products', {
        shop_id: id,
        limit: WALK.limit,
        ...after !== undefined && { after }
      }) as Sent
    ) as { result: { structuredContent: { result: Array<{ id: string }>, headers: { link?: string } } } }
    const { result: items, headers: { link } } = result.structuredContent
    for (const item of items) seen.add(item.id)
    read += items.length
    after = link === undefined ? undefined : new URLSearchParams(/<\?(.*)>/.exec(link)![1]).get('after')!
    times.push(performance.now() - start)
  } while (after !== undefined)
  const tenth = Math.floor(times.length / 10)
  const took = (performance.now() - started) / 1000
  console.log(
    `walk over MCP: ${read} products, ${seen.size} different, in ${times.length} pages and ${took.toFixed(1)} ` +
      `s; p50 of the first tenth of the pages ${median(times.slice(0, tenth)).toFixed(1)} ms, of the last ` +
      `${median(times.slice(-tenth)).toFixed(1)} ms`
  )
  if (took > WALK.seconds) missed.push(`the walk took ${took.toFixed(0)} s`)
  if (read !== seen.size) missed.push(`the walk had ${read - seen.size} products twice`)
}

/** The shop's get beside a route on Fastify alone. */
async function compareWithBare (url: string, shop: Shop): Promise<void> {
  const before = load()
  const { get } = await besideBare(url, shop, comparisonsOfGet(shop), { rounds: 9, seconds: 2 })
  console.log(`load ${before} to ${load()}`)
  console.log(`get serves ${get.ratio.toFixed(2)} of a bare route with one statement`)
  if (get.ratio < BESIDE_BARE) missed.push(`get serves ${get.ratio.toFixed(2)} of a bare route, not ${BESIDE_BARE}`)
}

function median (times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
}

function seconds (since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0)
}

function load (): string {
  return loadavg()[0]!.toFixed(1)
}
