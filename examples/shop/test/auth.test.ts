import type { RouteOptions } from 'fastify'
import t from 'tap'
import { BASE_URL, bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['member', 'stranger', 'admin', 'gone'])
const routes: RouteOptions[] = []
const app = await build(t, database, idp, {
  settings: { RATE_LIMIT_MAX: 100_000, RATE_LIMIT_ANONYMOUS_MAX: 100_000, RATE_LIMIT_REFUSED_MAX: 100_000 },
  onRoute: (route) => routes.push(route)
})

const here = await createShop(database, 'here')
const NOBODY = '00000000-0000-4000-8000-000000000000'

const machine = bearer(await idp.machineToken())
const [member, stranger, admin, gone] = await Promise.all(['member', 'stranger', 'admin', 'gone'].map(async (name) => bearer(await idp.userToken(name))))
for (const person of [member, stranger, admin, gone]) await app.inject({ url: `/shops/${here}/tags`, headers: person! })
const idOf = async (name: string): Promise<string> => (await knex('users').where({ name }).first('id')).id
await knex('shop_members').insert({ shop_id: here, user_id: await idOf('member'), role: 'owner' })
// A shop with an order cannot be deleted, not by the calls below either.
await knex('orders').insert({ shop_id: here, currency: 'EUR', total_amount: 0 })
await knex('users').where({ name: 'admin' }).update({ roles: ['admin'] })
await knex('users').where({ name: 'gone' }).update({ active: false, roles: ['admin'] })

const makeKey = async (shop: string, body: object = { name: 'test' }): Promise<{ id: string, plaintext: string }> =>
  (await client(app, '', machine)('POST', `/shops/${shop}/api-keys/`, body)).body
const key = { 'x-api-key': (await makeKey(here)).plaintext }

/** What the service's contract says of a route, from nothing but its path and tags. */
function policyOf ({ url, schema }: RouteOptions): 'public' | 'dual' | 'jwt' {
  if (url.includes('/.well-known/') || url === '/oauth/register' || ['/', '/healthz', '/readyz', '/openapi.json'].includes(url) || url.startsWith('/docs')) return 'public'
  return url === '/mcp' || schema?.tags?.includes('mcp') === true ? 'dual' : 'jwt'
}

/** Routes for people who are admins, and for nobody else. */
const isForAdmins = ({ url, method }: RouteOptions): boolean => url.startsWith('/admin/') ||
  (url === '/shops' && method === 'POST') || (url === '/shops/:shop_id' && (method === 'PATCH' || method === 'DELETE'))

const requests = () => routes.flatMap((route) => [route.method].flat().map((method) => ({
  route,
  method,
  policy: policyOf(route),
  url: (shop: string, id = NOBODY) => route.url.replace(':shop_id', shop).replace(/:(\w+_)?id/, id)
})))

async function statusOf (method: string, url: string, headers: Record<string, string> = {}): Promise<number> {
  const payload = ['POST', 'PUT', 'PATCH'].includes(method) ? { payload: {} } : {}
  return (await app.inject({ method: method as 'GET', url, headers, ...payload })).statusCode
}

t.test('every route lets in whom its policy says, and nobody else', async (t) => {
  t.ok(requests().length > 75)
  for (const { route, method, policy, url } of requests()) {
    const path = url(here)
    const status = async (headers?: Record<string, string>): Promise<number> => await statusOf(method, path, headers)
    const isIn = (code: number): boolean => ![401, 403, 500, 503].includes(code)
    const name = `${method} ${path}`

    t.equal(isIn(await status()), policy === 'public', `${name}: nobody`)
    t.equal(isIn(await status(key)), policy !== 'jwt', `${name}: an API key`)
    t.equal(isIn(await status({ authorization: `Bearer ${key['x-api-key']}` })), policy !== 'jwt', `${name}: an API key as bearer token`)
    t.equal(isIn(await status(machine)), !isForAdmins(route), `${name}: a machine`)
    t.equal(isIn(await status(member)), !isForAdmins(route), `${name}: a member of the shop`)
    t.ok(isIn(await status(admin)), `${name}: an admin`)
    if (isForAdmins(route)) {
      for (const somebody of [machine, member, stranger, gone]) t.equal(await status(somebody), 403, `${name}: no active admin`)
    }
    if (policy !== 'public') {
      t.equal(await status(bearer('nonsense')), 401, `${name}: nonsense`)
      t.equal(await status({ ...member, 'x-api-key': `${key['x-api-key']}x` }), 401, `${name}: a bad key beside a good token`)
      if (policy === 'jwt') t.equal(await status(key), 401, `${name}: a key where none are taken`)
    }
  }
})

t.test('tagged, a tool, and open to API keys are the same thing', async (t) => {
  const tagged = routes.filter(({ method, schema }) => method !== 'HEAD' && schema?.tags?.includes('mcp')).map(({ schema }) => schema?.operationId)
  t.equal(tagged.length, 20)
  t.strictSame(app.mcpTools.map(({ name }) => name), tagged.toSorted())
})

