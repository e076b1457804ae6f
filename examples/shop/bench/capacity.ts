// npm run capacity [-- seconds [rounds]]: how many calls of each kind one server answers in a second when it always has
// another one to answer, and how long they take then, on a PostgreSQL server on the same machine (TEST_DATABASE_URL, as a
// superuser). Kinds and transports are measured in turn; each figure is the median of the rounds. Leave the machine alone
// meanwhile: the load average is printed, and the client takes processors too. No answer is above 32 kB: larger ones of a
// shop are slowed down, so that it leaves processors to others.
import { availableParallelism, loadavg } from 'node:os'
import type autocannon from 'autocannon'
import { besideBare, type MakeRequest, medians, type Saturated, saturate, warmUp } from './saturation.ts'
import { launch, onDatabase, type Shop, stop, toolCall } from './shop.ts'

const [seconds = 5, rounds = 5] = process.argv.slice(2).map(Number)
const postgres = process.env['TEST_DATABASE_URL']
/** Makes the names of products differ. */
let number = 0

if (postgres === undefined) console.log('NOT MEASURED: set TEST_DATABASE_URL to a PostgreSQL server on which databases may be created.')
else await onDatabase(postgres, measure)

async function measure (url: string): Promise<void> {
  const shop = await launch(url)
  try {
    const before = load()
    const kinds = Object.entries(kindsOf(shop)).flatMap(([kind, transports]) => Object.entries(transports).map(([transport, make]) => ({ name: `${kind}, ${transport}`, make })))
    const times = new Map<string, Saturated[]>(kinds.map(({ name }) => [name, []]))
    for (const { make } of kinds) await warmUp(shop, make)
    for (let round = 0; round < rounds; round++) {
      for (const { name, make } of kinds) times.get(name)!.push(await saturate(shop, make, seconds))
    }
    const { ratios, bare, named } = await besideBare(url, shop, { rounds, seconds })
    console.log(`${availableParallelism()} processors, load ${before} to ${load()}`)
    console.table(Object.fromEntries([
      ...kinds.map(({ name }) => [name, rowOf(medians(times.get(name)!))] as const), ['bare route with one statement', rowOf(bare)], ['the same, named', rowOf(named)]
    ]))
    console.log(`get serves ${ratios.bare.toFixed(2)} of the bare route, and ${ratios.named.toFixed(2)} of the named one`)
  } finally {
    await stop(shop)
  }
}

type Transports = Readonly<Record<'REST' | 'MCP', MakeRequest>>

function kindsOf ({ shopId, productId, key }: Shop): Readonly<Record<string, Transports>> {
  const path = `/shops/${shopId}/products`
  const json = { 'x-api-key': key, 'content-type': 'application/json' }
  const both = (tool: string, args: () => object, rest: (args: object) => autocannon.Request): Transports => ({
    REST: () => rest(args()),
    MCP: () => toolCall({ 'x-api-key': key }, tool, { shop_id: shopId, ...args() })
  })
  const list = (args: object): Transports => both('list_products', () => args, (args) => {
    const query = new URLSearchParams(Object.entries(args).map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)]))
    return { method: 'GET', path: `${path}?${query.toString()}`, headers: { 'x-api-key': key } }
  })
  return {
    get: both('get_product', () => ({ product_id: productId }), () => ({ method: 'GET', path: `${path}/${productId}`, headers: { 'x-api-key': key } })),
    'list of 10': list({ limit: 10 }),
    'list of 10, filtered and sorted': list({ limit: 10, sort: 'name', filter: { status: ['draft'], price_amount_gte: 5000 } }),
    'list of 10, q': list({ limit: 10, filter: { q: 'thing' } }),
    update: both('update_product', () => ({ product_id: productId, price_amount: number++ }), (args) => {
      const { product_id: _, ...body } = args as Record<string, unknown>
      return { method: 'PATCH', path: `${path}/${productId}`, headers: json, body: JSON.stringify(body) }
    }),
    create: both('create_product', () => ({ name: `Product number ${number++}`, price_amount: 100 }), (body) => ({ method: 'POST', path, headers: json, body: JSON.stringify(body) }))
  }
}

function rowOf ({ rate, cpu, p50, p99 }: Saturated): Readonly<Record<string, number>> {
  // What of a processor Node.js takes says whether it is what limits: it has one thread for JavaScript.
  return { '/s': Math.round(rate), 'p50 ms': p50, 'p99 ms': p99, 'CPU of Node.js, µs': Math.round(cpu), 'processors for Node.js': Number((rate * cpu / 1e6).toFixed(2)) }
}

function load (): string {
  return loadavg()[0]!.toFixed(1)
}
