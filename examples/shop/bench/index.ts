// npm run bench [-- seconds [rounds]]: what a call through /mcp costs beside the same call over REST, both with an API
// key, on a PostgreSQL server (TEST_DATABASE_URL). To reach: 1.3 times the processor time, and 25 ms for 99 of 100
// calls at half of the rate at which the server is saturated. Each figure is the median of the rounds. A latency says
// little where other machines steal the processor, or where a route that does nothing, or the bare commit of a row, is
// as slow.
import { readFileSync } from 'node:fs'
import { platform } from 'node:os'
import type autocannon from 'autocannon'
import { type MakeRequest, type Saturated, saturate } from './saturation.ts'
import { launch, onDatabase, type Shop, stop, toolCall } from './shop.ts'
import { type Caller, startCaller } from './steady.ts'

/** In seconds, of each kind of call: until then much of the time goes into compiling. */
const WARM_UP = 20
/** In {@link processorTime}: what other virtual machines had of the processors while this one wanted them. */
const STOLEN = 7
/**
 * In percent: a round in which more was stolen says little of the server and is done again, as long as that is not true
 * of most.
 */
const STOLEN_MAX = 0.5
/** Makes the names of products differ: a second product of one name would have to take another slug. */
let number = 0
const [seconds = 3, rounds = 9] = process.argv.slice(2).map(Number)

await onDatabase('REST against MCP', measure)
// npm run tokens prints this table alone.
await import('./tokens.ts')

async function measure (url: string): Promise<void> {
  const shop = await launch(url)
  const caller = startCaller()
  const { shopId, productId, key } = shop
  const json = { 'x-api-key': key, 'content-type': 'application/json' }
  const rest = (method: 'GET' | 'POST', path: string, body?: object): autocannon.Request => ({
    method,
    path: `/shops/${shopId}/products${path}`,
    headers: body === undefined ? { 'x-api-key': key } : json,
    ...(body && { body: JSON.stringify(body) })
  })
  const mcp = (name: string, args: object): autocannon.Request =>
    toolCall({ 'x-api-key': key }, name, { shop_id: shopId, ...args })
  const filter = { status: ['draft'], price_amount_gte: 5000 }
  const created = (): object => ({ name: `Product number ${number++}`, price_amount: 100 })
  const operations: Operation[] = [
    {
      tool: 'get_product',
      overRest: () => rest('GET', `/${productId}`),
      overMcp: () => mcp('get_product', { product_id: productId })
    },
    {
      tool: 'list_products',
      overRest: () => rest('GET', `?limit=25&sort=name&filter=${encodeURIComponent(JSON.stringify(filter))}`),
      overMcp: () => mcp('list_products', { limit: 25, sort: 'name', filter })
    },
    {
      tool: 'create_product',
      overRest: () => rest('POST', '', created()),
      overMcp: () => mcp('create_product', created()),
      commitsTo: url
    }
  ]

  // What the machine itself does to a call now and then, at a rate that is no load: below that nobody gets.
  const idle = await caller.latencies(
    shop.address,
    { rate: 100, seconds: seconds * 2 },
    () => ({ method: 'GET', path: '/healthz', headers: {} })
  )
  console.log(
    `a route that does nothing, 100 calls a second: p50 ${quantile(idle, 0.5).toFixed(1)} ms, p99 ` +
      `${quantile(idle, 0.99).toFixed(1)} ms`
  )

  const rows: Row[] = []
  for (const operation of operations) rows.push(await compare(shop, caller, operation))
  console.table(rows)
  if (rows.some(({ reached }) => !reached)) process.exitCode = 1
  caller.close()
  await stop(shop)
}

/** One tool, and the route that it calls. */
interface Operation {
  readonly tool: string
  readonly overRest: MakeRequest
  readonly overMcp: MakeRequest
  /** The database whose disk it waits for; a read waits for none. */
  readonly commitsTo?: string
}

/** One line of what is printed. */
interface Row {
  readonly reached: boolean
  readonly [column: string]: string | number | boolean
}

