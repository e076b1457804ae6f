// npm run bench [-- accounts shops per-second]: syncs of the same accounts, one by one as for a provider that cannot
// list customers, then in pages: how many requests the provider got, how long it took against what the rate allows,
// which part of what the rate allows nobody used, and how much the process grows. With arguments only in pages, and a
// dry run. The stand-in for the provider is another process, so that only the server is measured; it refuses requests
// beyond the rate with 429. To reach: one request for 100 accounts and shop, 10 % of the rate unused one by one up to
// 100 requests a second, 50 MiB.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import Fastify from 'fastify'
import type { Knex } from 'knex'
import payReconcile, { providerError, type PayProvider } from '../src/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { onDatabase } from './database.ts'

interface Scenario {
  readonly accounts: number
  readonly shops: number
  readonly perSecond: number
  /** Default: one by one, then in pages. */
  readonly only?: 'pages'
}

const [accounts, shops = 1, perSecond = 5] = process.argv.slice(2).map(Number)
const scenarios: readonly Scenario[] = accounts
  ? [{ accounts, shops, perSecond, only: 'pages' }]
  : [{ accounts: 5000, shops: 50, perSecond: 100 }, { accounts: 1000, shops: 1, perSecond: 25 }, {
    accounts: 5000,
    shops: 1,
    perSecond: 100
  }, { accounts: 10_000, shops: 1, perSecond: 500 }]
/**
 * Which part of what the rate allows a run one by one may leave unused, up to a rate at which the processor limits it.
 */
const MOST_IDLE = 0.1

for (const scenario of scenarios) {
  await onDatabase(
    `a bulk run over ${scenario.accounts} accounts of ${scenario.shops} shops`,
    (knex) => fill(knex, scenario),
    (knex) => measure(knex, scenario)
  )
}

async function fill (knex: Knex, { accounts, shops }: Scenario): Promise<void> {
  for (let shop = 0; shop < shops; shop++) {
    const id = randomUUID()
    await knex('shops').insert({ id, name: 'Shop', pay_secret_key: `sk_test_bench${shop}` })
    await knex.raw(
      `insert into accounts (shop_id, name, details)
      select ?, 'Account ' || n, jsonb_build_object('pay_customer_id', 'cus_' || n)
        from generate_series(0, ?::int - 1) n`,
      [id, accounts / shops]
    )
  }
}

async function measure (knex: Knex, scenario: Scenario): Promise<void> {
  const { accounts, shops, perSecond, only } = scenario
  const standIn = fork(
    fileURLToPath(new URL('stand-in.ts', import.meta.url)),
    [shops, accounts / shops, perSecond].map(String)
  )
  const [port] = await once(standIn, 'message') as [number]
  const requested = async (): Promise<number> => {
    standIn.send('requested')
    const [count] = await once(standIn, 'message') as [number]
    return count
  }
  const provider = stripeProvider({ host: '127.0.0.1', port, protocol: 'http' })
  const rows = []
  for (const reads of only ? [only] : ['one by one', 'pages'] as const) {
    rows.push({
      reads,
      ...await measureRun(knex, reads === 'pages' ? provider : withoutLists(provider), requested, scenario, reads)
    })
  }
  console.table(rows)
  if (rows.some(({ reached }) => !reached)) process.exitCode = 1
  standIn.disconnect()
}

/** A provider whose customers can only be read one by one. */
function withoutLists (provider: PayProvider): PayProvider {
  return {
    ...provider,
    listCustomers: async () => {
      throw providerError('refused')
    }
  }
}

async function measureRun (
  knex: Knex,
  provider: PayProvider,
  requested: () => Promise<number>,
  { accounts, shops, perSecond, only }: Scenario,
  reads: string
) {
  const app = Fastify()
  app.register(payReconcile, {
    accounts: knexAccountStore(knex),
    runs: knexRunStore(knex),
    provider,
    authorize: async () => {},
    actor: () => 'bench',
    perSecond,
    accountsAtOnce: 32,
    inFlight: 32
  })
  await app.ready()

  const used = (): number => {
    globalThis.gc?.()
    return process.memoryUsage().rss / 2 ** 20
  }
  const start = process.cpuUsage()
  const requestsBefore = await requested()
  const { id } = (await app.inject({
    method: 'POST',
    url: '/admin/accounts/reconcile',
    payload: { mode: 'sync', dry_run: only !== undefined }
  })).json()
  const status = async () => (await app.inject(`/admin/accounts/reconcile/${id}?limit=1`)).json()
  const pause = () => new Promise((resolve) => setTimeout(resolve, 250))
  // The first tenth loads code and fills pools; growth with the number of accounts is what comes after.
  let run = await status()
  while (run.processed < accounts / 10) {
    await pause()
    run = await status()
  }
  const before = used()
  let peak = before
  while (run.status === 'running') {
    await pause()
    run = await status()
    peak = Math.max(peak, used())
  }
  peak = Math.max(peak, used())
  const cpu = process.cpuUsage(start)
  const seconds = (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000
  const requests = await requested() - requestsBefore
  const growth = Number((peak - before).toFixed(1))
  // One by one, each account is a request, and all others were refused.
  const refused = reads === 'pages' ? 0 : requests - accounts
  const providerSeconds = (requests - refused) / perSecond / Math.min(shops, 4)
  const idle = Math.max(0, 1 - providerSeconds / seconds)
  await app.close()
  return {
    accounts,
    shops,
    'per second and key': perSecond,
    requests,
    seconds: Number(seconds.toFixed(1)),
    'allowed by the rate': Number(providerSeconds.toFixed(1)),
    'idle %': Number((100 * idle).toFixed(1)),
    refused,
    'growth MiB': growth,
    'CPU ms each': Number(((cpu.user + cpu.system) / 1000 / accounts).toFixed(2)),
    reached: run.outcomes.synced === accounts && growth < 50 &&
      (reads === 'pages' ? requests <= accounts / 100 + shops : shops > 1 || perSecond > 100 || idle <= MOST_IDLE)
  }
}
