import t from 'tap'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { reportText } from '../src/cli/tables.ts'
import { fast, finished, start } from './bulk.ts'
import { engines, pglite } from './database.ts'
import { startPayStandIn } from '../src/testing/index.ts'
import { build, host } from './world.ts'

const platforms = [
  ['a Connect platform', 'sk_test_platform', 'stripe-account', 'stripe-context'],
  ['an organization', 'sk_org_test_all', 'stripe-context', 'stripe-account']
] as const

for (const engine of engines) {
  for (const [kind, platformKey, header, otherHeader] of platforms) {
    t.test(`shops under the key of ${kind} on ${engine.name}`, { skip: engine.skip }, async (t) => {
      const knex = await engine.connect(t)
      // One process alone: another would take parts over whose lease ran out, without the key.
      const standIn = await startPayStandIn({ accounts: {}, log: () => {} })
      t.teardown(() => standIn.close())
      const { host: at, port, protocol } = standIn
      const { connected } = standIn.addAccount(platformKey, {
        customers: [{ id: 'cus_ours', name: 'Of the platform' }],
        connected: {
          acct_1: { customers: [{ id: 'cus_1', name: 'One' }] },
          acct_2: { customers: [{ id: 'cus_1', name: 'Other One' }, { id: 'cus_unlinked' }] }
        }
      })
      standIn.addAccount('sk_test_own', { customers: [{ id: 'cus_1', name: 'Own' }] })
      const world = await host(t, knex, standIn, {
        ...fast,
        provider: stripeProvider({ host: at, port, protocol, platformKey })
      })
      const { call, app, addShop, addAccount, detailsOf } = world
      const shops = {
        acct_1: await addShop({ key: 'acct_1' }),
        acct_2: await addShop({ key: 'acct_2' }),
        own: await addShop({ key: 'sk_test_own' })
      }
      const accounts = {
        acct_1: await addAccount(shops.acct_1, { pay_customer_id: 'cus_1' }),
        acct_2: await addAccount(shops.acct_2, { pay_customer_id: 'cus_1' }),
        own: await addAccount(shops.own, { pay_customer_id: 'cus_1' })
      }
      const before = standIn.requests.length

      t.match(await finished(world, await start(world, { mode: 'changes', dry_run: false })), {
        outcomes: { synced: 3 },
        shops: { stopped: [] }
      })
      t.match(await Promise.all(Object.values(accounts).map(detailsOf)), [{ pay_customer: { name: 'One' } }, {
        pay_customer: { name: 'Other One' }
      }, { pay_customer: { name: 'Own' } }])
      t.match((await call('GET', `/admin/accounts/unlinked-customers?shop_id=${shops.acct_2}`)).json(), {
        customers: [{ pay_customer_id: 'cus_unlinked' }],
        next: null
      })
      const { customerId, created } = await app.payReconcile.ensureCustomer({
        accountId: await addAccount(shops.acct_1),
        actor: 'a',
        name: 'New'
      })
      t.match([created, connected.get('acct_1')?.customers.get(customerId)], [true, { name: 'New' }])
      t.notOk(standIn.account(platformKey).customers.has(customerId))

      const seen = standIn.requests.slice(before).map(({ secretKey, headers }) =>
        [secretKey, headers[header], headers[otherHeader]].join(' ')
      )
      t.strictSame(
        [...new Set(seen)].sort(),
        [`${platformKey} acct_1 `, `${platformKey} acct_2 `, 'sk_test_own  '].sort(),
        'each call names its account, and no other'
      )

      const strange = await addAccount(await addShop({ key: 'acct_3' }), { pay_customer_id: 'cus_1' })
      t.match((await call('GET', `/admin/accounts/${strange}/pay-customer`)).json(), {
        statusCode: 502,
        code: 'PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN'
      }, 'an account that the key does not reach')
      const requested = standIn.requested
      for (
        const key of [
          'acct_',
          'acct_1\r\nstripe-account: acct_2',
          'acct_1/acct_2',
          'acct_1,acct_2',
          ' acct_1',
          platformKey.replace('_', '-')
        ]
      ) {
        const malformed = await addAccount(await addShop({ key }), { pay_customer_id: 'cus_1' })
        t.match((await call('GET', `/admin/accounts/${malformed}/pay-customer`)).json(), {
          statusCode: 400,
          code: 'PAY_RECONCILE_NO_SECRET_KEY'
        }, key)
      }
      t.equal(standIn.requested, requested, 'nothing was sent')
    })
  }
}

