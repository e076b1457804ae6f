import knexFrom from 'knex'
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import payReconcile from '../src/index.ts'
import { createAccountIndexes, createPayReconcileTables, knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/stripe/index.ts'

/**
 * A dry run over 10,000 accounts of one shop at 100 calls a second, the provider's own limit: how long it
 * takes against what the rate allows, and how much the process grows. The stand-in is another process
 * (bench/stand-in.ts), so that only the server is measured.
 *
 *   TEST_DATABASE_URL=postgres://… nice node --expose-gc --import @tapjs/typescript/import bench/bulk.ts <stand-in port> [accounts] [per second]
 */
const [port = '', count = '10000', rate = '100'] = process.argv.slice(2)
const server = process.env.TEST_DATABASE_URL ?? ''
const name = `pay_bench_${randomUUID().replaceAll('-', '')}`
const admin = knexFrom({ client: 'pg', connection: server, pool: { min: 0, max: 1 } })
await admin.raw('create database ??', [name])
const url = new URL(server)
url.pathname = `/${name}`
const knex = knexFrom({ client: 'pg', connection: url.href })

try {
  await knex.raw('create table shops (id uuid primary key, name text not null, pay_secret_key text)')
  await knex.raw("create table accounts (id uuid primary key default gen_random_uuid(), shop_id uuid not null references shops, name text not null, hash_name text, details jsonb default '{}')")
  await createPayReconcileTables(knex)
  await createAccountIndexes(knex)
  await knex('shops').insert({ id: randomUUID(), name: 'Shop', pay_secret_key: 'sk_test_bench' })
  await knex.raw(`insert into accounts (shop_id, name, details)
    select s.id, 'Account ' || n, jsonb_build_object('pay_customer_id', 'cus_' || n) from shops s, generate_series(1, ?::int) n`, [Number(count)])

  const app = Fastify()
  app.register(payReconcile, {
    accounts: knexAccountStore(knex),
    runs: knexRunStore(knex),
    provider: stripeProvider({ host: '127.0.0.1', port: Number(port), protocol: 'http' }),
    authorize: async () => {},
    actor: () => 'bench',
    perSecond: Number(rate),
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
  while ((await status()).processed < Number(count) / 10) await pause()
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
  const allowed = Number(count) / Number(rate)
  console.table([{
    accounts: run.processed,
    'per second': Number(rate),
    seconds: Number(seconds.toFixed(1)),
    'allowed by the rate': allowed,
    ratio: Number((seconds / allowed).toFixed(2)),
    'growth MiB': Number((peak - before).toFixed(1)),
    'CPU ms each': Number(((cpu.user + cpu.system) / 1000 / run.processed).toFixed(2))
  }])
  console.log(run.outcomes)
  await app.close()
} finally {
  await knex.destroy()
  await admin.raw('drop database ?? with (force)', [name])
  await admin.destroy()
}
