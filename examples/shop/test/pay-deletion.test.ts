import { setTimeout as pause } from 'node:timers/promises'
import { startPayStandIn } from 'pay-reconcile/testing'
import t from 'tap'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const ACCOUNTS = 60
const shops = Array.from({ length: 5 }, (_, n) => ({ name: `shop-${n}`, key: `sk_test_deletion${n}` }))
const customers = Array.from({ length: ACCOUNTS }, (_, n) => ({ id: `cus_${n}`, name: `Customer ${n}` }))
const standIn = await startPayStandIn({
  accounts: Object.fromEntries(shops.map(({ key }) => [key, { customers }])),
  log: () => {}
})
t.teardown(() => standIn.close())

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['admin'])
const app = await build(t, database, idp, { settings: { PAY_API_URL: standIn.url } })
const token = bearer(await idp.userToken('admin'))
await app.inject({ url: '/shops', headers: token })
await knex('users').where({ name: 'admin' }).update({ roles: ['admin'] })
const admin = client(app, '', token)

t.test('shops are deleted while a run writes to their accounts', async (t) => {
  for (const mode of ['sync', 'changes']) {
    const ids = await Promise.all(shops.map(async ({ name, key }) => {
      const id = await createShop(database, `${name}-${mode}`)
      await admin('PUT', `/shops/${id}/pay/key`, { pay_secret_key: key })
      await knex.raw(
        `insert into accounts (shop_id, name, details)
        select ?, 'Account ' || n, jsonb_build_object('pay_customer_id', 'cus_' || n)
          from generate_series(0, ?::int - 1) n`,
        [id, ACCOUNTS]
      )
      return id
    }))
    const { body: { id: run } } = await admin('POST', '/admin/accounts/reconcile', { mode, dry_run: false })
    const read = async () => (await admin('GET', `/admin/accounts/reconcile/${run}`)).body
    // Each is deleted in the middle of the writes to its accounts, as far as that can be hit.
    const deleted = await Promise.all(
      ids.slice(1).map(async (id) => {
        while (
          await knex('accounts').where({ shop_id: id }).whereRaw("details->'pay_customer' is not null").first('id') ===
            undefined
        ) await pause(1)
        return (await admin('DELETE', `/shops/${id}`)).status
      })
    )
    t.strictSame(deleted, ids.slice(1).map(() => 204), `${mode}: every deletion succeeds`)
    while ((await read()).status === 'running') await pause(20)
    t.match(await read(), { status: 'done' })
    t.equal(
      (await knex('accounts').whereIn('shop_id', ids).whereRaw("details->'pay_customer' is not null")).length,
      ACCOUNTS,
      'the shop that is left is in step'
    )
    const { body: items } = await admin('GET', `/admin/accounts/reconcile/${run}?outcome=failed&limit=1000`)
    t.strictSame(
      items.items.filter(({ shop_id: shopId }: { shop_id: string }) => shopId === ids[0]),
      [],
      'and nothing of it failed'
    )
    await admin('DELETE', `/shops/${ids[0]}`)
  }
})
