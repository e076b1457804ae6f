import t from 'tap'
import Fastify, { type InjectOptions, type RouteOptions } from 'fastify'
import { randomUUID } from 'node:crypto'
import payReconcile from '../src/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { pglite } from './database.ts'
import { build, superuser } from './world.ts'

const writes = [
  ['POST', '/admin/accounts/:id/sync-pay'],
  ['POST', '/admin/accounts/:id/link-pay'],
  ['POST', '/admin/accounts/:id/unlink-pay'],
  ['POST', '/admin/accounts/reconcile'],
  ['DELETE', '/admin/accounts/reconcile/:id']
] as const

/** Bodies that cannot be read, and what Fastify says to each. */
const bodies: ReadonlyArray<readonly [string, number, Pick<InjectOptions, 'headers' | 'payload'>]> = [
  ['a body shorter than it says', 400, {
    headers: { 'content-type': 'application/json', 'content-length': '100' },
    payload: '{}'
  }],
  ['a body of 2 MiB', 413, { headers: { 'content-type': 'application/json' }, payload: `"${'x'.repeat(2 ** 21)}"` }],
  ['a form', 415, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'pay_customer_id=cus_1'
  }]
]

t.test('a write route documents what it answers to a body that cannot be read', async (t) => {
  const knex = await pglite.connect(t)
  const app = Fastify()
  t.teardown(() => app.close())
  const routes = new Map<string, RouteOptions>()
  app.addHook('onRoute', (route) => {
    routes.set(`${String(route.method)} ${route.url}`, route)
  })
  app.register(payReconcile, {
    accounts: knexAccountStore(knex),
    provider: stripeProvider(),
    runs: knexRunStore(knex),
    authorize: async () => {},
    actor: () => 'a'
  })
  await app.ready()
  for (const [method, url] of writes) {
    const documented = Object.keys(routes.get(`${method} ${url}`)?.schema?.response ?? {})
    for (const [title, status, body] of bodies) {
      const response = await app.inject({ method, url: url.replace(':id', randomUUID()), ...body })
      t.equal(response.statusCode, status, `${method} ${url}: ${title} gets ${status}`)
      t.ok(documented.includes(String(status)), `${method} ${url} documents ${status}`)
      t.match(response.json(), { statusCode: status, code: /^FST_ERR_CTP_/ })
    }
  }
  const methods = [...routes.values()].filter(({ method }) => method !== 'GET' && method !== 'HEAD')
  t.equal(methods.length, writes.length, 'these are all write routes')
})

t.test('bodies of writes are what they must be, and nothing else', async (t) => {
  const { call, addShop, addAccount } = await build(t, await pglite.connect(t))
  const accountId = await addAccount(await addShop())
  const long = (length: number) => 'x'.repeat(length)
  for (
    const [path, body, status, field] of [
      [`${accountId}/link-pay`, { pay_customer_id: long(255) }, 200, undefined],
      [`${accountId}/link-pay`, { pay_customer_id: long(256) }, 422, 'pay_customer_id'],
      [`${accountId}/link-pay`, { pay_customer_id: '' }, 422, 'pay_customer_id'],
      [`${accountId}/link-pay`, { pay_customer_id: 'cus_1', 'a/b~': 1 }, 422, 'a/b~'],
      [`${accountId}/link-pay`, {}, 422, 'pay_customer_id'],
      ['reconcile', { mode: 'sync', accounts: [accountId, ''] }, 422, 'accounts/1'],
      ['reconcile', { mode: 'sync', accounts: [long(256)] }, 422, 'accounts/0'],
      ['reconcile', { mode: 'sync', accounts: [long(255)] }, 422, 'accounts'],
      ['reconcile', { mode: 'sync', accounts: [] }, 422, 'accounts'],
      ['reconcile', { mode: 'unlink', accounts: Array(1000).fill(accountId) }, 202, undefined]
    ] as const
  ) {
    const response = await call('POST', `/admin/accounts/${path}`, body)
    t.match([response.statusCode, response.json().field], [status, field], JSON.stringify(body).slice(0, 60))
  }
})

t.test('a body that is empty may have any type', async (t) => {
  const { app, addShop, addAccount } = await build(t, await pglite.connect(t))
  const url = `/admin/accounts/${await addAccount(await addShop())}/unlink-pay`
  for (
    const [type, payload, status] of [
      ['application/json', '', 200],
      ['text/plain', '', 200],
      ['text/plain', 'x', 415],
      ['application/json', '{', 400],
      ['application/json', 'null', 200]
    ] as const
  ) {
    t.equal(
      (await app.inject({ method: 'POST', url, payload, headers: { ...superuser, 'content-type': type } })).statusCode,
      status,
      `${type} ${payload}`
    )
  }
})
