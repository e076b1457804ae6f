import t from 'tap'
import Fastify, { type InjectOptions, type RouteOptions } from 'fastify'
import { randomUUID } from 'node:crypto'
import payReconcile from '../src/index.ts'
import { knexAccountStore, knexRunStore, knexWebhookSecrets } from '../src/knex/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { pglite } from './database.ts'
import { build, superuser } from './world.ts'

const writes = [
  ['POST', '/admin/accounts/:id/sync-pay'], ['POST', '/admin/accounts/:id/link-pay'], ['POST', '/admin/accounts/:id/unlink-pay'], ['POST', '/admin/accounts/reconcile'],
  ['DELETE', '/admin/accounts/reconcile/:id']
] as const

/** Bodies that cannot be read, and what Fastify says to each. */
const bodies: ReadonlyArray<readonly [string, number, Pick<InjectOptions, 'headers' | 'payload'>]> = [
  ['a body shorter than it says', 400, { headers: { 'content-type': 'application/json', 'content-length': '100' }, payload: '{}' }],
  ['a body of 2 MiB', 413, { headers: { 'content-type': 'application/json' }, payload: `"${'x'.repeat(2 ** 21)}"` }],
  ['a form', 415, { headers: { 'content-type': 'application/x-www-form-urlencoded' }, payload: 'pay_customer_id=cus_1' }]
]

t.test('a write route documents what it answers to a body that cannot be read', async t => {
  const knex = await pglite.connect(t)
  const app = Fastify()
  t.teardown(() => app.close())
  const routes = new Map<string, RouteOptions>()
  app.addHook('onRoute', route => { routes.set(`${String(route.method)} ${route.url}`, route) })
  app.register(payReconcile, {
    accounts: knexAccountStore(knex), provider: stripeProvider(), runs: knexRunStore(knex), authorize: async () => {}, actor: () => 'a'
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

/** Of each route the statuses, the parameters, with ? those that may be left out, and the body. */
const contract = {
  'GET /admin/accounts': 'list_admin_accounts 200,401,403,422,500,503 filter?,limit?,missing_pay?,range?,shop_id?,skip?,sort?',
  'GET /admin/accounts/:id': 'get_admin_account 200,401,403,404,422,500,503 id',
  'GET /admin/accounts/:id/pay-customer': 'get_admin_account_pay_customer 200,400,401,403,404,422,500,502,503 id',
  'POST /admin/accounts/:id/sync-pay': 'sync_admin_account_pay 200,400,401,403,404,409,413,415,422,500,502,503 id',
  'POST /admin/accounts/:id/link-pay': 'link_admin_account_pay 200,400,401,403,404,409,413,415,422,500,503 id,pay_customer_id',
  'POST /admin/accounts/:id/unlink-pay': 'unlink_admin_account_pay 200,400,401,403,404,409,413,415,422,500,503 id',
  'GET /admin/accounts/audit': 'list_pay_audit 200,401,403,422,500,503 filter?,format?,limit?,range?,skip?,sort?',
  'GET /admin/accounts/audit/:id/snapshot': 'get_replaced_pay_snapshot 200,401,403,404,422,500,503 id',
  'GET /admin/accounts/orphans': 'list_pay_orphans 200,400,401,403,404,422,500,502,503 after?,shop_id',
  'POST /admin/accounts/reconcile': 'start_reconciliation 202,400,401,403,404,409,413,415,422,500,503 accept?,accounts?,dry_run?,failed_in?,mode,shop_id?,synced_before?',
  'GET /admin/accounts/reconcile': 'list_reconciliations 200,401,403,422,500,503 filter?,limit?,range?,skip?,sort?,status?',
  'GET /admin/accounts/reconcile/:id': 'get_reconciliation 200,401,403,404,422,500,503 drift?,filter?,format?,id,limit?,outcome?,range?,shop_id?,since?,skip?',
  'DELETE /admin/accounts/reconcile/:id': 'cancel_reconciliation 200,400,401,403,404,413,415,422,500,503 id',
  'POST /admin/accounts/webhooks/:shop_id': 'receive_pay_webhook 204,400,429,500,503 shop_id'
}

interface Documented {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly response: object
  readonly params?: ObjectSchema
  readonly querystring?: ObjectSchema
  readonly body?: ObjectSchema
}
interface ObjectSchema { readonly properties?: object, readonly required?: readonly string[] }

t.test('each route documents its statuses and what it takes', async t => {
  const knex = await pglite.connect(t)
  await knex.raw('alter table shops add pay_webhook_secret text')
  const app = Fastify()
  t.teardown(() => app.close())
  const found: Record<string, string> = {}
  app.addHook('onRoute', ({ method, url, schema }) => {
    if (method === 'HEAD') return
    const { operationId, tags, response, params, querystring, body } = schema as unknown as Documented
    const names = [params, querystring, body].flatMap(part => Object.keys(part?.properties ?? {}).map(name => part?.required?.includes(name) ? name : `${name}?`))
    found[`${String(method)} ${url}`] = `${operationId} ${Object.keys(response).join()} ${names.sort().join()}`
    t.strictSame(tags, ['pay-reconcile'])
  })
  app.register(payReconcile, {
    accounts: knexAccountStore(knex), provider: stripeProvider(), runs: knexRunStore(knex), authorize: async () => {}, actor: () => 'a', webhooks: { secrets: knexWebhookSecrets(knex) }
  })
  await app.ready()
  t.strictSame(found, contract)
})

t.test('bodies of writes are what they must be, and nothing else', async t => {
  const { call, addShop, addAccount } = await build(t, await pglite.connect(t))
  const accountId = await addAccount(await addShop())
  const long = (length: number) => 'x'.repeat(length)
  for (const [path, body, status, field] of [
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
  ] as const) {
    const response = await call('POST', `/admin/accounts/${path}`, body)
    t.match([response.statusCode, response.json().field], [status, field], JSON.stringify(body).slice(0, 60))
  }
})

t.test('a body that is empty may have any type', async t => {
  const { app, addShop, addAccount } = await build(t, await pglite.connect(t))
  const url = `/admin/accounts/${await addAccount(await addShop())}/unlink-pay`
  for (const [type, payload, status] of [['application/json', '', 200], ['text/plain', '', 200], ['text/plain', 'x', 415], ['application/json', '{', 400], ['application/json', 'null', 200]] as const) {
    t.equal((await app.inject({ method: 'POST', url, payload, headers: { ...superuser, 'content-type': type } })).statusCode, status, `${type} ${payload}`)
  }
})
