// npm run bench [-- seconds [rounds]]: what a call through /mcp costs beside the same call over REST, both with an API
// key, on a PostgreSQL server (TEST_DATABASE_URL). To reach: 1.3 times the processor time, and 25 ms for 99 of 100
// calls at half of the rate at which the server is saturated.
import autocannon from 'autocannon'
import { launch, onDatabase, type Shop, stop, toolCall, usage } from './shop.ts'

const CONNECTIONS = 10
/** Stands for a number of the request's own: a second product of one name would have to take another slug. */
const NUMBER = 'Product number'
let number = 0
const [seconds = 3, rounds = 5] = process.argv.slice(2).map(Number)
const postgres = process.env['TEST_DATABASE_URL']

if (postgres === undefined) console.log('NOT MEASURED: REST against MCP. Set TEST_DATABASE_URL to a PostgreSQL server on which databases may be created.')
else await onDatabase(postgres, measure)

async function measure (url: string): Promise<void> {
  const shop = await launch(url)
  const { shopId, productId, key } = shop
  const json = { 'x-api-key': key, 'content-type': 'application/json' }
  const rest = (method: 'GET' | 'POST', path: string, body?: object): autocannon.Request =>
    numbered({ method, path: `/shops/${shopId}/products${path}`, headers: body === undefined ? { 'x-api-key': key } : json, ...(body && { body: JSON.stringify(body) }) })
  const mcp = (name: string, args: object): autocannon.Request => numbered(toolCall({ 'x-api-key': key }, name, { shop_id: shopId, ...args }))
  const filter = { status: ['draft'], price_amount_gte: 5000 }
  const created = { name: NUMBER, price_amount: 100 }
  const operations: Array<[string, autocannon.Request, autocannon.Request]> = [
    ['get_product', rest('GET', `/${productId}`), mcp('get_product', { product_id: productId })],
    ['list_products', rest('GET', `?limit=25&sort=name&filter=${encodeURIComponent(JSON.stringify(filter))}`), mcp('list_products', { limit: 25, sort: 'name', filter })],
    ['create_product', rest('POST', '', created), mcp('create_product', created)]
  ]

  const rows: object[] = []
  let missed = false
  for (const [tool, overRest, overMcp] of operations) {
    const samples = { rest: [] as Sample[], mcp: [] as Sample[] }
    // In turns, so that what else the machine does befalls both alike. The first round is to get warm.
    for (let round = 0; round <= rounds; round++) {
      for (const [kind, request] of [['rest', overRest], ['mcp', overMcp]] as const) {
        const sample = await load(shop, request, { duration: round === 0 ? 1 : seconds })
        if (round > 0) samples[kind].push(sample)
      }
    }
    const [ofRest, ofMcp] = [median(samples.rest), median(samples.mcp)]
    const { p99 } = await load(shop, overMcp, { duration: seconds * 2, overallRate: Math.floor(ofMcp.rate / 2) })
    const ratio = ofMcp.cpu / ofRest.cpu
    const reached = ratio <= 1.3 && p99 <= 25
    missed ||= !reached
    rows.push({
      tool,
      'REST /s': Math.round(ofRest.rate),
      'MCP /s': Math.round(ofMcp.rate),
      'REST CPU µs': Math.round(ofRest.cpu),
      'MCP CPU µs': Math.round(ofMcp.cpu),
      'CPU ratio (≤ 1.3)': Number(ratio.toFixed(2)),
      'p99 ms at half the rate (≤ 25)': p99,
      reached
    })
  }
  console.table(rows)
  if (missed) process.exitCode = 1
  await stop(shop)
}

function numbered (request: autocannon.Request): autocannon.Request {
  const { body } = request
  if (typeof body !== 'string' || !body.includes(NUMBER)) return request
  return { ...request, setupRequest: (prepared) => ({ ...prepared, body: body.replace(NUMBER, `${NUMBER} ${number++}`) }) }
}

interface Sample {
  /** Answers a second. */
  readonly rate: number
  /** Milliseconds. */
  readonly p99: number
  /** Of the server, an answer, in microseconds. */
  readonly cpu: number
}

async function load (shop: Shop, request: autocannon.Request, options: { duration: number, overallRate?: number }): Promise<Sample> {
  const { cpu: before } = await usage(shop)
  const result = await autocannon({ url: shop.address, connections: CONNECTIONS, requests: [request], ...options })
  const { cpu: after } = await usage(shop)
  const answers = result['2xx']
  if (answers === 0 || result.non2xx > 0 || result.errors > 0) throw new RangeError(`${result.non2xx} answers were no 2xx, ${result.errors} requests failed`)
  return { rate: answers / result.duration, p99: result.latency.p99, cpu: (after.user + after.system - before.user - before.system) / answers }
}

function median (samples: readonly Sample[]): Sample {
  return samples.toSorted((a, b) => a.cpu - b.cpu)[Math.floor(samples.length / 2)]!
}
