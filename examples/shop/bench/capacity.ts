// npm run capacity [-- seconds [rounds]]: how many calls of each kind one server answers in a second when it always has
// another one to answer, and how long they take then, on a PostgreSQL server on the same machine (TEST_DATABASE_URL, as
// a superuser). Kinds and transports are measured in turn; each figure is the median of the rounds. The tables are
// vacuumed before each round, as autovacuum would every minute. Leave the machine alone meanwhile: the load average is
// printed, and the client takes processors too. No answer is above 32 kB: larger ones of a shop are slowed down, so
// that it leaves processors to others. Exits with 1 if the shop serves too small a part of what bare routes do.
import { availableParallelism, loadavg } from 'node:os'
import type autocannon from 'autocannon'
import knex from 'knex'
import { settle } from './fill.ts'
import {
  besideBare,
  type Compared,
  comparisonsOfGet,
  type Comparison,
  type MakeRequest,
  medians,
  type Saturated,
  saturate,
  warmUp
} from './saturation.ts'
import { launch, onDatabase, type Shop, stop, toolCall } from './shop.ts'

const [seconds = 5, rounds = 5] = process.argv.slice(2).map(Number)
/**
 * Of the calls a second of a bare route that looks the key of its caller up. What every call of the shop costs beside
 * its statement, such as its limits, its log and its schemas, leaves less where the statement is small: a list by ids.
 */
const LEAST: Readonly<Record<string, number>> = {
  get: 0.6,
  list: 0.35,
  'list by price': 0.35,
  'list after a cursor': 0.35,
  'list by id': 0.25,
  'list by status': 0.35,
  'list by tag': 0.35,
  'list by category': 0.35,
  'list by q': 0.5,
  update: 0.5
}
/** How many times its p50 the p99 of an update may be. */
const TAIL = 4
/** Makes the names of products differ. */
let number = 0

await onDatabase('capacity', measure)

async function measure (url: string): Promise<void> {
  const shop = await launch(url)
  const db = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 } })
  const vacuum = async (): Promise<void> => {
    await settle(db)
  }
  try {
    const before = load()
    // First, while the shop has its 300 products.
    const comparisons = comparisonsOf(shop)
    const beside: Readonly<Record<string, Compared>> = await besideBare<string>(url, shop, comparisons, {
      rounds,
      seconds: seconds / 2,
      before: vacuum
    })
    const checked = await besideBare(url, shop, withKey(comparisons, shop.key), {
      rounds,
      seconds: seconds / 2,
      before: vacuum
    })
    const kinds = Object.entries(kindsOf(shop)).flatMap(([kind, transports]) =>
      Object.entries(transports).map(([transport, make]) => ({ name: `${kind}, ${transport}`, make }))
    )
    const times = new Map<string, Saturated[]>(kinds.map(({ name }) => [name, []]))
    for (const { make } of kinds) await warmUp(shop, make)
    for (let round = 0; round < rounds; round++) {
      await vacuum()
      for (const { name, make } of kinds) times.get(name)!.push(await saturate(shop, make, seconds))
    }
    console.log(`${availableParallelism()} processors, load ${before} to ${load()}`)
    console.table(Object.fromEntries([
      ...kinds.map(({ name }) => [name, rowOf(medians(times.get(name)!))] as const)
    ]))
    console.log(
      'REST beside a route on Fastify alone that does the same with one named statement, and one that looks the ' +
        'key up by another before that'
    )
    console.table(Object.fromEntries(
      Object.entries(beside).map(([kind, { shop, bare, ratio }]) => [kind, {
        'shop, /s': Math.round(shop.rate),
        'bare, /s': Math.round(bare.rate),
        ratio: rounded(ratio),
        'with key, /s': Math.round(checked[kind]!.bare.rate),
        'ratio with key': rounded(checked[kind]!.ratio),
        'at least': LEAST[kind] ?? '',
        'p99 / p50': Number((shop.p99 / shop.p50).toFixed(1))
      }])
    ))
    const missed = Object.entries(checked).filter(([kind, { ratio }]) => ratio < (LEAST[kind] ?? 0)).map((
      [kind, { ratio }]
    ) => `${kind}: ${ratio.toFixed(2)} of the bare route that looks the key up, not ${LEAST[kind]}`)
    const { shop: { p50, p99 } } = beside['update']!
    if (p99 > TAIL * p50) missed.push(`update: p99 is ${(p99 / p50).toFixed(1)} times p50, not ${TAIL}`)
    for (const line of missed) console.log(`MISSED ${line}`)
    if (missed.length > 0) process.exitCode = 1
  } finally {
    await db.destroy()
    await stop(shop)
  }
}

