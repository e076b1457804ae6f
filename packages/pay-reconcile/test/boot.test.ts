import t from 'tap'
import Fastify from 'fastify'
import payReconcile, { type PayReconcileOptions } from '../src/index.ts'
import { createAccountIndexes, createPayReconcileTables, dropPayReconcileTables, knexAccountStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/stripe/index.ts'
import { engines, pglite } from './database.ts'
import { build } from './world.ts'

t.test('wrong options throw at boot', async t => {
  const knex = await pglite.connect(t)
  const right: PayReconcileOptions = { accounts: knexAccountStore(knex), provider: stripeProvider(), authorize: async () => {}, actor: () => 'a' }
  for (const [wrong, message] of [
    [{ accounts: undefined }, 'accounts is missing: give an AccountStore'],
    [{ provider: undefined }, 'provider is missing: give a PayProvider'],
    [{ authorize: undefined }, 'authorize is missing: these routes show and change the accounts of every shop'],
    [{ actor: undefined }, 'actor is missing: the audit must say who changed an account'],
    [{ prefix: '' }, 'prefix must be a path like /admin/accounts'],
    [{ prefix: '/admin/' }, 'prefix must be a path like /admin/accounts'],
    [{ deadlineMs: 0 }, 'deadlineMs must be a positive number'],
    [{ attempts: 1.5 }, 'attempts must be an integer'],
    [{ perSecond: NaN }, 'perSecond must be a positive number'],
    [{ leaseMs: Infinity }, 'leaseMs must be a positive number']
  ] as const) {
    const app = Fastify()
    app.register(payReconcile, { ...right, ...wrong } as unknown as PayReconcileOptions)
    await t.rejects(async () => { await app.ready() }, { code: 'PAY_RECONCILE_INVALID_OPTION', message })
  }
})

t.test('without runs there are no bulk routes', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  const knex = await pglite.connect(t)
  app.register(payReconcile, {
    accounts: knexAccountStore(knex), provider: stripeProvider(), authorize: async () => {}, actor: () => 'a', prefix: '/staff/accounts', perSecond: 0.5
  })
  const response = await app.inject({ method: 'POST', url: '/staff/accounts/reconcile', payload: { mode: 'check' } })
  t.equal(response.statusCode, 404)
  t.equal((await app.inject('/staff/accounts')).headers['content-range'], 'accounts 0-100/0')
})

t.test('a host with other ideas of schemas and JSON changes nothing here', async t => {
  const knex = await pglite.connect(t)
  const { standIn, addShop, addAccount } = await build(t, knex)
  const accountId = await addAccount(await addShop(), {})
  const app = Fastify()
  t.teardown(() => app.close())
  app.setValidatorCompiler(() => { throw new RangeError('not my kind of schema') })
  app.setSerializerCompiler(() => { throw new RangeError('not my kind of schema') })
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', (_request, _payload, done) => done(new RangeError('no')))
  app.addHook('onRequest', async (_request, reply) => { reply.header('access-control-expose-headers', 'X-Total') })
  const { host, port, protocol } = standIn
  app.register(payReconcile, {
    accounts: knexAccountStore(knex), provider: stripeProvider({ host, port, protocol }), authorize: async () => {}, actor: () => 'a'
  })
  const linked = await app.inject({ method: 'POST', url: `/admin/accounts/${accountId}/link-pay`, payload: { pay_customer_id: 'cus_1' } })
  t.match(linked.json(), { id: accountId, pay_customer_id: 'cus_1' })
  const list = await app.inject('/admin/accounts')
  t.equal(list.headers['access-control-expose-headers'], 'X-Total, Content-Range', 'nor does it take the host\'s headers away')
})

t.test('an encrypted secret key is opened for its shop', async t => {
  const knex = await pglite.connect(t)
  const { addShop } = await build(t, knex)
  const store = knexAccountStore(knex, { openKey: async (stored, shopId) => `${stored} of ${shopId}` })
  const shopId = await addShop({ key: 'sealed' })
  t.equal(await store.secretKey(shopId), `sealed of ${shopId}`)
  t.equal(await store.secretKey(await addShop({ key: null })), null)
})

for (const engine of engines) {
  t.test(`tables come and go on ${engine.name}`, { skip: engine.skip }, async t => {
    const knex = await engine.connect(t)
    await createPayReconcileTables(knex)
    await createAccountIndexes(knex)
    await knex.transaction(async transaction => createPayReconcileTables(transaction))
    await dropPayReconcileTables(knex)
    await dropPayReconcileTables(knex)
    t.equal(await knex.schema.hasTable('pay_reconcile_audit'), false)
    t.equal(await knex.schema.hasTable('accounts'), true)
    await createPayReconcileTables(knex)
    t.equal(await knex.schema.hasTable('pay_reconcile_items'), true)
  })
}
