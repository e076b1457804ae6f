import {
  Client,
  CrossAppAccessProvider,
  discoverAndRequestJwtAuthGrant,
  StreamableHTTPClientTransport
} from '@modelcontextprotocol/client'
import t, { type Test } from 'tap'
import { knexBrokerStore } from 'oauth-discovery-shim/broker'
import { agent, corporate, jwtOf } from '../../../packages/oauth-discovery-shim/test/broker/corporate.ts'
import {
  allow,
  authorizeUrl,
  base,
  brokerWorld,
  browser,
  fakeIdp,
  grantOf,
  type Idp,
  pkce,
  register,
  signedIn,
  token
} from '../../../packages/oauth-discovery-shim/test/broker/world.ts'
import { freePort } from '../../../shared/free-port.ts'
import { settingsFromEnvironment } from '../src/settings/settings.ts'
import { signInRequest } from '../src/settings/sign-in-request.ts'
import { brokerOptions } from '../src/sign-in.ts'
import { bearer, build, client, createShop, INSTANT, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const idp = await fakeIdp(t)
const settings = {
  PUBLIC_BASE_URL: base,
  IDP_ISSUER: idp.issuer,
  IDP_MCP_CLIENT_ID: 'broker-client',
  API_KEY_PEPPERS: `test:${'p'.repeat(32)}`,
  PAY_KEY_SECRETS: `test:${'k'.repeat(32)}`,
  OAUTH_BROKER: true,
  OAUTH_BROKER_SECRETS: `test:${'b'.repeat(32)}`
}
const open = async (more: object = {}) => ({
  app: await build(t, database, { settings: {} } as never, { settings: { ...settings, ...more } }),
  idp
})

const API = '6e74172b-be56-4843-9ff4-e66a39bb12e3'
const ACCESS = `api://${API}/access`

/**
 * A provider that answers as Microsoft documents it: the scope alone says which API a token is for, at each request.
 */
async function entraLike (t: Test): Promise<Idp> {
  const entra = await fakeIdp(t)
  entra.rotates = true
  entra.answer = ({ path, form }) => {
    if (path !== '/token') return undefined
    if ('resource' in form) {
      return {
        status: 400,
        body: {
          error: 'invalid_target',
          error_description:
            'AADSTS9010010: The resource parameter provided in the request does not match with the requested scopes.'
        }
      }
    }
    if (form['grant_type'] === 'refresh_token' && !form['scope']?.split(' ').includes(ACCESS)) {
      return {
        status: 400,
        body: {
          error: 'invalid_request',
          error_description: 'AADSTS90009: Application is requesting a token for itself.'
        }
      }
    }
    return undefined
  }
  return entra
}

t.test('Entra: people sign in for hours, on the console and on /docs too', async (t) => {
  const entra = await entraLike(t)
  const app = await build(t, database, { settings: {} } as never, {
    settings: {
      ...settings,
      IDP_ISSUER: entra.issuer,
      IDP_PROVIDER: 'entra',
      IDP_AUDIENCE: API,
      IDP_MCP_CLIENT_SECRET: 'a secret',
      CONSOLE_ENABLED: true,
      IDP_CONSOLE_CLIENT_ID: 'console'
    }
  })
  const world = { app, idp: entra }
  t.match((await app.inject('/.well-known/oauth-protected-resource/mcp')).json(), {
    scopes_supported: ['openid', 'email', 'profile', ACCESS]
  })
  t.match(
    (await app.inject({ method: 'POST', url: '/mcp' })).headers['www-authenticate'],
    `scope="openid email profile ${ACCESS}"`
  )

  const upstream =
    new URL(await allow(browser(app), authorizeUrl(await register(app), pkce().challenge, { scope: 'openid' })))
      .searchParams
  t.strictSame([upstream.get('scope'), upstream.has('resource')], [`openid offline_access ${ACCESS}`, false])
  const { clientId, refreshToken: first } = await signedIn(world)
  let refreshToken = first
  for (let hour = 0; hour < 3; hour++) {
    const response = await token(world, {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: refreshToken
    })
    t.equal(response.statusCode, 200, response.body)
    refreshToken = response.json().refresh_token
  }
  t.ok(entra.calls.every(({ authorization }) => authorization?.startsWith('Basic ')), 'by its secret')

  const all = ['openid', 'email', 'profile', 'offline_access', ACCESS]
  const [, page = ''] = /id="settings"[^>]*>(.*?)<\/script>/s.exec((await app.inject('/console')).body) ?? []
  t.strictSame([JSON.parse(page).sign_in.scope, JSON.parse(page).sign_in.parameters], [all.join(' '), {}])
  const { components } = (await app.inject('/docs/json')).json()
  t.strictSame(Object.keys(components.securitySchemes.sign_in.flows.authorizationCode.scopes), all)
})

t.test('what sign-ins request of each provider', async (t) => {
  const standard = ['openid', 'email', 'profile']
  for (
    const [provider, audience, scopes, expected] of [
      ['cognito', [], [], { scopes: standard, takesResource: true, parameters: {} }],
      ['entra', ['api://shop'], [], {
        scopes: [...standard, 'offline_access', 'api://shop/access'],
        takesResource: false,
        parameters: {}
      }],
      ['entra', [API], ['openid', 'api://x/y'], {
        scopes: ['openid', 'api://x/y'],
        takesResource: false,
        parameters: {}
      }],
      ['auth0', ['https://api.example.com'], [], {
        scopes: [...standard, 'offline_access'],
        takesResource: true,
        parameters: { audience: 'https://api.example.com' }
      }],
      ['zitadel', ['2345'], [], {
        scopes: [...standard, 'offline_access', 'urn:zitadel:iam:org:project:id:2345:aud'],
        takesResource: true,
        parameters: {}
      }],
      ['okta', [], [], { scopes: [...standard, 'offline_access'], takesResource: true, parameters: {} }]
    ] as const
  ) {
    t.strictSame(
      signInRequest({ IDP_PROVIDER: provider, IDP_AUDIENCE: audience, IDP_SCOPES: scopes }),
      expected,
      provider
    )
  }
})

t.test('people of an organization reach a tool without a browser while the organization agrees', async (t) => {
  const port = await freePort()
  const baseUrl = `http://localhost:${port}`
  const [own, resource] = [`${baseUrl}/oauth`, `${baseUrl}/mcp`]
  const acme = await corporate(t, own, resource)
  const app = await build(t, database, { settings: {} } as never, {
    settings: {
      ...settings,
      PUBLIC_BASE_URL: baseUrl,
      OAUTH_BROKER_ASSERTION_ISSUERS: acme.issuer,
      OAUTH_BROKER_ASSERTION_KEYS: `2026-11:${'s'.repeat(32)}`,
      OAUTH_BROKER_ASSERTION_CLIENTS: `${agent.id}:${'l'.repeat(32)},${agent.id}:${agent.secret}`
    }
  })
  await app.listen({ port, host: '127.0.0.1' })

  let idToken = acme.idToken('U019488227')
  const tokens: string[] = []
  const provider = new CrossAppAccessProvider({
    clientId: agent.id,
    clientSecret: agent.secret,
    expectedIssuer: own,
    assertion: async ({ authorizationServerUrl: audience, resourceUrl, scope, fetchFn }) => {
      const { jwtAuthGrant } = await discoverAndRequestJwtAuthGrant({
        idpUrl: acme.issuer,
        audience,
        resource: resourceUrl,
        idToken,
        clientId: agent.id,
        clientSecret: agent.secret,
        fetchFn,
        ...(scope !== undefined && { scope })
      })
      tokens.push(jwtAuthGrant)
      return jwtAuthGrant
    }
  })
  const client = new Client({ name: 'test', version: '1.0.0' })
  t.teardown(async () => await client.close())
  await client.connect(new StreamableHTTPClientTransport(new URL(resource), { authProvider: provider }))
  t.equal((await client.listTools()).tools.length, 20)

  const me = await app.inject({ url: '/me', headers: bearer(provider.tokens()!.access_token) })
  t.match(me.json(), { subject: `${acme.issuer}#U019488227`, name: 'ada@acme.example' })
  const shopId = await createShop(database, 'acme')
  await database.knex('shop_members').insert({ shop_id: shopId, user_id: me.json().id, role: 'owner' })
  const call = async () => await client.callTool({ name: 'list_tags', arguments: { shop_id: shopId } })
  t.match(await call(), { content: [{ type: 'text', text: '[]' }] })
  t.equal(tokens.length, 1)

  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  Date.now = () => now() + 660_000
  t.match(await call(), { content: [{ type: 'text', text: '[]' }] })
  t.equal(tokens.length, 2, 'ten minutes later the organization was asked again')
  idToken = acme.idToken('U019488227', 'another client')
  Date.now = () => now() + 1_320_000
  await t.rejects(call(), 'and said no')
})

t.test('people see which apps they have let in, and disconnect one on every replica', async (t) => {
  const acme = await corporate(t, `${base}/oauth`, `${base}/mcp`)
  const more = {
    OAUTH_BROKER_ASSERTION_ISSUERS: acme.issuer,
    OAUTH_BROKER_ASSERTION_KEYS: `2026-11:${'s'.repeat(32)}`,
    OAUTH_BROKER_ASSERTION_CLIENTS: `${agent.id}:${agent.secret}`
  }
  const [world, replica] = [await open(more), await open(more)]
  const headersOf = async (sub: string) =>
    bearer(
      (await token(world, {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        client_id: agent.id,
        client_secret: agent.secret,
        assertion: acme.assertion({ sub })
      })).json().access_token
    )
  const [ada, kim] = [await headersOf('ada'), await headersOf('kim')]
  const opaque = idp.accessToken
  t.teardown(() => {
    idp.accessToken = opaque
  })
  idp.accessToken = () => jwtOf({ iss: `${base}/oauth`, sub: `${acme.issuer}#ada` }, { alg: 'none' }, {})
  const { clientId, refreshToken } = await signedIn(world)

  const list = async (headers: object) =>
    (await replica.app.inject({ url: '/oauth/grants', headers: { ...headers } })).json()
  const [{ id, ...grant }, ...others] = await list(ada)
  t.match(grant, {
    client_id: null,
    client_name: 'An agent',
    scope: 'openid email profile',
    used_at: INSTANT,
    access_token_expires_at: INSTANT
  })
  t.strictSame([others, await list(kim)], [[], []])
  const end = async (headers: object) => {
    const response = await replica.app.inject({ method: 'DELETE', url: `/oauth/grants/${id}`, headers: { ...headers } })
    return [response.statusCode, response.json().code ?? response.json()]
  }
  t.strictSame(await end({}), [401, 'DUAL_AUTH_CREDENTIAL_MISSING'])
  t.strictSame(await end(kim), [404, 'OAUTH_DISCOVERY_SHIM_NO_GRANT'])
  t.strictSame(await end(ada), [200, {
    id,
    client_name: grant.client_name,
    access_token_expires_at: grant.access_token_expires_at,
    at_provider: 'revoked'
  }])
  t.match(
    (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })).json(),
    { error: 'invalid_grant' }
  )
  t.strictSame(await list(ada), [])

  const { whose } = brokerOptions(settingsFromEnvironment({}, { ...settings }), database.knex).grants!
  for (const identity of [null, { kind: 'machine' }, { kind: 'api-key' }]) {
    t.throws(() => whose({ identity } as never), { code: 'SHOP_PEOPLE_ONLY', statusCode: 403 })
  }
})