function comparisonsOf (shop: Shop) {
  const { shopId, productId, key, tagId, categoryId, cursor } = shop
  const path = `/shops/${shopId}/products`
  const list = (kind: string, query: object = {}, value?: string): Comparison => {
    const search = new URLSearchParams({
      limit: '10',
      ...Object.fromEntries(
        Object.entries(query).map((
          [name, value]
        ) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)])
      )
    })
    return {
      shop: () => ({ method: 'GET', path: `${path}?${search}`, headers: { 'x-api-key': key } }),
      bare: () => ({
        method: 'GET',
        path: `/lists/${kind}${path}${value === undefined ? '' : `?value=${encodeURIComponent(value)}`}`
      })
    }
  }
  const update = (headers: object) => (): autocannon.Request => ({
    method: 'PATCH',
    path: `${path}/${productId}`,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ price_amount: number++ })
  })
  return {
    ...comparisonsOfGet(shop),
    list: list('all'),
    'list by price': list('price', { sort: '-price_amount' }),
    'list after a cursor': list('after', { after: cursor.after }, cursor.productId),
    'list by id': list('id', { filter: { id: [productId] } }, productId),
    'list by status': list('status', { filter: { status: ['draft'] } }, 'draft'),
    'list by tag': list('tag', { filter: { tag_ids: [tagId] } }, tagId),
    'list by category': list('category', { filter: { category_ids: [categoryId] } }, categoryId),
    'list by q': list('q', { filter: { q: 'thing' } }, '%thing%'),
    update: { shop: update({ 'x-api-key': key }), bare: update({}) }
  } satisfies Record<string, Comparison>
}

/** The same, with bare routes that look up the key. */
function withKey (
  comparisons: Readonly<Record<string, Comparison>>,
  key: string
): Readonly<Record<string, Comparison>> {
  return Object.fromEntries(
    Object.entries(comparisons).map((
      [kind, { shop, bare }]
    ) => [kind, { shop, bare: () => ({ ...bare(), headers: { ...bare().headers, 'x-api-key': key } }) }])
  )
}

type Transports = Readonly<Record<'REST' | 'MCP', MakeRequest>>

function kindsOf ({ shopId, productId, key }: Shop): Readonly<Record<string, Transports>> {
  const path = `/shops/${shopId}/products`
  const json = { 'x-api-key': key, 'content-type': 'application/json' }
  const both = (tool: string, args: () => object, rest: (args: object) => autocannon.Request): Transports => ({
    REST: () => rest(args()),
    MCP: () => toolCall({ 'x-api-key': key }, tool, { shop_id: shopId, ...args() })
  })
  const list = (args: object): Transports =>
    both('list_products', () => args, (args) => {
      const query = new URLSearchParams(
        Object.entries(args).map((
          [name, value]
        ) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)])
      )
      return { method: 'GET', path: `${path}?${query.toString()}`, headers: { 'x-api-key': key } }
    })
  return {
    get: both(
      'get_product',
      () => ({ product_id: productId }),
      () => ({ method: 'GET', path: `${path}/${productId}`, headers: { 'x-api-key': key } })
    ),
    'list of 10': list({ limit: 10 }),
    'list of 10, filtered and sorted': list({
      limit: 10,
      sort: 'name',
      filter: { status: ['draft'], price_amount_gte: 5000 }
    }),
    'list of 10, q': list({ limit: 10, filter: { q: 'thing' } }),
    update: both('update_product', () => ({ product_id: productId, price_amount: number++ }), (args) => {
      const { product_id: _, ...body } = args as Record<string, unknown>
      return { method: 'PATCH', path: `${path}/${productId}`, headers: json, body: JSON.stringify(body) }
    }),
    create: both(
      'create_product',
      () => ({ name: `Product number ${number++}`, price_amount: 100 }),
      (body) => ({ method: 'POST', path, headers: json, body: JSON.stringify(body) })
    )
  }
}

function rowOf ({ rate, cpu, p50, p99 }: Saturated): Readonly<Record<string, number>> {
  // What of a processor Node.js takes says whether it is what limits: it has one thread for JavaScript.
  return {
    '/s': Math.round(rate),
    'p50 ms': p50,
    'p99 ms': p99,
    'CPU of Node.js, µs': Math.round(cpu),
    'processors for Node.js': Number((rate * cpu / 1e6).toFixed(2))
  }
}

function rounded (ratio: number): number {
  return Number(ratio.toFixed(2))
}

function load (): string {
  return loadavg()[0]!.toFixed(1)
}
