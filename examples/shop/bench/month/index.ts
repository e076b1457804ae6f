// npm run month [-- minutes]: a month of two hundred shops runs for an hour, two minutes a day, on a PostgreSQL server
// (TEST_DATABASE_URL, as a superuser). Prints what each day took and left, and exits with 1 if a call failed, if calls
// became slow, or if memory, handles or tables grew. Leave the machine alone meanwhile: its load is printed.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import knex, { type Knex } from 'knex'
import { startPayStandIn } from 'pay-reconcile/testing'
import { clientOf } from './client.ts'
import { deedsOf } from './deeds.ts'
import { NIGHT } from './length.ts'
import { callRandomly } from './load.ts'
import { broken, type Day, print } from './report.ts'
import { becomeADayOlder, datedRows, sizes, vacuum } from './tables.ts'
import { ADMIN, openWorld, PAYING, PEOPLE, type World } from './world.ts'
import { launch, onDatabase, type Shop, stop, usage } from '../shop.ts'

/** Calls a second, and for how long in a day: far from what the server can do. The rest of a day is its night. */
const BUSY = { rate: 80, seconds: 60 }
const QUIET = { rate: 20, seconds: 45 }
const WARM_UP = { rate: 60, seconds: 30 }
/** Between two deeds of a day, in milliseconds. */
const PAUSE = 7000
/** Changes of records are kept for so many days of the month. */
const HISTORY_DAYS = 3
const METRICS_TOKEN = randomBytes(16).toString('hex')

const [minutes = 60] = process.argv.slice(2).map(Number)
const days = Math.floor(minutes * 60_000 / NIGHT)
if (!(days >= 2)) throw new RangeError('minutes must be at least 4')

await onDatabase('a month', async (url) => {
  const payKeys = Array.from({ length: PAYING.shops }, () => `sk_test_${randomBytes(12).toString('hex')}`)
  const standIn = await startPayStandIn({
    accounts: Object.fromEntries(payKeys.map((key) => [key, {}])),
    log: () => {}
  })
  const shop = await launch(url, {
    people: PEOPLE,
    nodeOptions: ['--import', new URL('nights.ts', import.meta.url).href],
    settings: {
      // The machine calls all shops.
      RATE_LIMIT_MAX: 1_000_000,
      HISTORY_DAYS,
      METRICS_TOKEN,
      LOG_LEVEL: 'error',
      PAY_API_URL: standIn.url,
      PAY_SCHEDULE_CHECK: '*/2 * * * *',
      PAY_SCHEDULE_CHANGES: '1-59/2 * * * *'
    }
  })
  const tables = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 } })
  const client = clientOf(shop.address)
  try {
    const world = await openWorld(tables, shop, client, (n) => payKeys[n]!)
    console.log(`${world.shops.length} shops, ${days} days; MB of the largest tables:`, await sizes(tables))
    await callRandomly(world, WARM_UP)
    client.times.length = 0
    await passMonth(world, shop, tables)
  } finally {
    await client.rest()
    await tables.destroy()
    await stop(shop)
    await standIn.close()
  }
})

async function passMonth (world: World, shop: Shop, tables: Knex): Promise<void> {
  const { client } = world
  const start = performance.now()
  const kept: Day[] = []
  for (let day = 1; day <= days; day++) {
    const before = client.times.length
    await Promise.all([
      callRandomly(world, BUSY).then(async () => await callRandomly(world, QUIET)),
      deedsOf(day, world, PAUSE)
    ])
    const metricsOfDay = await metrics(shop)
    await client.rest()
    await checkRuns(world)
    await becomeADayOlder(tables)
    await vacuum(tables)
    await world.signIn()
    // Its connections are closed; the server learns of it in a moment.
    await sleep(1000)
    const now = { ...await usage(shop, { collect: true }), rows: await datedRows(tables) }
    kept.push(now)
    print(day, now, { times: client.times.slice(before), failures: client.failures, metrics: metricsOfDay })
    if (day % 5 === 0) console.log('  MB of the largest tables:', await sizes(tables))
    await sleep(Math.max(0, start + day * NIGHT - performance.now()))
  }
  const missed = broken(kept, client, start, HISTORY_DAYS)
  console.log(missed.length === 0 ? 'every figure is reached' : `MISSED: ${missed.join('; ')}`)
  if (missed.length > 0) process.exitCode = 1
}

/** Of the server's own metrics, by name with labels. */
async function metrics ({ address }: Shop): Promise<ReadonlyMap<string, number>> {
  const answer = await fetch(`${address}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
  const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

/** A check of all accounts has ended lately, and nothing went wrong in the last runs. */
async function checkRuns ({ client, headers }: World): Promise<void> {
  const path = '/admin/accounts/reconcile?limit=5'
  const runs = await client.send({ name: 'list_runs', path, headers: headers.get(ADMIN)! }) ?? []
  if (!runs.some((run: any) => run.mode === 'check' && run.status === 'done')) {
    client.fail('no check of the accounts', JSON.stringify(runs))
  }
  for (const { mode, status, outcomes: { failed = 0 } = {} } of runs) {
    if (!['done', 'running', 'pending'].includes(status) || failed > 0) {
      client.fail(`a run of ${mode} went wrong`, `${status}, ${failed} accounts failed`)
    }
  }
}
