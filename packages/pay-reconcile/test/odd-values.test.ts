import t from 'tap'
import { untilOver } from './bulk.ts'
import { engines } from './database.ts'
import { build, shopKey, type World } from './world.ts'

/** What other writers and old records have where an id or a time belongs. */
const odd: readonly unknown[] = [5, true, { id: 'cus_1' }, ['cus_1'], '', null]

async function run (world: World, body: object) {
  const { id } = (await world.call('POST', '/admin/accounts/reconcile', body)).json()
  await untilOver(world, id)
  return (await world.call('GET', `/admin/accounts/reconcile/${id}`)).json()
}

for (const engine of engines) {
  for (const detailsType of ['jsonb', 'json'] as const) {
    t.test(
      `an id that is no string is no id, in ${detailsType} on ${engine.name}`,
      { skip: engine.skip },
      async (t) => {
        const world = await build(t, await engine.connect(t, detailsType), {
          perSecond: 2000,
          accountsAtOnce: 2,
          leaseDuration: 60_000
        })
        const { app, call, addShop, addAccount, detailsOf, audit, standIn } = world
        const { customers } = standIn.account(shopKey)
        const shopId = await addShop()
        const filtered = async (filter: object) =>
          (await call(
            'GET',
            `/admin/accounts?filter=${encodeURIComponent(JSON.stringify(filter))}&sort=pay_customer_id`
          )).json().map(({ id }: { id: string }) => id).sort()

        for (const value of odd) {
          const title = JSON.stringify(value)
          const added = () => addAccount(shopId, { tier: 'gold', pay_customer_id: value, pay_synced_at: value })
          const [bought, linked, found] = [await added(), await added(), await added()]
          t.strictSame(
            await filtered({ missing_pay: true }),
            [bought, linked, found].sort(),
            `${title}: missing_pay finds it`
          )
          t.strictSame(await filtered({ pay_customer_id: null, pay_synced_at: null }), [bought, linked, found].sort())
          if (value !== null && value !== '') t.strictSame(await filtered({ pay_customer_id: String(value) }), [])
          t.match((await call('GET', `/admin/accounts/${bought}`)).json(), {
            pay_customer_id: null,
            pay_synced_at: null
          })

          const { customerId, created } = await app.payReconcile.ensureCustomer({ accountId: bought, actor: 'buyer-1' })
          t.strictSame(
            [created, await detailsOf(bought)],
            [true, { tier: 'gold', pay_customer_id: customerId }],
            `${title}: a checkout stores its customer`
          )

          const response = await call('POST', `/admin/accounts/${linked}/link-pay`, {
            pay_customer_id: `cus_for_${linked}`
          })
          t.strictSame([response.statusCode, response.json().pay_customer_id, await detailsOf(linked)], [
            200,
            `cus_for_${linked}`,
            { tier: 'gold', pay_customer_id: `cus_for_${linked}` }
          ], `${title}: link-pay too`)
          t.match(await audit(linked), [{
            action: 'link',
            before: { pay_customer_id: null },
            after: { pay_customer_id: `cus_for_${linked}` }
          }])

          customers.set('cus_found', { id: 'cus_found', object: 'customer', metadata: { account_id: found } })
          const { outcomes } = await run(world, { mode: 'link', shop_id: shopId, dry_run: false })
          t.strictSame(
            [outcomes.linked, await detailsOf(found)],
            [1, { tier: 'gold', pay_customer_id: 'cus_found' }],
            `${title}: a run too`
          )
          customers.delete('cus_found')
          await world.knex('accounts').delete()
        }

        const [one, two] = [
          await addAccount(shopId, { pay_customer_id: 5 }),
          await addAccount(shopId, { pay_customer_id: 5 })
        ]
        const same = await run(world, { mode: 'check', shop_id: shopId })
        t.match(
          same,
          { outcomes: { different: 2 }, differences: { missing: 2 } },
          'two accounts with the same number are no duplicates'
        )
        await call('POST', `/admin/accounts/${one}/link-pay`, { pay_customer_id: '5' })
        t.match(
          await run(world, { mode: 'check', shop_id: shopId }),
          { differences: { missing: 1, not_found: 1 } },
          'nor has another one the id 5'
        )
        await call('POST', `/admin/accounts/${two}/unlink-pay`)
        await world.knex('accounts').delete()

        // A time that is no string blocks no sync, and is not taken for a fresh one.
        for (const value of odd) {
          customers.set('cus_synced', { id: 'cus_synced', object: 'customer', name: 'Ada' })
          const synced = await addAccount(shopId, { pay_customer_id: 'cus_synced', pay_synced_at: value })
          t.match(await run(world, { mode: 'sync', shop_id: shopId, synced_before: '2020-01-01T00:00:00Z' }), {
            outcomes: { synced: 1 }
          }, `${JSON.stringify(value)} is no time`)
          const response = await call('POST', `/admin/accounts/${synced}/sync-pay`)
          t.match([response.statusCode, response.json(), await detailsOf(synced)], [200, { pay_synced_at: /Z$/ }, {
            pay_customer: { name: 'Ada' },
            pay_synced_at: response.json().pay_synced_at
          }])
          await world.knex('accounts').delete()
        }
      }
    )
  }
}

t.test('a write that changed no row is no success', async (t) => {
  const [engine] = engines
  const { knexAccountStore } = await import('../src/knex/index.ts')
  const knex = await engine!.connect(t)
  const accounts = knexAccountStore(knex)
  const unchanged = async ({ accountId }: { readonly accountId: string }) => ({
    changed: false,
    account: await accounts.get(accountId)
  })
  const { call, addShop, addAccount, standIn } = await build(t, knex, {
    accounts: { ...accounts, link: unchanged, saveSnapshot: unchanged }
  })
  standIn.account(shopKey).customers.set('cus_1', { id: 'cus_1', object: 'customer' })
  const accountId = await addAccount(await addShop(), { pay_customer_id: 'cus_1' })
  for (const [path, body] of [['link-pay', { pay_customer_id: 'cus_2' }], ['sync-pay', undefined]] as const) {
    const response = await call('POST', `/admin/accounts/${accountId}/${path}`, body)
    t.match([response.statusCode, response.json()], [409, { code: 'PAY_RECONCILE_CUSTOMER_CHANGED' }], path)
  }
})
