import { readFileSync } from 'node:fs'
import { dropPayReconcileTables } from 'pay-reconcile/knex'
import t from 'tap'
import { migrate } from '../src/migrations/migrate.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

/** The tables of pay-reconcile as version 1.0.0 of the shop made them. */
const TABLES = readFileSync(new URL('pay-tables-1.0.0.sql', import.meta.url), 'utf8')
const NAME = '011-pay-registrations'
const RUN = '5f5f0000-0000-4000-8000-000000000001'

/** What a server of version 1.0.0 writes. */
const WRITES = [
  `insert into pay_reconcile_audit (actor, action, account_id, shop_id, before, after)
   values ('ada', 'link', 'a1', 's1', '{}', '{"pay_customer_id":"cus_1"}')`,
  `insert into pay_reconcile_runs (id, mode, dry_run, actor, finished_at)
   values ('${RUN}', 'check', true, 'ada', now()) on conflict do nothing`,
  `insert into pay_reconcile_run_shops (run_id, shop_id, status, total)
   values ('${RUN}', 's1', 'done', 1) on conflict do nothing`,
  "insert into pay_reconcile_awaited (shop_id) values ('s1') on conflict (shop_id) do update set attempts = 0",
  "insert into pay_reconcile_deliveries (shop_id, id) values ('s1', 'evt_1') on conflict do nothing",
  `insert into pay_reconcile_changed (account_id, shop_id) values ('a1', 's1')
   on conflict (account_id) do update set version = excluded.version`,
  `insert into pay_reconcile_positions (shop_id, until, complete_at) values ('s1', now(), now())
   on conflict (shop_id) do update set until = excluded.until`
]

t.test('a database of version 1.0.0 keeps its audit and runs, also while servers of that version write', async (t) => {
  const database = await openTestDatabase(t)
  const { knex } = database
  await dropPayReconcileTables(knex)
  for (const statement of TABLES.split(/;\n/).filter((text) => text.trim() !== '')) await knex.raw(statement)
  await knex('knex_migrations').where({ name: NAME }).delete()
  const write = async (): Promise<void> => {
    for (const statement of WRITES) await knex.raw(statement)
  }
  await write()

  t.strictSame(await migrate(database), [NAME])
  await write()

  for (const table of ['audit', 'runs', 'run_shops', 'awaited', 'deliveries', 'changed', 'positions']) {
    const found = await knex(`pay_reconcile_${table}`).pluck('registration')
    t.strictSame([...new Set(found)], ['accounts'], table)
    t.equal(found.length, table === 'audit' ? 2 : 1, table)
  }

  await createShop(database, 'one')
  const idp = await openIdentityProvider(t, ['root'])
  const app = await build(t, database, idp)
  const token = bearer(await idp.userToken('root'))
  await app.inject({ url: '/me', headers: token })
  await knex('users').update({ roles: ['admin'] })
  const admin = client(app, '/admin/accounts', token)
  const { status, body } = await admin('GET', '/audit')
  t.equal(status, 200)
  t.strictSame(body.map(({ account_id: id }: { account_id: string }) => id), ['a1', 'a1'])
  t.match(await admin('GET', '/reconcile'), { status: 200, body: [{ id: RUN }] })
})
