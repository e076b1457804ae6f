import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RouteOptions } from 'fastify'
import { startPayStandIn } from 'pay-reconcile/testing'
import t from 'tap'
import { keyRing } from '../src/pay/key-ring.ts'
import { bearer, build, client, openIdentityProvider, openTestDatabase } from './build.ts'
import { bodyFromSchema } from './sample.ts'

/*
 * Nothing here lists the routes of shops: they come from the app. Of a new one the test knows how to
 * call it when its path and body name things that are named below; else it fails and says so.
 */

const PAY_KEY = 'sk_test_tenancy'
const MARK = 'Theirs alone'

const standIn = await startPayStandIn({ accounts: { [PAY_KEY]: { customers: [{ id: 'cus_known' }] } }, log: () => {} })
t.teardown(async () => await standIn.close())
const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['owner', 'stranger', 'boss'])
const routes: RouteOptions[] = []
const app = await build(t, database, idp, { settings: { MCP_IMPORTS_ENABLED: true, PAY_API_URL: standIn.url, RATE_LIMIT_MAX: 100_000, RATE_LIMIT_ANONYMOUS_MAX: 100_000, RATE_LIMIT_REFUSED_MAX: 100_000 }, onRoute: (route) => routes.push(route) })
const ring = keyRing([idp.settings['PAY_KEY_SECRETS']!])

const machine = bearer(await idp.machineToken())
const [owner, stranger, boss] = await Promise.all(['owner', 'stranger', 'boss'].map(async (name) => bearer(await idp.userToken(name)))) as [Person, Person, Person]
type Person = ReturnType<typeof bearer>
type Headers = Readonly<Record<string, string>>
for (const person of [owner, stranger, boss]) await app.inject({ url: '/me', headers: person })
await knex('users').where({ name: 'boss' }).update({ roles: ['admin'] })

/** What everybody may call. */
const publicRoutes = [
  '/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-authorization-server', '/.well-known/oauth-authorization-server/oauth',
  '/.well-known/openid-configuration', '/.well-known/openid-configuration/oauth', '/oauth/.well-known/openid-configuration',
  '/oauth/register', '/', '/docs', '/docs/*', '/docs/json', '/docs/yaml', '/openapi.json', '/healthz', '/readyz'
]

/** A shop with one of everything: the ids that paths name, and what bodies may say. */
interface Furnished {
  readonly id: string
  /** By the parameter of a path, or by the whole path where the parameter's name says too little. */
  readonly params: Readonly<Record<string, string>>
  /** By the property of a body. */
  readonly values: Readonly<Record<string, unknown>>
}

let made = 0

