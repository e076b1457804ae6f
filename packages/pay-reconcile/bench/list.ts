// Pages of 100 out of 100,000 accounts in 20 shops, half of them with a snapshot of about 1 KB, on a real PostgreSQL,
// through the whole HTTP route. To reach: p99 25 ms at skip 0, 100 ms at skip 50,000.
import Fastify from 'fastify'
import type { Knex } from 'knex'
import payReconcile from '../src/index.ts'
import { knexAccountStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { onDatabase } from './database.ts'

await onDatabase('lists of 100,000 accounts', fill, measure)

async function fill (knex: Knex): Promise<void> {
  await knex.raw("insert into shops select gen_random_uuid(), 'Shop ' || n from generate_series(1, 20) n")
  await knex.raw(`insert into accounts (shop_id, name, hash_name, details)
    select s.id, 'Account ' || md5(n::text), md5(n::text), case when n % 2 = 0 then '{}'::jsonb else jsonb_build_object(
      'pay_customer_id', 'cus_' || n, 'pay_synced_at', '2026-01-01T00:00:00.000Z',
      'pay_customer', (select jsonb_object_agg('field_' || f, md5((n * f)::text)) from generate_series(1, 20) f)) end
    from generate_series(1, 100000) n join lateral (select id from shops offset n % 20 limit 1) s on true`)
}

async function measure (knex: Knex): Promise<void> {
  const { id: shopId } = await knex('shops').first('id')
  const app = Fastify()
  app.register(payReconcile, {
    accounts: knexAccountStore(knex),
    provider: stripeProvider(),
    authorize: async () => {},
    actor: () => 'bench'
  })
  await app.ready()

  const page = async (query: string, skip: number): Promise<number> => {
    const start = performance.now()
    const response = await app.inject(`/admin/accounts?${query}&skip=${skip}`)
    if (response.statusCode !== 200) throw new RangeError(response.body)
    return performance.now() - start
  }
  const filter = (value: object): string => `filter=${encodeURIComponent(JSON.stringify(value))}`
  const lists = [
    ['all, by id', ''],
    ['all, by name', 'sort=name'],
    ['all, by shop', 'sort=shop_name'],
    ['all, by hash', 'sort=-hash_name'],
    ['all, by customer', 'sort=-pay_customer_id'],
    ['all, by synced', 'sort=pay_synced_at'],
    ['all, by synced, newest first', 'sort=-pay_synced_at'],
    ['missing, by name', 'missing_pay=true&sort=name'],
    ['with a customer, by name', 'missing_pay=false&sort=-name'],
    ['one shop, missing, by name', `shop_id=${shopId}&missing_pay=true&sort=name`],
    ['one shop, by synced', `shop_id=${shopId}&sort=-pay_synced_at`],
    ['one customer', filter({ pay_customer_id: 'cus_77777' })],
    ['part of the name, by name', `${filter({ q: 'abc' })}&sort=name`]
  ] as const
  for (const [, query] of lists) for (let n = 0; n < 60; n++) await page(query, n % 2 * 50_000)

  const rows: Array<Record<string, string | number | boolean>> = []
  for (const [title, query] of lists) {
    for (const [skip, limit] of [[0, 25], [50_000, 100]] as const) {
      const times: number[] = []
      for (let n = 0; n < 200; n++) times.push(await page(query, skip))
      times.sort((a, b) => a - b)
      const p99 = Number(times[197]?.toFixed(1))
      rows.push({
        list: title,
        skip,
        'p50 ms': Number(times[99]?.toFixed(1)),
        'p99 ms': p99,
        'to reach': limit,
        reached: p99 <= limit
      })
    }
  }
  console.table(rows)
  if (rows.some(({ reached }) => reached === false)) process.exitCode = 1
  await app.close()
}
