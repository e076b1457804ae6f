import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPayStandIn } from 'pay-reconcile/testing'
import Stripe from 'stripe'
import t from 'tap'
import { keyRing } from '../src/pay/key-ring.ts'
import { resealPayKeys } from '../src/pay/pay-keys.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const KEY = 'sk_test_canaryKey'
const SECRET = 'whsec_canarySecretOfTheShop0001'
const standIn = await startPayStandIn({
  accounts: { [KEY]: { customers: [{ id: 'cus_1', name: 'First' }] } },
  log: () => {}
})
t.teardown(async () => await standIn.close())
const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['admin'])
const lines: string[] = []
const stream = new Writable({
  write (line, _encoding, done) {
    lines.push(String(line))
    done()
  }
})
const settings = {
  PAY_API_URL: standIn.url,
  PAY_WEBHOOKS_ENABLED: 'true',
  METRICS_TOKEN: 'canary-metrics-token-0123456789',
  PUBLIC_BASE_URL: 'http://localhost:8080'
}
const app = await build(t, database, idp, { settings, logger: { level: 'trace', stream } })
const machine = bearer(await idp.machineToken())
const shopId = await createShop(database, 'here')
const pay = client(app, `/shops/${shopId}/pay`, machine)
const { webhooks } = new Stripe('sk_test_none')

async function deliver (to: string, secret = SECRET, server = app) {
  const payload = JSON.stringify({ id: `evt_${randomUUID()}`, object: 'event', type: 'customer.updated' })
  const { statusCode, body } = await server.inject({
    method: 'POST',
    url: `/admin/accounts/webhooks/${to}`,
    payload,
    headers: {
      'content-type': 'application/json',
      'stripe-signature': webhooks.generateTestHeaderString({ payload, secret })
    }
  })
  return [statusCode, body === '' ? undefined : JSON.parse(body).code]
}
const refused = [400, 'PAY_RECONCILE_WEBHOOK_REFUSED']

t.test('by default there is no route for events, and none for secrets', async (t) => {
  const closed = await build(t, database, idp, { settings: { PAY_API_URL: standIn.url } })
  t.strictSame(await deliver(shopId, SECRET, closed), [404, 'SHOP_ROUTE_NOT_FOUND'])
  t.equal(
    (await client(closed, `/shops/${shopId}/pay`, machine)('PUT', '/webhook-secret', { pay_webhook_secret: SECRET }))
      .status,
    404
  )
})

t.test('a shop has no webhook until it has a secret, which is stored encrypted and never shown', async (t) => {
  t.strictSame(await deliver(shopId), refused)
  for (const bad of ['', 'whsec_', 'sk_test_1234567890123456', 'whsec_ 1234567890123456']) {
    t.match(await pay('PUT', '/webhook-secret', { pay_webhook_secret: bad }), {
      status: 422,
      body: { field: 'pay_webhook_secret' }
    }, bad)
  }
  t.match(await pay('PUT', '/webhook-secret', { pay_webhook_secret: SECRET }), {
    status: 200,
    body: { url: `http://localhost:8080/admin/accounts/webhooks/${shopId}` }
  })
  const { pay_webhook_secret: sealed } = await knex('shops').where({ id: shopId }).first('pay_webhook_secret')
  t.match(sealed, /^v1:/)
  t.notMatch(sealed, 'canary')
  const ring = keyRing([idp.settings['PAY_KEY_SECRETS']!])
  t.notOk(ring.opens(sealed, shopId), 'it is no key, if it is copied to the column of keys')
})

t.test('a signed event leads to a run, a wrong one gets what an unknown shop gets', async (t) => {
  await pay('PUT', '/key', { pay_secret_key: KEY })
  const account = await client(app, `/shops/${shopId}`, machine)('POST', '/accounts', { name: 'Ada' })
  await knex('accounts').where({ id: account.body.id }).update({
    details: JSON.stringify({ pay_customer_id: 'cus_1' })
  })
  t.strictSame(await deliver(shopId, 'whsec_anotherSecret000000000'), refused)
  t.strictSame(await deliver(randomUUID()), refused)
  t.strictSame(await deliver('nothing'), refused)
  t.strictSame(await knex('pay_reconcile_awaited').pluck('shop_id'), [])
  t.strictSame(await deliver(shopId), [204, undefined])
  t.strictSame(await knex('pay_reconcile_awaited').pluck('shop_id'), [shopId])
  // Another process, so that nobody has to wait for the first to have gathered.
  await build(t, database, idp, { settings })
  while ((await knex('accounts').where({ id: account.body.id }).first('details')).details.pay_customer === undefined) {
    await sleep(20)
  }
  t.match(await knex('pay_reconcile_audit').where({ account_id: account.body.id }).first('actor', 'action'), {
    actor: 'webhook',
    action: 'sync'
  })
})

t.test('it moves to the newest secret with the keys, and without that the shop has no webhook', async (t) => {
  const [newer, older] = [`new:${'n'.repeat(32)}`, idp.settings['PAY_KEY_SECRETS']!]
  const both = keyRing([newer, older])
  t.match(await resealPayKeys(knex, both), { resealed: 2, current: 0, unreadable: [] })
  t.match(await resealPayKeys(knex, both), { resealed: 0, current: 2, unreadable: [] })
  t.match(await resealPayKeys(knex, keyRing([older])), { unreadable: [shopId] })
  t.strictSame(await deliver(shopId), refused)
  await resealPayKeys(knex, keyRing([older, newer]))
  t.strictSame(await deliver(shopId), [204, undefined])
  t.equal((await pay('DELETE', '/webhook-secret')).status, 204)
  t.equal((await pay('DELETE', '/webhook-secret')).status, 204)
  t.strictSame(await deliver(shopId), refused)
  t.notMatch(lines.join(''), 'canary')
})
