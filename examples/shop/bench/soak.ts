// npm run soak [-- minutes]: calls over REST and /mcp, with key and token, leave memory and handles flat. On a
// PostgreSQL server when TEST_DATABASE_URL is set, else on the embedded database.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { launch, onDatabase, type Shop, stop, toolCall, type Usage, usage } from './shop.ts'

const STEPS = 10
const CONNECTIONS = 8

/** Calls a second, of all connections: far from what the server can do, so that nothing waits in line. */
const RATE = 80

/**
 * How much may be held more after the last step than after the second, in bytes: the first ones fill caches and
 * compile.
 */
const HEAP_GROWTH = 10_000_000
const RESIDENT_GROWTH = 60_000_000

/** Makes the names of products differ. */
let number = 0

const [minutes = 60] = process.argv.slice(2).map(Number)
if (!(minutes > 0)) throw new RangeError('minutes must be a number above 0')
const postgres = process.env['TEST_DATABASE_URL']
console.log(
  `${minutes} minutes on ${postgres === undefined ? 'the embedded database' : 'PostgreSQL'}, ${RATE} calls a second`
)
if (postgres !== undefined) await onDatabase('a soak', soak)
else {
  const dir = mkdtempSync(join(tmpdir(), 'shop-soak-'))
  await soak(join(dir, 'database')).finally(() => {
    rmSync(dir, { recursive: true })
  })
}

async function soak (database: string): Promise<void> {
  const shop = await launch(database)
  try {
    await measure(shop)
  } finally {
    await stop(shop)
  }
}

async function measure (shop: Shop): Promise<void> {
  const steps: Usage[] = []
  for (let step = 1; step <= STEPS; step++) {
    // A token is valid for an hour.
    const credentials = [{ 'x-api-key': shop.key }, { authorization: `Bearer ${await shop.token()}` }]
    const { non2xx, errors, timeouts, '2xx': answers } = await autocannon({
      url: shop.address,
      connections: CONNECTIONS,
      overallRate: RATE,
      duration: minutes * 60 / STEPS,
      timeout: 60,
      requests: credentials.flatMap((headers) => lives(shop, headers))
    })
    // The load has closed its connections; the server learns of it in a moment.
    await new Promise((resolve) => setTimeout(resolve, 1000))
    const now = await usage(shop, { collect: true })
    steps.push(now)
    const { memory, handles } = now
    console.log(
      `step ${step}: ${answers} answers, heap ${megabytes(memory.heapUsed)}, external ` +
        `${megabytes(memory.external)}, resident ${megabytes(memory.rss)}, ${handles} handles`
    )
    if (answers === 0 || non2xx + errors + timeouts > 0) {
      throw new RangeError(`${non2xx} answers were no 2xx, ${errors} requests failed, ${timeouts} took too long`)
    }
  }
  const [, second] = steps
  const last = steps.at(-1)!
  const growth = (of: (step: Usage) => number): number => of(last) - of(second!)
  const [heap, resident, handles] = [
    growth(({ memory }) => memory.heapUsed),
    growth(({ memory }) => memory.rss),
    growth((step) => step.handles)
  ]
  console.log(
    `from the second step to the last: heap ${megabytes(heap)}, resident ${megabytes(resident)}, handles ${handles}`
  )
  if (heap > HEAP_GROWTH || resident > RESIDENT_GROWTH || handles > 0) {
    console.log('IT GROWS')
    process.exitCode = 1
  }
}

/** What a connection remembers between its calls. */
interface Context {
  id?: string
}

/** The calls of the life of a product over REST, and of one over `/mcp`, one after another; no row is left by them. */
function lives ({ shopId, productId }: Shop, headers: Readonly<Record<string, string>>): autocannon.Request[] {
  const products = `/shops/${shopId}/products`
  const json = { ...headers, 'content-type': 'application/json' }
  const learn = (idIn: (body: string) => string) => (status: number, body: string, context: Context): void => {
    if (status < 300) context.id = idIn(body)
  }
  // A cycle that the end of a step cut off has no id: it reads instead.
  const ofMade = (request: (id: string) => autocannon.Request): autocannon.Request => ({
    setupRequest: (prepared: autocannon.Request, { id }: Context) => ({ ...prepared, ...request(id ?? productId) })
  })
  const named = (request: (name: string) => autocannon.Request): autocannon.Request => ({
    setupRequest: (prepared: autocannon.Request) => ({ ...prepared, ...request(`Soaked ${number++}`) })
  })
  const tool = (name: string, args: object): autocannon.Request => toolCall(headers, name, { shop_id: shopId, ...args })
  return [
    {
      ...named((name) => ({ method: 'POST', path: products, headers: json, body: JSON.stringify({ name }) })),
      onResponse: learn((body) => JSON.parse(body).id)
    },
    ofMade((id) => ({ method: 'GET', path: `${products}/${id}`, headers: { ...headers } })),
    ofMade((id) => ({ method: 'PATCH', path: `${products}/${id}`, headers: json, body: '{"price_amount":100}' })),
    { method: 'GET', path: `${products}?limit=25&sort=name`, headers: { ...headers } },
    ofMade((id) => ({ method: 'DELETE', path: `${products}/${id}`, headers: { ...headers } })),
    {
      ...named((name) => tool('create_product', { name })),
      onResponse: learn((body) => JSON.parse(body).result.structuredContent.id)
    },
    ofMade((id) => tool('get_product', { product_id: id })),
    ofMade((id) => tool('update_product', { product_id: id, price_amount: 200 })),
    tool('list_products', { limit: 25, sort: 'name' }),
    ofMade((id) => tool('delete_product', { product_id: id }))
  ]
}

function megabytes (bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