t.test('admins see and end the apps of a person', async (t) => {
  const acme = await corporate(t, `${base}/oauth`, `${base}/mcp`)
  const more = {
    OAUTH_BROKER_ASSERTION_ISSUERS: acme.issuer,
    OAUTH_BROKER_ASSERTION_KEYS: `2026-11:${'s'.repeat(32)}`,
    OAUTH_BROKER_ASSERTION_CLIENTS: `${agent.id}:${agent.secret}`
  }
  const world = await open(more)
  const as = async (sub: string) =>
    client(
      world.app,
      '',
      bearer(
        (await token(world, {
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          client_id: agent.id,
          client_secret: agent.secret,
          assertion: acme.assertion({ sub })
        })).json().access_token
      )
    )
  const [root, eve, mal] = [await as('root'), await as('eve'), await as('mal')]
  const [{ body: { id: rootId } }, { body: { id: eveId, subject } }, { body: { id: malId } }] = [
    await root('GET', '/me'),
    await eve('GET', '/me'),
    await mal('GET', '/me')
  ]
  const opaque = idp.accessToken
  t.teardown(() => {
    idp.accessToken = opaque
  })
  idp.accessToken = () => jwtOf({ iss: `${base}/oauth`, sub: subject }, { alg: 'none' }, {})
  const { clientId, refreshToken } = await signedIn(world)
  const apps = `/admin/users/${eveId}/apps`
  await database.knex('users').where({ id: rootId }).update({ roles: ['admin'] })
  const { body: [{ id, ...app }, ...others] } = await root('GET', apps)
  t.match([app, others], [{
    client_id: null,
    client_name: 'An agent',
    scope: 'openid email profile',
    created_at: INSTANT,
    used_at: INSTANT,
    access_token_expires_at: INSTANT,
    expires_at: INSTANT
  }, []])
  t.strictSame((await root('GET', `/admin/users/${malId}/apps`)).body, [])
  t.match(await root('DELETE', `/admin/users/${malId}/apps/${id}`), {
    status: 404,
    body: { code: 'OAUTH_DISCOVERY_SHIM_NO_GRANT' }
  }, 'of another person')
  t.match(await root('DELETE', `/admin/users/${id}/apps/${id}`), { status: 422 })
  t.match(await root('DELETE', `${apps}/${id}`), {
    status: 200,
    body: { id, access_token_expires_at: app.access_token_expires_at, at_provider: 'revoked' }
  })
  t.match(
    (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })).json(),
    { error: 'invalid_grant' }
  )
  t.match((await root('GET', '/admin/audit?sort=-at&limit=1')).body, [{
    operation: 'disconnect_user_app',
    record_kind: 'user',
    record_id: eveId,
    changes: { connected_app: { before: 'An agent', after: null } }
  }])
  t.equal(
    (await (await open({ OAUTH_BROKER: false, OAUTH_BROKER_SECRETS: '' })).app.inject({ url: apps, headers: {} }))
      .statusCode,
    404,
    'without the broker there is no such route'
  )
})