t.test('a person is made known once, however many of their requests come first', async (t) => {
  await knex('users').where({ name: 'stranger' }).delete()
  const statuses = await Promise.all(Array.from({ length: 8 }, async () => await statusOf('GET', `/shops/${here}/tags`, stranger)))
  t.strictSame(new Set(statuses), new Set([403]))
  t.match(await knex('users').where({ name: 'stranger' }), [{ active: true, roles: [] }])
})

t.test('a key with scopes uses the tools that they open', async (t) => {
  const reader = { 'x-api-key': (await makeKey(here, { name: 'reader', scopes: ['read', 'create_tag'] })).plaintext }
  t.equal(await statusOf('GET', `/shops/${here}/products`, reader), 200)
  t.equal(await statusOf('POST', `/shops/${here}/tags`, reader), 422, 'it is in, with an empty body')
  t.equal(await statusOf('POST', `/shops/${here}/products`, reader), 403)
  const call = async (name: string) => await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...reader, accept: 'application/json, text/event-stream' },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { shop_id: here, product_id: NOBODY } } }
  })
  t.match((await call('get_product')).body, /404 Not Found/)
  const refused = await call('delete_product')
  t.match(`${refused.statusCode} ${refused.body}`, /403/)
})

t.test('a key is not made with scopes that open no tool', async (t) => {
  for (const scope of ['nope', 'list_orders', 'create_api_key']) {
    t.match(await client(app, '', machine)('POST', `/shops/${here}/api-keys/`, { name: 'useless', scopes: ['read', scope] }), {
      status: 400,
      body: { statusCode: 400, code: 'DUAL_AUTH_SCOPE_UNKNOWN', error: 'Bad Request', message: new RegExp(`^Unknown scopes: ${scope}\\. Known: .*\\bread\\b`), field: 'scopes' }
    })
  }
  t.match(await client(app, '', machine)('POST', `/shops/${here}/api-keys/`, { name: 'every one', scopes: ['read', 'write', ...app.mcpTools.map(({ name }) => name)] }), { status: 201 })
})

t.test('a tool tells the model of a character that cannot be stored', async (t) => {
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...key, accept: 'application/json, text/event-stream' },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'create_tag', arguments: { shop_id: here, name: 'a\0b' } } }
  })
  t.equal(statusCode, 200)
  t.match(body, /"isError":true/)
  t.match(body, /name contains a character that cannot be stored/)
})

t.test('a revoked key is refused by the very next call, over REST and as a tool', async (t) => {
  const { id, plaintext } = await makeKey(here)
  const headers = { 'x-api-key': plaintext }
  t.equal(await statusOf('GET', `/shops/${here}/tags`, headers), 200)
  t.equal(await statusOf('DELETE', `/shops/${here}/api-keys/${id}`, member), 204)
  t.equal(await statusOf('GET', `/shops/${here}/tags`, headers), 401)
  t.equal(await statusOf('POST', '/mcp', headers), 401)
})

t.test('without the tools a 401 leads to the sign-in too, and no document to an endpoint that is not there', async (t) => {
  const without = await build(t, database, idp, { settings: { MCP_ENABLED: false } })
  const { headers } = await without.inject(`/shops/${here}/products`)
  t.equal(headers['www-authenticate'], 'Bearer resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource", scope="openid email profile"')
  t.match((await without.inject('/.well-known/oauth-protected-resource')).json(), { resource: BASE_URL, authorization_servers: [BASE_URL] })
  t.equal((await without.inject('/.well-known/oauth-protected-resource/mcp')).statusCode, 404)
  t.equal((await without.inject({ method: 'POST', url: '/oauth/register' })).statusCode, 201)
})

t.test('of machines only those that are named get in, and with none nobody', async (t) => {
  for (const [IDP_M2M_CLIENT_IDS, status] of [['test-machine', 200], ['another', 401], ['none', 401]] as const) {
    const strict = await build(t, database, idp, { settings: { IDP_M2M_CLIENT_IDS } })
    t.equal((await strict.inject({ url: `/shops/${here}/tags`, headers: machine })).statusCode, status, IDP_M2M_CLIENT_IDS)
  }
})

t.test('a 401 leads to the sign-in', async (t) => {
  for (const url of ['/mcp', `/shops/${here}/products`]) {
    const missing = await app.inject({ method: 'GET', url })
    t.equal(missing.headers['www-authenticate'], 'Bearer resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource/mcp", scope="openid email profile"')
    const invalid = await app.inject({ method: 'GET', url, headers: bearer('x') })
    t.equal(invalid.headers['www-authenticate'], 'Bearer error="invalid_token", resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource/mcp", scope="openid email profile"')
    t.strictSame(invalid.json(), { statusCode: 401, code: 'DUAL_AUTH_CREDENTIAL_INVALID', error: 'Unauthorized', message: 'The credentials are not valid' })
  }
})