/** Everything is measured in each round, at the speed that the machine has then: it befalls REST and MCP alike. */
async function compare (shop: Shop, caller: Caller, { tool, overRest, overMcp, commitsTo }: Operation): Promise<Row> {
  for (const make of [overRest, overMcp]) await saturate(shop, make, WARM_UP)
  const once = async (): Promise<Round> => {
    const before = processorTime()
    const full = { rest: await saturate(shop, overRest, seconds), mcp: await saturate(shop, overMcp, seconds) }
    const load = { rate: full.mcp.rate / 2, seconds: seconds * 2 }
    const half = {
      rest: await caller.latencies(shop.address, load, overRest),
      mcp: await caller.latencies(shop.address, load, overMcp)
    }
    const commit = commitsTo === undefined ? [] : await caller.latencies(commitsTo, load)
    return { full, half, commit, stolen: stolenOf(before, processorTime()) }
  }
  // One for nothing: the caller compiles too.
  await once()
  const tries: Round[] = []
  while (tries.length < 2 * rounds && tries.filter(({ stolen }) => stolen <= STOLEN_MAX).length < rounds) {
    tries.push(await once())
  }
  const counted = tries.sort((one, other) => one.stolen - other.stolen).slice(0, rounds)
  const ratio = medianOf(counted, ({ full: { rest, mcp } }) => mcp.cpu / rest.cpu)
  const p99 = medianOf(counted, ({ half }) => quantile(half.mcp, 0.99))

  return {
    tool,
    'REST /s': Math.round(medianOf(counted, ({ full }) => full.rest.rate)),
    'MCP /s': Math.round(medianOf(counted, ({ full }) => full.mcp.rate)),
    'REST CPU µs': Math.round(medianOf(counted, ({ full }) => full.rest.cpu)),
    'MCP CPU µs': Math.round(medianOf(counted, ({ full }) => full.mcp.cpu)),
    'CPU ratio (≤ 1.3)': Number(ratio.toFixed(2)),
    'at half of MCP /s: p50 ms': Number(medianOf(counted, ({ half }) => quantile(half.mcp, 0.5)).toFixed(1)),
    'p99 ms (≤ 25)': Number(p99.toFixed(1)),
    'p99 ms of REST': Number(medianOf(counted, ({ half }) => quantile(half.rest, 0.99)).toFixed(1)),
    // What the disk makes of it, whoever asks.
    'p99 ms of a bare commit': commitsTo === undefined
      ? ''
      : Number(medianOf(counted, ({ commit }) => quantile(commit, 0.99)).toFixed(1)),
    'stolen %': Number(medianOf(counted, ({ stolen }) => stolen).toFixed(1)),
    reached: ratio <= 1.3 && p99 <= 25
  }
}

/** What is measured at once, so to speak. */
interface Round {
  /** Saturated. */
  readonly full: Both<Saturated>
  /** At half of the rate at which MCP was saturated, the milliseconds of each call, in rising order. */
  readonly half: Both<readonly number[]>
  /** The same of rows that are committed by themselves; none where nothing is written. */
  readonly commit: readonly number[]
  /** In percent, see {@link stolenOf}. */
  readonly stolen: number
}

interface Both<Figure> {
  readonly rest: Figure
  readonly mcp: Figure
}

/**
 * @returns what all processors have done since the machine started, in ticks, by kind (proc(5), `/proc/stat`); nothing
 * where there is no such file
 */
function processorTime (): number[] {
  if (platform() !== 'linux') return []
  const [all = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  return all.split(/\s+/).slice(1, 2 + STOLEN).map(Number)
}

/** @returns how much of the processors' time between two times was stolen, in percent; 0 where that is not known */
function stolenOf (before: readonly number[], after: readonly number[]): number {
  const during = after.map((time, kind) => time - before[kind]!)
  return 100 * (during[STOLEN] ?? 0) / Math.max(1, during.reduce((total, time) => total + time, 0))
}

function medianOf<Round> (rounds: readonly Round[], figure: (round: Round) => number): number {
  return quantile(rounds.map(figure).sort((a, b) => a - b), 0.5)
}

/** @param rising - in rising order */
function quantile (rising: readonly number[], part: number): number {
  return rising[Math.floor(rising.length * part)]!
}