t.test('two people with one id in two tenants have apps of their own', async (t) => {
  const { subjectClaim } = brokerOptions(
    settingsFromEnvironment({}, {
      ...settings,
      IDP_PROVIDER: 'entra',
      IDP_AUDIENCE: API,
      IDP_ISSUER: 'https://idp.example/{tenantid}/v2.0',
      IDP_TENANTS: '72f988bf-86f1-41af-91ab-2d7cd011db47'
    }),
    database.knex
  ).grants!
  const named = subjectClaim as (claims: object) => string | undefined
  t.strictSame(['a', 'b'].map((tid) => named({ iss: `https://idp.example/${tid}/v2.0`, oid: 'o' })), [
    'https://idp.example/a/v2.0#o',
    'https://idp.example/b/v2.0#o'
  ])
  t.equal(named({ iss: 'https://idp.example/a/v2.0' }), undefined)
})

t.test('apps of other schemes can be let in', async (t) => {
  const world = await open({ OAUTH_BROKER_APP_SCHEMES: 'zed' })
  for (const uri of ['zed://callback', 'cursor://callback']) {
    t.equal(
      (await world.app.inject({ method: 'POST', url: '/oauth/clients', payload: { redirect_uris: [uri] } })).statusCode,
      201,
      uri
    )
  }
})

