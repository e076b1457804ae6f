// npm run bench [-- seconds [rounds]]: what a call through /mcp costs beside the same call over REST, both with an API
// key, on a PostgreSQL server (TEST_DATABASE_URL). To reach: 1.3 times the processor time, and 25 ms for 99 of 100
// calls at half of the rate at which the server is saturated. Each figure is the median of the rounds. A latency says
// little where other machines steal the processor, or where a route that does nothing is as slow.
import { readFileSync } from 'node:fs'
import { platform } from 'node:os'
import autocannon from 'autocannon'
import { launch, onDatabase, type Shop, stop, toolCall, usage } from './shop.ts'
import { steadyLatencies } from './steady.ts'

const CONNECTIONS = 10
/** In seconds, of each kind of call: until then much of the time goes into compiling. */
const WARM_UP = 20
/** In {@link processorTime}: what other virtual machines had of the processors while this one wanted them. */
const STOLEN = 7
/** Makes the names of products differ: a second product of one name would have to take another slug. */
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
    ({ method, path: `/shops/${shopId}/products${path}`, headers: body === undefined ? { 'x-api-key': key } : json, ...(body && { body: JSON.stringify(body) }) })
  const mcp = (name: string, args: object): autocannon.Request => toolCall({ 'x-api-key': key }, name, { shop_id: shopId, ...args })
  const filter = { status: ['draft'], price_amount_gte: 5000 }
  const created = (): object => ({ name: `Product number ${number++}`, price_amount: 100 })
  const operations: Array<[string, MakeRequest, MakeRequest]> = [
    ['get_product', () => rest('GET', `/${productId}`), () => mcp('get_product', { product_id: productId })],
    ['list_products', () => rest('GET', `?limit=25&sort=name&filter=${encodeURIComponent(JSON.stringify(filter))}`), () => mcp('list_products', { limit: 25, sort: 'name', filter })],
    ['create_product', () => rest('POST', '', created()), () => mcp('create_product', created())]
  ]

  // What the machine itself does to a call now and then, at a rate that is no load: below that nobody gets.
  const idle = await steadyLatencies(shop.address, () => ({ method: 'GET', path: '/healthz' }), { rate: 100, seconds: seconds * 2 })
  console.log(`a route that does nothing, 100 calls a second: p50 ${quantile(idle, 0.5).toFixed(1)} ms, p99 ${quantile(idle, 0.99).toFixed(1)} ms`)

  const rows: Row[] = []
  for (const [tool, overRest, overMcp] of operations) rows.push({ tool, ...await compare(shop, overRest, overMcp) })
  console.table(rows)
  if (rows.some(({ reached }) => !reached)) process.exitCode = 1
  await stop(shop)
}

/** One line of what is printed. */
interface Row {
  readonly reached: boolean
  readonly [column: string]: string | number | boolean
}

/** Rounds over REST and MCP go in turns, so that what else the machine does befalls both alike. */
async function compare (shop: Shop, overRest: MakeRequest, overMcp: MakeRequest): Promise<Row> {
  for (const make of [overRest, overMcp]) await saturate(shop, make, WARM_UP)
  const full: Array<Both<Sample>> = []
  for (let round = 1; round <= rounds; round++) full.push({ rest: await saturate(shop, overRest, seconds), mcp: await saturate(shop, overMcp, seconds) })
  const rate = medianOf(full, ({ mcp }) => mcp.rate)
  const ratio = medianOf(full, ({ rest, mcp }) => mcp.cpu / rest.cpu)

  const load = { rate: rate / 2, seconds: seconds * 2 }
  const half: Array<Both<number[]>> = []
  const before = processorTime()
  for (let round = 1; round <= rounds; round++) half.push({ rest: await steadyLatencies(shop.address, overRest, load), mcp: await steadyLatencies(shop.address, overMcp, load) })
  const during = processorTime().map((time, kind) => time - before[kind]!)
  const p99 = medianOf(half, ({ mcp }) => quantile(mcp, 0.99))

  return {
    'REST /s': Math.round(medianOf(full, ({ rest }) => rest.rate)),
    'MCP /s': Math.round(rate),
    'REST CPU µs': Math.round(medianOf(full, ({ rest }) => rest.cpu)),
    'MCP CPU µs': Math.round(medianOf(full, ({ mcp }) => mcp.cpu)),
    'CPU ratio (≤ 1.3)': Number(ratio.toFixed(2)),
    'at half of MCP /s: p50 ms': Number(medianOf(half, ({ mcp }) => quantile(mcp, 0.5)).toFixed(1)),
    'p99 ms (≤ 25)': Number(p99.toFixed(1)),
    'p99 ms of REST': Number(medianOf(half, ({ rest }) => quantile(rest, 0.99)).toFixed(1)),
    'stolen %': Number((100 * (during[STOLEN] ?? NaN) / sum(during)).toFixed(1)),
    reached: ratio <= 1.3 && p99 <= 25
  }
}

/** Of one round, one right after the other. */
interface Both<Figure> {
  readonly rest: Figure
  readonly mcp: Figure
}

/** A call, another one each time where it matters. */
type MakeRequest = () => autocannon.Request

interface Sample {
  /** Answers a second. */
  readonly rate: number
  /** Of the server, an answer, in microseconds. */
  readonly cpu: number
}

/** As many calls as it takes, each connection one after another. */
async function saturate (shop: Shop, make: MakeRequest, seconds: number): Promise<Sample> {
  const { cpu: before } = await usage(shop)
  const requests = [{ ...make(), setupRequest: (prepared: autocannon.Request) => ({ ...prepared, ...make() }) }]
  const result = await autocannon({ url: shop.address, connections: CONNECTIONS, requests, duration: seconds })
  const { cpu: after } = await usage(shop)
  const answers = result['2xx']
  if (answers === 0 || result.non2xx > 0 || result.errors > 0) throw new RangeError(`${result.non2xx} answers were no 2xx, ${result.errors} requests failed`)
  return { rate: answers / result.duration, cpu: (after.user + after.system - before.user - before.system) / answers }
}

/** @returns what all processors have done since the machine started, in ticks, by kind (proc(5), `/proc/stat`); nothing where there is no such file */
function processorTime (): number[] {
  if (platform() !== 'linux') return []
  const [all = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  return all.split(/\s+/).slice(1, 2 + STOLEN).map(Number)
}

function sum (numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function medianOf<Round> (rounds: readonly Round[], figure: (round: Round) => number): number {
  return quantile(rounds.map(figure).sort((a, b) => a - b), 0.5)
}

/** @param rising - in rising order */
function quantile (rising: readonly number[], part: number): number {
  return rising[Math.floor(rising.length * part)]!
}