async function furnish (): Promise<Furnished> {
  const number = ++made
  const insert = async (table: string, row: object): Promise<string> => (await knex(table).insert(row).returning('*'))[0].id
  const id = await insert('shops', { slug: `shop-${number}`, name: MARK, currency: 'EUR' })
  await knex('shops').where({ id }).update({ pay_secret_key: ring.seal(PAY_KEY, id) })
  const named = { shop_id: id, name: MARK }
  const product = await insert('products', { ...named, slug: 'theirs', sku: 'T-1', currency: 'EUR', price_amount: 100, status: 'active' })
  const [category, parent] = [await insert('categories', { ...named, slug: 'theirs' }), await insert('categories', { ...named, slug: 'above' })]
  const tag = await insert('tags', { ...named, slug: 'theirs' })
  const attribute = await insert('attributes', { ...named, code: 'theirs', type: 'text' })
  const account = await insert('accounts', { ...named, details: { pay_customer_id: 'cus_known' } })
  const order = await insert('orders', { shop_id: id, account_id: account, currency: 'EUR', total_amount: 100 })
  await knex('order_lines').insert({ ...named, order_id: order, position: 0, product_id: product, unit_amount: 100, quantity: 1 })
  const price = await insert('prices', { shop_id: id, product_id: product, currency: 'USD', amount: 110 })
  const [member, outsider] = [await insert('users', { subject: randomUUID(), name: MARK }), await insert('users', { subject: randomUUID(), name: MARK })]
  await knex('shop_members').insert({ shop_id: id, user_id: member, role: 'owner' })
  const key = (await client(app, `/shops/${id}`, machine)('POST', '/api-keys/', { name: MARK })).body.id
  const run = randomUUID()
  await knex('pay_reconcile_runs').insert({ id: run, mode: 'check', dry_run: true, shop_id: id, actor: MARK, finished_at: knex.fn.now() })
  await knex('pay_reconcile_run_shops').insert({ run_id: run, shop_id: id, status: 'done', total: 0 })
  const change = await insert('pay_reconcile_audit', { actor: MARK, action: 'sync', account_id: account, shop_id: id, before: {}, after: {} })
  await knex('pay_reconcile_snapshots').insert({ audit_id: change, account_id: account, shop_id: id, customer: { id: 'cus_known' } })
  const imported = await insert('imports', { shop_id: id, status: 'cancelled', actor: { kind: 'machine', id: MARK } })
  await knex('import_lines').insert({ shop_id: id, import_id: imported, position: 1, line: 1, status: 'failed', message: MARK })
  const reverted = await insert('history', {
    shop_id: id, actor_kind: 'machine', actor_id: MARK, operation: 'test', action: 'update', record_kind: 'tag', record_id: tag, record_name: MARK, changes: { name: { before: 'changed', after: MARK } }
  })
  return {
    id,
    params: {
      shop_id: id,
      product_id: product,
      category_id: category,
      tag_id: tag,
      attribute_id: attribute,
      account_id: account,
      order_id: order,
      price_id: price,
      import_id: imported,
      user_id: member,
      key_id: key,
      id: account,
      '/admin/accounts/reconcile/:id': run,
      '/admin/accounts/audit/:id/snapshot': change,
      '/shops/:shop_id/history/:id/revert': reverted
    },
    values: {
      shop_id: id,
      // Of an item of a batch.
      id: product,
      product_id: product,
      category_ids: [category],
      parent_id: parent,
      tag_ids: [tag],
      attributes: [{ attribute_id: attribute, value: 'changed' }],
      account_id: account,
      order_id: order,
      user_id: outsider,
      slug: `changed-${number}`,
      type: 'text',
      currency: 'USD',
      metadata: { changed: true },
      details: { changed: true },
      scopes: ['read'],
      expires_at: '2040-01-01T00:00:00Z',
      valid_from: '2040-01-01T00:00:00Z',
      valid_to: '2041-01-01T00:00:00Z',
      locale: 'pt-BR',
      time_zone: 'Europe/Lisbon',
      contact_email: 'changed@example.com',
      pay_secret_key: PAY_KEY,
      pay_customer_id: 'cus_known',
      actor_kind: 'machine',
      actor_id: MARK,
      since: '2020-01-01T00:00:00Z',
      content: '{ "name": "Imported" }',
      // The changes of an actor are reverted, not those of an import.
      import_id: undefined,
      mode: 'check',
      dry_run: true,
      // Each of them is for some modes only.
      accounts: undefined,
      accept: undefined,
      failed_in: undefined,
      synced_before: undefined
    }
  }
}

/** What has to happen before a route can be called with success. */
const preparations: Readonly<Record<string, (shop: Furnished) => Promise<unknown>>> = {
  'PATCH /shops/:shop_id/members/:user_id': anotherOwner,
  'DELETE /shops/:shop_id/members/:user_id': anotherOwner,
  'DELETE /shops/:shop_id': async ({ id }) => await knex('orders').where({ shop_id: id }).delete()
}

/** The last owner of a shop stays one. */
async function anotherOwner ({ id, values }: Furnished): Promise<void> {
  await knex('shop_members').insert({ shop_id: id, user_id: values['user_id'], role: 'owner' })
}

const { rows: tables } = await knex.raw(`select table_name as name from information_schema.tables
  where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like 'knex_%' order by 1`)

/** Of these tables not every row or column counts: when and from where a key was used last, and the events of keys, which are their own shop's. */
const parts: Readonly<Record<string, string>> = {
  api_keys: "select to_jsonb(api_keys) - '{last_used_at,last_used_network,networks}'::text[] from api_keys",
  history: "select * from history where action <> 'event'"
}

/** What all rows of a table add up to, in any order. */
const dumped = tables.map(({ name }: { name: string }) =>
  `select '${name}' as name, count(*) as count, sum(hashtextextended(row::text, 0)) as rows from (${parts[name] ?? `select * from "${name}"`}) row`).join(' union all ')