t.test('two replicas that are asked at the same time let a code and a refresh token work once', async (t) => {
  const store = knexBrokerStore(database.knex)
  const replicas = [
    await brokerWorld(t, { idp, broker: { store, refreshGrace: 0 } }),
    await brokerWorld(t, { idp, broker: { store, refreshGrace: 0 } })
  ] as const
  const atOnce = async (form: Readonly<Record<string, string>>) =>
    await Promise.all([0, 1, 0, 1, 0, 1].map(async (i) => await token(replicas[i as 0 | 1], form)))
  for (let round = 0; round < 5; round++) {
    const exchanged = await atOnce({ ...await grantOf(replicas[0]) })
    t.strictSame(exchanged.map(({ statusCode }) => statusCode).sort(), [200, 400, 400, 400, 400, 400])
    const { clientId, refreshToken } = await signedIn(replicas[1])
    const refreshed = await atOnce({ grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })
    t.strictSame(refreshed.map(({ statusCode }) => statusCode).sort(), [200, 400, 400, 400, 400, 400])
  }
})

t.test('a sign-in goes on after a restart, and revocation is known after one', async (t) => {
  const { clientId, refreshToken } = await signedIn(await open())
  const restarted = await open()
  const { refresh_token: next } =
    (await token(restarted, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })).json()
  t.type(next, 'string')
  t.equal((await token(restarted, { client_id: clientId, token: next }, '/oauth/revoke')).statusCode, 200)
  t.match(
    (await token(await open(), { grant_type: 'refresh_token', client_id: clientId, refresh_token: next })).json(),
    { error: 'invalid_grant' }
  )
})

t.test('the table holds no secret', async (t) => {
  await signedIn(await open())
  const rows = await database.knex('oauth_broker').select()
  t.ok(
    rows.length > 0 && rows.every((row) => /^(?:code:|family:|id-jag:)[\w-]{1,43}$/.test(row.key)),
    rows.map(({ key }) => key).join(' ')
  )
})

t.test('the rate limits of calls without a credential cover every endpoint of a sign-in', async (t) => {
  for (
    const [method, url] of [
      ['GET', '/oauth/authorize'],
      ['POST', '/oauth/authorize'],
      ['GET', '/oauth/callback'],
      ['POST', '/oauth/token'],
      ['POST', '/oauth/revoke'],
      ['POST', '/oauth/clients']
    ] as const
  ) {
    const { app } = await open({ RATE_LIMIT_ANONYMOUS_MAX: 2 })
    const statuses = []
    for (let i = 0; i < 3; i++) {
      statuses.push(
        (await app.inject({ method, url, payload: method === 'POST' ? 'x' : undefined } as never)).statusCode
      )
    }
    t.strictSame(statuses, [400, 400, 429], `${method} ${url}`)
    await app.close()
  }
})

t.test('pages keep their own policy, and let a client wait for the window that it opened', async (t) => {
  const world = await open()
  const page = await browser(world.app).get(authorizeUrl(await register(world.app), pkce().challenge))
  t.match(page.body, /Let An agent use Shop in your name\?/)
  t.match(page.headers, {
    'content-security-policy': /style-src 'sha256-/,
    'cross-origin-opener-policy': 'unsafe-none',
    'cache-control': 'no-store',
    'x-frame-options': 'DENY'
  })
})
