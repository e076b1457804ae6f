import type { RouteOptions } from 'fastify'
import t from 'tap'
import { BASE_URL, bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['stranger'])
const routes: RouteOptions[] = []
const app = await build(t, database, idp, { onRoute: (route) => routes.push(route) })

const here = await createShop(database, 'here')
const machine = bearer(await idp.machineToken())
const stranger = bearer(await idp.userToken('stranger'))

const makeKey = async (shop: string, body: object = { name: 'test' }): Promise<{ id: string, plaintext: string }> =>
  (await client(app, '', machine)('POST', `/shops/${shop}/api-keys/`, body)).body
const key = { 'x-api-key': (await makeKey(here)).plaintext }

t.test('tagged, a tool, and open to API keys are the same thing', async (t) => {
  const tagged = routes.filter(({ method, schema }) => method !== 'HEAD' && schema?.tags?.includes('mcp')).map((
    { schema }
  ) => schema?.operationId)
  t.equal(tagged.length, 20)
  t.strictSame(app.mcpTools.map(({ name }) => name), tagged.toSorted())
})

t.test('a person is made known once, however many of their requests come first', async (t) => {
  const statuses = await Promise.all(
    Array.from(
      { length: 8 },
      async () => (await app.inject({ url: `/shops/${here}/tags`, headers: stranger })).statusCode
    )
  )
  t.strictSame(new Set(statuses), new Set([403]))
  t.match(await knex('users').where({ name: 'stranger' }), [{ active: true, roles: [] }])
})

t.test('a key is not made with scopes that open no tool', async (t) => {
  for (const scope of ['nope', 'list_orders', 'create_api_key']) {
    t.match(
      await client(app, '', machine)('POST', `/shops/${here}/api-keys/`, { name: 'useless', scopes: ['read', scope] }),
      {
        status: 400,
        body: {
          statusCode: 400,
          code: 'DUAL_AUTH_SCOPE_UNKNOWN',
          error: 'Bad Request',
          message: new RegExp(`^Unknown scopes: ${scope}\\. Known: .*\\bread\\b`),
          field: 'scopes'
        }
      }
    )
  }
  t.match(
    await client(app, '', machine)('POST', `/shops/${here}/api-keys/`, {
      name: 'every one',
      scopes: [
        'read',
        'write',
        ...app.mcpTools.map(({ name }) => name)
      ]
    }),
    { status: 201 }
  )
})

t.test('a tool tells the model of a character that cannot be stored', async (t) => {
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...key, accept: 'application/json, text/event-stream' },
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'create_tag', arguments: { shop_id: here, name: 'a\0b' } }
    }
  })
  t.equal(statusCode, 200)
  t.match(body, /"isError":true/)
  t.match(body, /name contains a character that cannot be stored/)
})

t.test('without the tools a 401 leads to the sign-in too, and no document to a missing endpoint', async (t) => {
  const without = await build(t, database, idp, { settings: { MCP_ENABLED: false } })
  const { headers } = await without.inject(`/shops/${here}/products`)
  t.equal(
    headers['www-authenticate'],
    'Bearer resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource", scope="openid email ' +
      'profile"'
  )
  t.match((await without.inject('/.well-known/oauth-protected-resource')).json(), {
    resource: BASE_URL,
    authorization_servers: [BASE_URL]
  })
  t.equal((await without.inject('/.well-known/oauth-protected-resource/mcp')).statusCode, 404)
  t.equal((await without.inject({ method: 'POST', url: '/oauth/register' })).statusCode, 201)
})

t.test('of machines only those that are named get in, and with none nobody', async (t) => {
  for (const [IDP_M2M_CLIENT_IDS, status] of [['test-machine', 200], ['another', 401], ['none', 401]] as const) {
    const strict = await build(t, database, idp, { settings: { IDP_M2M_CLIENT_IDS } })
    t.equal(
      (await strict.inject({ url: `/shops/${here}/tags`, headers: machine })).statusCode,
      status,
      IDP_M2M_CLIENT_IDS
    )
  }
})

t.test('a 401 leads to the sign-in', async (t) => {
  for (const url of ['/mcp', `/shops/${here}/products`]) {
    const missing = await app.inject({ method: 'GET', url })
    t.equal(
      missing.headers['www-authenticate'],
      'Bearer resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource/mcp", scope="openid ' +
        'email profile"'
    )
    const invalid = await app.inject({ method: 'GET', url, headers: bearer('x') })
    t.equal(
      invalid.headers['www-authenticate'],
      'Bearer error="invalid_token", ' +
        'resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource/mcp", scope="openid email ' +
        'profile"'
    )
    t.strictSame(invalid.json(), {
      statusCode: 401,
      code: 'DUAL_AUTH_CREDENTIAL_INVALID',
      error: 'Unauthorized',
      message: 'The credentials are not valid'
    })
  }
})
