// npm run bench [-- accounts per-second]: a dry run over the accounts of one shop at the provider's own limit: how
// long it takes against what the rate allows, and how much the process grows. The stand-in for the provider is
// another process, so that only the server is measured. To reach: 1.2 of what the rate allows, 50 MiB.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import Fastify from 'fastify'
import type { Knex } from 'knex'
import payReconcile from '../src/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { onDatabase } from './database.ts'

const [count = 10_000, rate = 100] = process.argv.slice(2).map(Number)

await onDatabase(`a bulk run over ${count} accounts`, fill, measure)

async function fill (knex: Knex): Promise<void> {
  await knex('shops').insert({ id: randomUUID(), name: 'Shop', pay_secret_key: 'sk_test_bench' })
  await knex.raw(`insert into accounts (shop_id, name, details)
    select s.id, 'Account ' || n, jsonb_build_object('pay_customer_id', 'cus_' || n) from shops s, generate_series(1, ?::int) n`, [count])
}

async function measure (knex: Knex): Promise<void> {
  const standIn = fork(fileURLToPath(new URL('stand-in.ts', import.meta.url)), [String(count)])
  const [port] = await once(standIn, 'message') as [number]
  const app = Fastify()
  app.register(payReconcile, {
    accounts: knexAccountStore(knex),
    runs: knexRunStore(knex),
    provider: stripeProvider({ host: '127.0.0.1', port, protocol: 'http' }),
    authorize: async () => {},
    actor: () => 'bench',
    perSecond: rate,
    accountsAtOnce: 8,
    inFlight: 8
  })
  await app.ready()

  const used = (): number => {
    globalThis.gc?.()
    return process.memoryUsage().rss / 2 ** 20
  }
  const start = process.cpuUsage()
  const { id } = (await app.inject({ method: 'POST', url: '/admin/accounts/reconcile', payload: { mode: 'sync' } })).json()
  const status = async () => (await app.inject(`/admin/accounts/reconcile/${id}?limit=1`)).json()
  const pause = () => new Promise(resolve => setTimeout(resolve, 1000))
  // The first thousand load code and fill pools; growth with the number of accounts is what comes after.
  while ((await status()).processed < count / 10) await pause()
  const before = used()
  let peak = before
  let run = await status()
  while (run.status === 'running') {
    for (let second = 0; second < 10 && run.status === 'running'; second++) {
      await pause()
      run = await status()
    }
    peak = Math.max(peak, used())
  }
  const seconds = (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000
  const cpu = process.cpuUsage(start)
  const ratio = Number((seconds / (count / rate)).toFixed(2))
  const growth = Number((peak - before).toFixed(1))
  const reached = run.outcomes.synced === count && ratio <= 1.2 && growth < 50
  console.table([{
    accounts: run.processed,
    'per second': rate,
    seconds: Number(seconds.toFixed(1)),
    'allowed by the rate': count / rate,
    ratio,
    'growth MiB': growth,
    'CPU ms each': Number(((cpu.user + cpu.system) / 1000 / run.processed).toFixed(2)),
    reached
  }])
  console.log(run.outcomes)
  if (!reached) process.exitCode = 1
  await app.close()
  standIn.disconnect()
}