async function dump (): Promise<unknown> {
  return (await knex.raw(dumped)).rows
}

const requests = routes.flatMap((route) => [route.method].flat().map((method) => ({ route, method, name: `${method} ${route.url}` })))
  .filter(({ method }) => method !== 'OPTIONS') // of CORS
const isEndpoint = ({ url }: RouteOptions): boolean => url === '/mcp' // the tools' own routes are all here
const isPublic = ({ url }: RouteOptions): boolean => publicRoutes.includes(url === '/' ? url : url.replace(/\/$/, ''))
const paramsOf = ({ url }: RouteOptions): string[] => [...url.matchAll(/:(\w+)/g)].map(([, param]) => param!)

/** @returns the path with the ids of `shop`, under `inside` if that is another one; undefined when it names something unknown */
function pathTo ({ url }: RouteOptions, { params }: Furnished, inside = params['shop_id']!): string | undefined {
  let known = true
  const path = url.replace(/:(\w+)/g, (_, param) => {
    const id = param === 'shop_id' ? inside : params[url] ?? params[param]
    known &&= id !== undefined
    return id ?? ''
  })
  // Its shop is not in the path.
  const query = url === '/admin/accounts/orphans' ? `?shop_id=${inside}` : ''
  return known ? `${path}${query}` : undefined
}

/** The schema of the JSON that a route takes, also if it takes files. */
function bodySchemaOf ({ schema }: RouteOptions): object | undefined {
  const body = schema?.body as { readonly content?: Readonly<Record<string, { readonly schema: object }>> } | undefined
  return body?.content === undefined ? body : body.content['application/json']!.schema
}

async function send (method: string, url: string, headers: Headers, body: object | undefined) {
  return await app.inject({ method: method as 'GET', url, headers: { ...headers }, ...(body && { payload: body }) })
}

/** Leaves no run in the background that would write while rows are compared. */
async function settled (): Promise<void> {
  for (const table of ['pay_reconcile_run_shops', 'imports']) {
    while ((await knex(table).whereIn('status', ['pending', 'running'])).length > 0) await sleep(20)
  }
  await sleep(0)
}

const own = await furnish()
await knex('shop_members').insert({ shop_id: own.id, user_id: (await knex('users').where({ name: 'owner' }).first('id')).id, role: 'owner' })
const key = { 'x-api-key': (await client(app, `/shops/${own.id}`, machine)('POST', '/api-keys/', { name: 'ours' })).body.plaintext }

t.test('without credentials every route answers 401, but for the public ones', async (t) => {
  t.ok(requests.length > 100)
  for (const { route, method, name } of requests) {
    const url = pathTo(route, own) ?? route.url
    const { statusCode } = await send(method, url, {}, undefined)
    if (isPublic(route)) t.not(statusCode, 401, name)
    else t.equal(statusCode, 401, name)
  }
  const urls = routes.map(({ url }) => url)
  t.strictSame(publicRoutes.filter((url) => !urls.includes(url)), [], 'and there is a route for each of those')
})

