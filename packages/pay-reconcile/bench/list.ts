import knexFrom from 'knex'
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import payReconcile from '../src/index.ts'
import { createAccountIndexes, createPayReconcileTables, knexAccountStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/stripe/index.ts'

/**
 * Pages of 100 out of 100,000 accounts in 20 shops, half of them with a snapshot of about 1 KB, on a real
 * PostgreSQL (TEST_DATABASE_URL), through the whole HTTP route.
 *
 *   TEST_DATABASE_URL=postgres://… nice node --import @tapjs/typescript/import bench/list.ts
 */
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
  await knex.raw('create extension pg_trgm')
  await createPayReconcileTables(knex)
  await knex.raw("insert into shops select gen_random_uuid(), 'Shop ' || n from generate_series(1, 20) n")
  await knex.raw(`insert into accounts (shop_id, name, hash_name, details)
    select s.id, 'Account ' || md5(n::text), md5(n::text), case when n % 2 = 0 then '{}'::jsonb else jsonb_build_object(
      'pay_customer_id', 'cus_' || n, 'pay_synced_at', '2026-01-01T00:00:00.000Z',
      'pay_customer', (select jsonb_object_agg('field_' || f, md5((n * f)::text)) from generate_series(1, 20) f)) end
    from generate_series(1, 100000) n join lateral (select id from shops offset n % 20 limit 1) s on true`)
  await createAccountIndexes(knex)
  await knex.raw('vacuum analyze accounts')
  const { id: shopId } = await knex('shops').first('id')

  const app = Fastify()
  app.register(payReconcile, { accounts: knexAccountStore(knex), provider: stripeProvider(), authorize: async () => {}, actor: () => 'bench' })
  await app.ready()

  const filter = (value: object) => `filter=${encodeURIComponent(JSON.stringify(value))}`
  const rows: Array<Record<string, string | number>> = []
  for (const [title, query] of [
    ['all, by id', ''],
    ['all, by name', 'sort=name'],
    ['missing, by name', 'missing_pay=true&sort=name'],
    ['with a customer, by name', 'missing_pay=false&sort=-name'],
    ['one shop, missing, by name', `shop_id=${shopId}&missing_pay=true&sort=name`],
    ['one shop, by synced', `shop_id=${shopId}&sort=-pay_synced_at`],
    ['one customer', filter({ pay_customer_id: 'cus_77777' })],
    ['part of the name, by name', `${filter({ q: 'abc' })}&sort=name`]
  ] as const) {
    for (const skip of [0, 50_000]) {
      const times: number[] = []
      for (let n = 0; n < 110; n++) {
        const start = performance.now()
        const response = await app.inject(`/admin/accounts?${query}&skip=${skip}`)
        if (response.statusCode !== 200) throw new RangeError(response.body)
        if (n >= 10) times.push(performance.now() - start)
      }
      times.sort((a, b) => a - b)
      rows.push({ list: title, skip, 'p50 ms': Number(times[49]?.toFixed(1)), 'p99 ms': Number(times[98]?.toFixed(1)) })
    }
  }
  console.table(rows)
  await app.close()
} finally {
  await knex.destroy()
  await admin.raw('drop database ?? with (force)', [name])
  await admin.destroy()
}