t.test('without a platform key, the id of an account is no key', async (t) => {
  const { call, addShop, addAccount, standIn } = await build(t, await pglite.connect(t))
  for (const key of ['acct_1', 'sk_org_test_all']) {
    const accountId = await addAccount(await addShop({ key }), { pay_customer_id: 'cus_1' })
    t.match((await call('GET', `/admin/accounts/${accountId}/pay-customer`)).json(), {
      statusCode: 400,
      code: 'PAY_RECONCILE_NO_SECRET_KEY'
    })
  }
  t.strictSame(standIn.requests, [])
  for (const platformKey of ['', 'pk_test_1', 'acct_1', 'sk_org_', 'sk_test_1 ']) {
    t.throws(() => stripeProvider({ platformKey }), {
      code: 'PAY_RECONCILE_INVALID_OPTION',
      message: /platformKey must be a secret key/
    }, platformKey)
  }
})

for (const engine of engines) {
  t.test(`a restricted key says which permission it lacks on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const world = await build(t, await engine.connect(t), fast)
    const { call, addShop, addAccount, standIn, logs } = world
    const shopOf = async (key: string, permissions: readonly string[]) => {
      standIn.addAccount(key, { customers: [{ id: 'cus_1' }], permissions })
      const shopId = await addShop({ key })
      return { shopId, accountId: await addAccount(shopId, { pay_customer_id: 'cus_1' }) }
    }
    const narrow = await shopOf('rk_test_narrowCANARY', ['payments:read'])
    const reading = await shopOf('rk_test_readingCANARY', ['customers:read'])
    t.strictSame(
      Object.entries((await call('GET', `/admin/accounts/${narrow.accountId}/pay-customer`)).json()).filter(([name]) =>
        name !== 'provider_request_id'
      ),
      [
        ['statusCode', 502],
        ['code', 'PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN'],
        ['error', 'Bad Gateway'],
        ['message', 'The secret key of the shop may not do this at the payment provider'],
        ['missing_permission', 'rak_customer_read']
      ]
    )
    const run = await finished(world, await start(world, { mode: 'changes', dry_run: false }))
    t.strictSame(
      new Map(run.shops.stopped.map((stopped: { shop_id: string }) => [stopped.shop_id, stopped])),
      new Map([narrow, reading].map(({ shopId }) => [shopId, {
        shop_id: shopId,
        reason: 'PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN',
        missing_permission: 'rak_event_read'
      }]))
    )
    t.match(reportText(run), /PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN {2}lacks rak_event_read/)
    t.match((await finished(world, await start(world, { mode: 'check', shop_id: narrow.shopId }))).shops.stopped, [{
      missing_permission: 'rak_customer_read'
    }])
    const refused = await world.app.payReconcile.ensureCustomer({
      accountId: await addAccount(reading.shopId),
      actor: 'a'
    }).catch((error: unknown) => error)
    t.match(refused, { missing_permission: 'rak_customer_write' })

    for (
      const message of [
        "Having the 'CANARY' permission would allow this",
        `Having the 'rak_${'x'.repeat(80)}' permission would`,
        "'rak_a b' permission"
      ]
    ) {
      standIn.fault({
        kind: 'answer',
        status: 403,
        times: 1,
        body: { error: { type: 'invalid_request_error', message } }
      })
      const body = (await call('GET', `/admin/accounts/${reading.accountId}/pay-customer`)).json()
      t.strictSame([body.code, body.missing_permission], ['PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN', undefined])
    }
    t.notMatch(logs(), 'CANARY')
  })
}