for (const { route, method, name } of requests.filter(({ route }) => !isPublic(route) && !isEndpoint(route))) {
  t.test(`${name} keeps to its shop`, async (t) => {
    const theirs = await furnish()
    await preparations[name]?.(theirs)
    const url = pathTo(route, theirs)
    if (url === undefined) return t.fail(`${name}: say in furnish() what the parameters of its path are`)
    const schema = bodySchemaOf(route)
    const body = schema && bodyFromSchema(schema, theirs.values)
    if (schema && body === undefined) return t.fail(`${name}: say in furnish() what its body may say`)
    const takesKeys = route.schema?.tags?.includes('mcp') === true
    const params = paramsOf(route)

    await settled()
    const before = await dump()
    const refused = async (what: string, request: Promise<{ statusCode: number, body: string }>, allowed: readonly number[]): Promise<void> => {
      const { statusCode, body: text } = await request
      t.ok(allowed.includes(statusCode), `${what}: ${statusCode}`)
      t.notMatch(text, MARK, what)
    }

    if (params.length > 0) {
      await refused('a key of another shop', send(method, url, key, body), takesKeys ? [403] : [401])
      await refused('an owner of another shop', send(method, url, owner, body), [403])
      await refused('a member of none', send(method, url, stranger, body), [403])
    }
    if (params.length > 1 && params.includes('shop_id')) {
      const inside = pathTo(route, theirs, own.id)!
      await refused('a key, with the row of another shop in its own', send(method, inside, key, body), takesKeys ? [404] : [401])
      await refused('an owner, with the row of another shop in their own', send(method, inside, owner, body), [404])
      await refused('an admin, with the row of another shop', send(method, inside, boss, body), [404])
    }
    if (body && params.includes('shop_id') && JSON.stringify(body).match(idsOf(theirs))) {
      await refused('an owner, whose body names rows of another shop', send(method, pathTo(route, own)!, owner, body), [404, 422])
    }
    if (params.length === 0) {
      for (const person of [owner, stranger]) {
        const { statusCode, body: text } = await send(method, url, person, body)
        t.ok([200, 403].includes(statusCode), `with no id: ${statusCode}`)
        t.notMatch(text, theirs.id)
      }
      t.equal((await send(method, url, key, body)).statusCode, 401)
    }
    await settled()
    t.strictSame(await dump(), before, 'nothing has changed')

    // Or all of this was refused for another reason than whose it is.
    const { statusCode, body: text } = await send(method, url, boss, body)
    t.ok(statusCode < 300, `an admin gets ${statusCode} ${text.slice(0, 200)}: if that is not right, say in furnish() how to call it`)
    await settled()
  })
}

/** Those of rows that have a shop; people have none. */
function idsOf ({ params, values }: Furnished): RegExp {
  const { user_id: _, ...ids } = params
  return new RegExp([...Object.values(ids), values['parent_id']].join('|'))
}

t.test('a tool keeps to its shop, whatever its arguments name', async (t) => {
  const theirs = await furnish()
  await settled()
  const before = await dump()
  const tools = requests.filter(({ route, method }) => method !== 'HEAD' && route.schema?.tags?.includes('mcp'))
  t.equal(tools.length, 23)
  for (const { route } of tools) {
    const { operationId: name } = route.schema as { operationId: string }
    const schema = bodySchemaOf(route)
    const body = schema && bodyFromSchema(schema, theirs.values)
    const ids = Object.fromEntries(paramsOf(route).map((param) => [param, theirs.params[param]]))
    const call = async (headers: Headers, shop: string) => await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { ...headers, accept: 'application/json, text/event-stream' },
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { ...body, ...ids, shop_id: shop } } }
    })
    for (const headers of [key, owner, stranger]) {
      const { statusCode, body: text } = await call(headers, theirs.id)
      t.ok(statusCode === 403 || /"isError":true/.test(text), `${name}: ${statusCode}`)
      t.match(text, /403|Forbidden|SHOP_FORBIDDEN|not belong to this shop/, name)
      t.notMatch(text, MARK, name)
    }
    if (Object.keys(ids).length > 1) {
      const { body: text } = await call(key, own.id)
      t.match(text, /"isError":true.*404 Not Found|404 Not Found.*"isError":true/, `${name} in its own shop`)
    }
  }
  t.strictSame(await dump(), before)
})

t.test('refused keys are told to the shop that they belong to, and not to the one that they knocked at', async (t) => {
  const entries = await knex('history').where({ action: 'event' })
  t.ok(entries.some(({ operation }) => operation === 'api_key.refused'))
  for (const { shop_id: shop, record_id: id } of entries) {
    t.equal(shop, id === 'unknown' ? null : (await knex('api_keys').where({ id }).first('shop_id'))?.shop_id, id)
  }
})

t.test('a list of shops holds those that the caller reaches', async (t) => {
  const ids = async (headers: Headers): Promise<string[]> => (await client(app, '', headers)('GET', '/shops?limit=200')).body.map(({ id }: { id: string }) => id)
  t.strictSame(await ids(owner), [own.id])
  t.strictSame(await ids(stranger), [])
  for (const everywhere of [boss, machine]) {
    const { headers, body } = await client(app, '', everywhere)('GET', '/shops?limit=200')
    t.equal(headers['content-range'], `shops 0-200/${(await knex('shops').count().first())?.['count']}`)
    t.ok(body.length > 50)
  }
})
