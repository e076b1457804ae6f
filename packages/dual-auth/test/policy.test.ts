import t, { type Test } from 'tap'
import { readFileSync } from 'node:fs'
import Fastify, { type FastifyContextConfig, type FastifySchema, type HTTPMethods } from 'fastify'
import { createApiKey, memoryStore, scopesFromRoute, type AuthPolicy } from '../src/index.ts'
import {
  authenticate,
  bearer,
  build,
  named,
  PEPPER,
  products,
  REFUSED,
  MISSING,
  OWNER,
  OTHER_OWNER,
  type Options
} from './build.ts'
import { startIssuer } from './issuer.ts'

t.test('for every route: no credential, API key, machine and user token get what its policy says', async (t) => {
  type Decided = Exclude<AuthPolicy, 'any-key'>
  const routes: Array<{ method: HTTPMethods, url: string, policy: Decided | undefined }> = []
  const issuerApp = await build(t, {
    auth: {
      // Called once for each route that does not say its policy itself.
      policy: (route) => {
        if (route.url === '/mcp') return 'any-key'
        return route.url.includes('/products') ? 'dual' : undefined
      }
    },
    routes: (app) => {
      app.addHook('onRoute', ({ method, url, config }) => {
        for (const one of [method].flat()) {
          routes.push({ method: one as HTTPMethods, url, policy: config?.auth as Decided })
        }
      })
      app.get('/later', async () => 'later')
      app.get('/owners/:owner_id/products/:id', async () => 'one')
      app.get('/open', { config: { auth: 'public' } }, async () => 'open')
      app.get('/closed', { config: { auth: 'jwt' } }, async () => 'closed')
      app.route({ method: ['PUT', 'PATCH'], url: '/owners/:owner_id/products/:id', handler: async () => 'changed' })
    }
  })
  const { app, issuer, mint } = issuerApp
  const { plaintext } = await mint()
  const credentials = {
    none: {},
    key: { 'x-api-key': plaintext },
    machine: bearer(issuer.machine()),
    user: bearer(issuer.user())
  }
  const expected: Record<Decided, Record<keyof typeof credentials, number>> = {
    jwt: { none: 401, key: 401, machine: 200, user: 200 },
    dual: { none: 401, key: 200, machine: 200, user: 200 },
    public: { none: 200, key: 200, machine: 200, user: 200 }
  }

  t.same(routes.map(({ method, url, policy }) => `${method} ${url} ${policy}`), [
    'GET /later jwt',
    'HEAD /later jwt',
    'GET /owners/:owner_id/products/:id dual',
    'HEAD /owners/:owner_id/products/:id dual',
    'GET /open public',
    'HEAD /open public',
    'GET /closed jwt',
    'HEAD /closed jwt',
    'PUT /owners/:owner_id/products/:id dual',
    'PATCH /owners/:owner_id/products/:id dual'
  ])
  for (const { method, url, policy = 'jwt' } of routes) {
    for (const [name, headers] of Object.entries(credentials)) {
      const path = url.replace(':owner_id', OWNER).replace(':id', '1')
      const { statusCode } = await app.inject({ method: method as 'GET', url: path, headers })
      t.equal(statusCode, expected[policy][name as keyof typeof credentials], `${method} ${url} with ${name}`)
    }
  }
})

/** The plugin without tokens, in a host whose own hook knows a session; and a key of the owner. */
async function withoutTokens (t: Test, jwt: false | 'host', auth: Partial<Options> = {}) {
  const app = Fastify()
  t.teardown(() => app.close())
  const apiKeys = {
    marker: 'shop_test',
    peppers: [PEPPER],
    store: memoryStore(),
    logN: 4,
    ownerIdFromParam: (id: string) => id
  }
  app.route({ method: ['GET', 'POST'], url: '/before/:owner_id', handler: async () => 'opened' })
  await authenticate(app, {
    apiKeys,
    jwt,
    policy: ({ url, method }) => {
      if (!url.startsWith('/before/')) return undefined
      return String(method) === 'GET' ? 'public' : 'dual'
    },
    ...auth
  })
  app.addHook('onRequest', async (request, reply) => {
    if (
      request.identity === null && request.routeOptions.config.auth === 'dual' &&
      request.headers.cookie !== 'session=kim'
    ) return reply.code(401).send('sign in')
  })
  app.get(
    '/owners/:owner_id/products',
    { config: { auth: 'dual' } },
    async (request) => ({ caller: request.identity?.kind ?? null })
  )
  app.get('/page', { config: { auth: 'public' } }, async (request) => ({ caller: request.identity }))
  app.get('/forgotten', async () => 'closed')
  const { plaintext } = await createApiKey(apiKeys, { ownerId: OWNER, name: 'test', scopes: 'all', createdBy: 'test' })
  const status = async (url: string, headers: Record<string, string>) => (await app.inject({ url, headers })).statusCode
  return { app, plaintext, status }
}

t.test('without tokens: who opens what, with keys alone and beside the sign-in of the host', async (t) => {
  const cookie = 'session=kim'
  const bad = 'shop_test_000000000000_' + '0'.repeat(49)
  for (const jwt of [false, 'host'] as const) {
    const { app, plaintext, status } = await withoutTokens(t, jwt)
    const presented: Array<readonly [name: string, headers: Record<string, string>, dual: number]> = [
      ['nothing', {}, 401],
      ['a good key', { 'x-api-key': plaintext }, 200],
      ['a good key as a token', bearer(plaintext), 200],
      ['a session', { cookie }, jwt === 'host' ? 200 : 401],
      ['a token of the host beside its session', { cookie, ...bearer('a.b.c') }, jwt === 'host' ? 200 : 401],
      ['an empty key beside a session', { cookie, 'x-api-key': '' }, jwt === 'host' ? 200 : 401],
      // No other credential rescues a bad key.
      ['a bad key beside a session', { cookie, 'x-api-key': bad }, 401],
      ['what is no key in the header of keys', { cookie, 'x-api-key': 'undefined' }, 401],
      ['a bad key as a token beside a session', { cookie, ...bearer(bad) }, 401],
      ['a key with too many spaces beside a session', { cookie, authorization: `Bearer  ${plaintext}` }, 401],
      ['a key without a scheme beside a session', { cookie, authorization: plaintext }, 401],
      ['two keys', { cookie, 'x-api-key': plaintext, ...bearer(bad) }, 401]
    ]
    for (const [name, headers, dual] of presented) {
      t.equal(await status(`/owners/${OWNER}/products`, headers), dual, `${jwt}: ${name}`)
      t.equal(await status(`/before/${OWNER}`, headers), dual, `${jwt}: ${name}, on a route from before the plugin`)
      t.equal(await status('/forgotten', headers), 401, `${jwt}: ${name}, where nobody said a policy`)
      t.equal(await status('/page', headers), 200, `${jwt}: ${name}, on a public route`)
    }
    t.equal(
      await status(`/owners/${OTHER_OWNER}/products`, { cookie, 'x-api-key': plaintext }),
      403,
      'a key opens its own owner only'
    )
    t.equal(app.dualAuthReady(), true)
  }
})

t.test('a person whom the host signs in manages keys, and is noted as who made them', async (t) => {
  const { app, plaintext } = await withoutTokens(t, 'host', {
    management: { canManage: ({ headers }) => headers.cookie === 'session=kim' && 'kim' }
  })
  const call = async (method: 'GET' | 'POST', headers: Record<string, string>, payload?: object) =>
    await app.inject({ method, url: `/owners/${OWNER}/api-keys/`, headers, ...payload !== undefined && { payload } })
  t.match((await call('POST', { cookie: 'session=kim' }, { name: 'Till' })).json(), { name: 'Till', created_by: 'kim' })
  t.equal((await call('GET', {})).statusCode, 403)
  t.equal((await call('GET', { 'x-api-key': plaintext })).statusCode, 403, 'keys manage no keys')
  const { app: careless } = await withoutTokens(t, 'host', { management: { canManage: () => true } })
  t.match((await careless.inject(`/owners/${OWNER}/api-keys/`)).json(), {
    statusCode: 500,
    code: 'DUAL_AUTH_INVALID_OPTION'
  })
})

t.test('who is calling, by each method', async (t) => {
  const { app, issuer, mint } = await build(t)
  const key = await mint()
  const as = async (headers: Record<string, string>) => (await app.inject({ url: products(), headers })).json()
  const identity = { kind: 'api-key', keyId: key.id, ownerId: OWNER, scopes: [] }
  t.strictSame(await as({ 'x-api-key': key.plaintext }), identity)
  t.strictSame(await as(bearer(key.plaintext)), identity)
  t.strictSame(await as({ ...bearer(issuer.user()), 'x-api-key': key.plaintext }), identity)
  t.strictSame(await as(bearer(issuer.machine())), {
    kind: 'machine',
    issuer: issuer.url,
    clientId: 'robot',
    scopes: ['shop/api']
  })
  t.strictSame(await as(bearer(issuer.user())), {
    kind: 'user',
    issuer: issuer.url,
    subject: 'user-1',
    username: 'ada',
    groups: ['staff'],
    scopes: ['openid', 'email']
  })
})

t.test('where tokens alone count, the header for keys is not read; where keys count, it decides', async (t) => {
  const { app, issuer, mint } = await build(t)
  const { plaintext } = await mint()
  const management = `/owners/${OWNER}/api-keys`
  for (const key of [plaintext, 'shop_test_no', 'x', '', ' ', ', ']) {
    const isEmpty = /^[ ,]*$/.test(key)
    for (const url of ['/orders', management]) {
      const beside = await app.inject({ url, headers: { ...bearer(issuer.user()), 'x-api-key': key } })
      t.equal(beside.statusCode, 200, `${url}: a good token beside the key '${key}'`)
      t.strictSame(
        (await app.inject({ url, headers: { 'x-api-key': key } })).json(),
        MISSING,
        `${url}: '${key}' is no credential there`
      )
      const bad = await app.inject({ url, headers: { ...bearer('bad'), 'x-api-key': key } })
      t.strictSame(bad.json(), REFUSED, `${url}: a bad token beside it`)
      t.match(bad.headers['www-authenticate'], 'error="invalid_token"')
    }
    const status = async (headers: Record<string, string>) =>
      (await app.inject({ url: products(), headers: { 'x-api-key': key, ...headers } })).statusCode
    t.equal(
      await status(bearer(issuer.user())),
      isEmpty || key === plaintext ? 200 : 401,
      'a good token rescues no bad key'
    )
    t.equal(await status(bearer('bad')), isEmpty || key !== plaintext ? 401 : 200)
  }
  for (const url of ['/orders', management]) {
    t.strictSame((await app.inject({ url, headers: bearer(plaintext) })).json(), REFUSED, `${url}: a key as a token`)
  }
})

t.test('a bad token beside an empty key header is called an error', async (t) => {
  const { app } = await build(t)
  for (const key of ['', '  ', ',', ', ,']) {
    const { statusCode, headers } = await app.inject({
      url: products(),
      headers: { ...bearer('bad'), 'x-api-key': key }
    })
    t.strictSame([statusCode, headers['www-authenticate']], [401, 'Bearer error="invalid_token"'], key)
  }
})

t.test('what a request presents is read in one place, for limits and counts of the host', async (t) => {
  const { app, issuer, mint } = await build(t, {
    host: (app) => {
      app.addHook('onRequest', async (request, reply) => {
        reply.header('presented', JSON.stringify(request.presentedCredential()))
      })
    }
  })
  const { plaintext } = await mint()
  const token = issuer.user()
  const presented = async (url: string, headers: Record<string, string>) =>
    JSON.parse(String((await app.inject({ url, headers })).headers['presented']))
  const key = { kind: 'api-key', value: plaintext }
  const spelled = [{ 'x-api-key': plaintext }, bearer(plaintext), { 'x-api-key': '', ...bearer(plaintext) }, {
    'x-api-key': plaintext,
    ...bearer(token)
  }, { authorization: `bearer ${plaintext}` }]
  for (const headers of spelled) {
    t.strictSame(await presented(products(), headers), key, JSON.stringify(Object.keys(headers)))
  }
  t.strictSame(await presented(products(), bearer(token)), { kind: 'token', value: token })
  t.strictSame(await presented(products(), { ...bearer(token), 'x-api-key': ' ' }), { kind: 'token', value: token })
  t.strictSame(await presented(products(), { 'x-api-key': ' ' }), { kind: 'none' })
  t.strictSame(await presented(products(), { 'x-api-key': 'bad', ...bearer(token) }), { kind: 'api-key', value: 'bad' })
  t.strictSame(
    await presented(products(), { authorization: plaintext }),
    { kind: 'api-key', value: plaintext },
    'a key without a scheme is still one'
  )
  t.strictSame(await presented(products(), { authorization: 'Basic eDp5' }), { kind: 'token', value: 'Basic eDp5' })
  t.strictSame(await presented('/orders', { 'x-api-key': plaintext, ...bearer(token) }), {
    kind: 'token',
    value: token
  }, 'for tokens alone')
  t.strictSame(await presented('/orders', { 'x-api-key': plaintext }), { kind: 'none' })
  t.strictSame(await presented('/orders', bearer(plaintext)), key)
  for (const url of ['/health', '/nowhere']) {
    t.strictSame(await presented(url, { 'x-api-key': plaintext, ...bearer(token) }), { kind: 'none' }, url)
  }
})

t.test('the identity is frozen', async (t) => {
  const { app, mint } = await build(t, {
    routes: (app) => {
      app.get(
        '/owners/:owner_id/products/frozen',
        async (
          { identity }
        ) => [Object.isFrozen(identity), identity?.kind === 'api-key' && Object.isFrozen(identity.scopes)]
      )
    }
  })
  const { plaintext } = await mint()
  t.strictSame((await app.inject({ url: `${products()}/frozen`, headers: bearer(plaintext) })).json(), [true, true])
})

t.test('on a public route credentials are not looked at, bad ones neither', async (t) => {
  const { app } = await build(t)
  for (const headers of [{ 'x-api-key': 'bad' }, bearer('bad'), { authorization: 'Basic abc' }]) {
    const response = await app.inject({ url: '/health', headers })
    t.equal(response.statusCode, 200)
    t.strictSame(response.json(), { identity: null })
  }
})

t.test('the check comes before the body is read', async (t) => {
  const { app } = await build(t)
  const response = await app.inject({
    method: 'POST',
    url: products(),
    headers: { 'content-type': 'application/json' },
    payload: '{ not json'
  })
  t.equal(response.statusCode, 401)
  t.strictSame(response.json(), MISSING)
})

t.test('what is not there is 404 without credentials', async (t) => {
  const { app } = await build(t)
  t.equal((await app.inject('/nowhere')).statusCode, 404)
})

t.test('routes of a plugin that was registered before are guarded too', async (t) => {
  const jwts = { issuer: 'http://127.0.0.1:9/', userClients: [], jwksTimeout: 100 }
  for (const jwt of [jwts, false, 'host'] as const) {
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(async (child) => {
      child.get('/early', async () => 'open')
      for (const auth of ['any-key', 'public'] as const) {
        child.get(`/${auth}`, { config: { auth } }, async ({ identity }) => ({ identity: String(identity) }))
      }
    })
    await authenticate(app, { apiKeys: { marker: 'm', peppers: [PEPPER], store: memoryStore() }, jwt })
    const response = await app.inject('/early')
    t.equal(response.statusCode, 401)
    t.strictSame(response.json(), MISSING)
    // Requests there have no decoration: a hook that lets everybody but null through would let everybody through.
    t.strictSame((await app.inject('/public')).json(), { identity: 'null' })
    t.match((await app.inject('/any-key')).json(), jwt === 'host' ? { identity: 'null' } : MISSING)
  }
})

t.test('both spellings of a prefixed route have one policy', async (t) => {
  const { app, mint } = await build(t, {
    routes: (app) => {
      app.register(async (child) => {
        child.get('/', async () => 'list')
      }, { prefix: '/owners/:owner_id/products-of' })
    }
  })
  const { plaintext } = await mint()
  for (const url of [`/owners/${OWNER}/products-of`, `/owners/${OWNER}/products-of/`]) {
    t.equal((await app.inject({ url, headers: bearer(plaintext) })).statusCode, 200, url)
    t.equal((await app.inject({ url })).statusCode, 401, url)
  }
})

t.test('a key on another owner is 403, whether or not that owner exists', async (t) => {
  const { app, mint } = await build(t)
  const { plaintext } = await mint()
  for (const owner of [OTHER_OWNER, '00000000-0000-4000-8000-000000000000', 'x', '', OWNER.toUpperCase()]) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE'] as const) {
      const response = await app.inject({ method, url: products(owner), headers: { 'x-api-key': plaintext } })
      t.equal(response.statusCode, 403)
      t.strictSame(response.json(), {
        statusCode: 403,
        code: 'DUAL_AUTH_OWNER_FORBIDDEN',
        error: 'Forbidden',
        message: 'The API key has no access to this path'
      })
      t.equal(response.headers['www-authenticate'], undefined)
    }
  }
})

t.test('a key is 403 where the owner in the path is none, however the host says that', async (t) => {
  for (const nothing of [undefined, null, '', 0, NaN, false]) {
    const { app, mint } = await build(t, {
      apiKeys: { ownerIdFromParam: (value) => value === OWNER ? OWNER : nothing as never }
    })
    const { plaintext } = await mint()
    const response = await app.inject({ url: products('gone'), headers: { 'x-api-key': plaintext } })
    t.equal(response.statusCode, 403, String(nothing))
    t.equal(response.json().code, 'DUAL_AUTH_OWNER_FORBIDDEN')
    t.equal((await app.inject({ url: products(), headers: { 'x-api-key': plaintext } })).statusCode, 200)
  }
})

t.test('an id of the host that is no string is named, and lets no key in', async (t) => {
  for (const id of [7, true, Promise.resolve(OWNER), [OWNER], Object(OWNER)]) {
    const { app, mint } = await build(t, {
      apiKeys: { ownerIdFromParam: (value) => value === OWNER ? OWNER : id as never }
    })
    const { plaintext } = await mint()
    const response = await app.inject({ url: products('7'), headers: { 'x-api-key': plaintext } })
    t.match(response.json(), {
      statusCode: 500,
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: 'dual-auth: apiKeys.ownerIdFromParam must return the id of the owner as a string, or undefined'
    })
  }
})

t.test('how a path spells the owner is asked for API keys on dual routes, and nobody else', async (t) => {
  const asked: string[] = []
  const { app, issuer, mint } = await build(t, {
    apiKeys: {
      ownerIdFromParam: (value) => {
        asked.push(value)
        return value.toLowerCase()
      }
    },
    routes: (app) => {
      app.get('/owners/:owner_id/open', { config: { auth: 'public' } }, async () => '')
      app.get('/owners/:owner_id/closed', async () => '')
    }
  })
  const { plaintext } = await mint()
  asked.length = 0
  const key = bearer(plaintext)
  const user = bearer(issuer.user())
  for (
    const [url, headers, statusCode] of [
      [`/owners/${OWNER}/open`, key, 200],
      [`/owners/${OWNER}/closed`, key, 401],
      [`/owners/${OWNER}/closed`, user, 200],
      [products(), user, 200],
      [products(), {}, 401]
    ] as const
  ) t.equal((await app.inject({ url, headers })).statusCode, statusCode)
  t.equal(
    (await app.inject({ method: 'POST', url: '/mcp', headers: key })).statusCode,
    200,
    'nor where no owner is in the path'
  )
  t.strictSame(asked, [])
  t.equal((await app.inject({ url: products(OWNER.toUpperCase()), headers: key })).statusCode, 200)
  t.strictSame(asked, [OWNER.toUpperCase()])
})

t.test('a key with scopes opens what one of them names, and any key opens the gateway', async (t) => {
  const { app, mint } = await build(t, {
    routes: (app) => {
      app.post('/owners/:owner_id/products/archive', { schema: named('archive_products') }, async () => '')
    }
  })
  const cases: Array<[scopes: string[], open: string[]]> = [
    [['read'], ['GET', 'HEAD']],
    [['write'], ['POST', 'PUT', 'DELETE']],
    [['replace_products'], ['PUT']],
    [['read', 'replace_products'], ['GET', 'HEAD', 'PUT']],
    [['archive_products'], []]
  ]
  for (const [scopes, open] of cases) {
    const { plaintext } = await mint(OWNER, { name: 'limited', scopes })
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] as const) {
      const response = await app.inject({ method, url: products(), headers: { 'x-api-key': plaintext } })
      t.equal(response.statusCode, open.includes(method) ? 200 : 403, `${method} with ${scopes}`)
    }
    t.equal((await app.inject({ method: 'POST', url: '/mcp', headers: { 'x-api-key': plaintext } })).statusCode, 200)
  }
})

t.test('on a route of several methods each needs its own scope, and a key can be made with any of them', async (t) => {
  const { app, mint } = await build(t, {
    auth: { policy: () => 'any-key', scopes: scopesFromRoute },
    routes: (app) => {
      app.route({
        method: ['GET', 'POST'],
        url: '/owners/:owner_id/both',
        schema: named('both'),
        handler: async () => ''
      })
      app.all('/owners/:owner_id/all', async () => '')
    }
  })
  const cases: Array<[scope: string, open: string[]]> = [
    ['read', ['GET', 'HEAD']],
    ['write', ['POST']],
    ['both', ['GET', 'HEAD', 'POST']]
  ]
  for (const [scope, open] of cases) {
    const { plaintext } = await mint(OWNER, { name: 'limited', scopes: [scope] })
    for (const path of ['both', ...scope === 'both' ? [] : ['all']]) {
      // Twice, and in turns: what one method needs must not be kept for the other.
      for (const method of ['GET', 'POST', 'HEAD', 'GET', 'POST'] as const) {
        const { statusCode } = await app.inject({ method, url: `/owners/${OWNER}/${path}`, headers: bearer(plaintext) })
        t.equal(statusCode, open.includes(method) ? 200 : 403, `${method} ${path} with ${scope}`)
      }
    }
  }
})

t.test('which scopes open a route is asked once for each of its methods', async (t) => {
  const asked: string[] = []
  const { app, mint } = await build(t, {
    auth: {
      scopes: ({ method, url }) => {
        asked.push(`${String(method)} ${url}`)
        return null
      }
    }
  })
  const { plaintext } = await mint()
  asked.length = 0
  for (const method of ['GET', 'PUT', 'GET', 'PUT'] as const) {
    t.equal((await app.inject({ method, url: products(), headers: bearer(plaintext) })).statusCode, 200)
  }
  t.strictSame(asked, ['GET /owners/:owner_id/products', 'PUT /owners/:owner_id/products'])
})

t.test("a route of several methods whose only reader is GET makes keys with the scope 'read'", async (t) => {
  const { mint } = await build(t, {
    // A HEAD route beside it would supply 'read' too.
    server: { exposeHeadRoutes: false },
    auth: { policy: (route) => route.url === '/only' ? 'any-key' : undefined, scopes: scopesFromRoute },
    routes: (app) => {
      app.route({ method: ['GET', 'POST'], url: '/only', handler: async () => '' })
    }
  })
  for (const scope of ['read', 'write']) {
    t.match(await mint(OWNER, { name: 'limited', scopes: [scope] }), { scopes: [scope] })
  }
})

t.test('the documented scopes let every key into an MCP endpoint, with and without a trailing slash', async (t) => {
  const page = readFileSync(new URL('../docs/policies.md', import.meta.url), 'utf8')
  const expression = /`scopes: (\(route\) => [^`]+)`/.exec(page)?.[1]
  const { default: scopesOf } = await import(
    `data:text/javascript,${encodeURIComponent(`export default scopesFromRoute => ${expression}`)}`
  )
  const { app, mint } = await build(t, {
    auth: {
      policy: (route) => /^\/(?:mcp|owners\/:owner_id\/products)\b/.test(route.url) ? 'any-key' : undefined,
      scopes: scopesOf(scopesFromRoute)
    },
    routes: (app) => {
      app.post('/mcp/', async () => '')
    }
  })
  const { plaintext } = await mint(OWNER, { name: 'reader', scopes: ['read'] })
  const status = async (url: string) =>
    (await app.inject({ method: 'POST', url, headers: bearer(plaintext) })).statusCode
  t.strictSame([await status('/mcp'), await status('/mcp/'), await status(products())], [200, 200, 403])
})

t.test('a dual route whose path may lack the owner is refused at registration, unless it says so', async (t) => {
  const opening = (what: string) =>
    `accepts API keys, and its path ${what}, which names their owner: every key would open it. Set ` +
    'apiKeys.ownerParam to the parameter that names owners in your paths, or to null if none does; or give the ' +
    "route the policy 'any-key' if it is for the keys of every owner"
  const [NONE, OPTIONAL] = [opening('has no parameter :owner_id'), opening('may leave out :owner_id')]
  const meant: string[] = []
  await build(t, {
    auth: { policy: ({ url }) => url === '/by-function' ? 'any-key' : undefined },
    routes: (app) => {
      const handler = async () => ''
      for (
        const [url, what] of [
          ['/stores/:ownerId/products', NONE],
          ['/owners/:id', NONE],
          ['/tools', NONE],
          ['/names/a::owner_id', NONE],
          ['/all/*', NONE],
          ['/any/:owner_id?', OPTIONAL],
          ['/branches/:OWNER_ID/books', NONE]
        ] as const
      ) {
        t.throws(() => app.get(url, { config: { auth: 'dual' } }, handler), {
          code: 'DUAL_AUTH_INVALID_OPTION',
          message: `dual-auth: GET ${url} ${what}`
        })
      }
      t.throws(() => app.route({ method: ['PUT', 'POST'], url: '/tools', config: { auth: 'dual' }, handler }), {
        message: `dual-auth: PUT, POST /tools ${NONE}`
      })
      for (
        const url of [
          '/owners/:owner_id/orders/:id',
          '/owners/:owner_id(^\\d+)/files/*',
          '/each/:owner_id/:id?',
          '/kinds/:kind-:owner_id'
        ]
      ) app.get(url, { config: { auth: 'dual' } }, handler)
      app.addHook('onRoute', ({ method, url, config }) => {
        if (config?.anyOwner) meant.push(`${String(method)} ${url} ${config.auth}`)
      })
      for (const url of ['/reports/:id', '/meant/:owner_id?']) app.get(url, { config: { auth: 'any-key' } }, handler)
      app.get('/by-function', handler)
    }
  })
  t.strictSame(
    meant,
    ['/reports/:id', '/meant/:owner_id?', '/by-function'].flatMap((url) => [`GET ${url} dual`, `HEAD ${url} dual`])
  )
  await t.resolves(
    build(t, { apiKeys: { ownerParam: null }, auth: { management: undefined as never, policy: () => 'dual' } }),
    'nothing is forgotten where no path names an owner'
  )
})

t.test('a parameter that is called like every other one names one kind of owner, and nothing else', async (t) => {
  for (const param of ['id', 'ID', '_id', 'uuid', 'slug', 'name', 'key', 'owner']) {
    await build(t, {
      apiKeys: { ownerParam: param },
      auth: {
        policy: () => undefined,
        management: { path: `/v1/orgs/:${param}/api-keys`, canManage: () => true }
      },
      routes: (app) => {
        const route = (url: string, auth: AuthPolicy = 'dual') => () =>
          app.get(url, { config: { auth } }, async () => '')
        for (
          const url of [`/orgs/:${param}/docs`, `/v1/orgs/:${param}`, `/v2/orgs/:${param}/docs/:doc`]
        ) t.doesNotThrow(route(url), url)
        for (
          const url of [
            `/users/:${param}/notes`,
            `/invoices/:${param}`,
            `/:${param}/x`,
            `/orgs/x-:${param}`,
            `/orgs/:org/:${param}`
          ]
        ) {
          t.throws(route(url), {
            code: 'DUAL_AUTH_INVALID_OPTION',
            message: `dual-auth: GET ${url} has :${param} elsewhere than /v1/orgs/:${param}/api-keys: a key of the ` +
              'owner in one would open the other. Set apiKeys.ownerParam to a name that only owners have in your ' +
              'paths, such as orgId'
          })
          for (const auth of ['jwt', 'any-key', 'public'] as const) t.doesNotThrow(route(`${url}-${auth}`, auth))
        }
      }
    })
  }
  const early = await build(t, {
    apiKeys: { ownerParam: 'id' },
    auth: { policy: () => undefined, management: { path: '/orgs/:id/api-keys', canManage: () => true } },
    host: (app) => {
      app.get('/invoices/:id', { config: { auth: 'dual' } }, async () => '')
    }
  })
  t.match(
    (await early.app.inject('/invoices/7')).json(),
    { statusCode: 500, code: 'DUAL_AUTH_INVALID_OPTION' },
    'early'
  )
  await build(t, {
    apiKeys: { ownerParam: 'team' },
    auth: { policy: () => undefined, management: undefined as never },
    routes: (app) => {
      for (const url of ['/teams/:team/docs', '/docs/of/:team']) {
        t.doesNotThrow(() => app.get(url, { config: { auth: 'dual' } }, async () => ''), 'a name of its own')
      }
    }
  })
})

t.test('an operation id that is a word for scopes of keys is refused where keys are accepted', async (t) => {
  await build(t, {
    routes: (app) => {
      for (const id of ['read', 'write', 'all']) {
        const route = (auth: AuthPolicy) => () =>
          app.get(`/owners/:owner_id/${id}-${auth}`, { schema: named(id), config: { auth } }, async () => '')
        t.throws(route('dual'), {
          code: 'DUAL_AUTH_INVALID_OPTION',
          message:
            `dual-auth: GET /owners/:owner_id/${id}-dual must have another operationId than '${id}', which is a ` +
            'word for the scopes of API keys'
        })
        t.doesNotThrow(route('jwt'), 'keys do not open it')
      }
    }
  })
})

t.test('a route that is meant for every owner still checks an owner that its path names', async (t) => {
  const { app, mint } = await build(t, {
    routes: (app) => {
      app.get('/meant/:owner_id?', { config: { auth: 'any-key' } }, async () => '')
    }
  })
  const { plaintext } = await mint()
  const status = async (url: string) => (await app.inject({ url, headers: bearer(plaintext) })).statusCode
  t.strictSame([await status('/meant'), await status(`/meant/${OWNER}`), await status(`/meant/${OTHER_OWNER}`)], [
    200,
    200,
    403
  ])
})

const challenge = {
  resourceMetadata: 'https://shop.test/.well-known/oauth-protected-resource/mcp',
  scope: 'openid email'
}
const WHERE = 'resource_metadata="https://shop.test/.well-known/oauth-protected-resource/mcp"'

t.test('a key without the scope is told what is needed and what it has, and gets no challenge', async (t) => {
  const { app, mint } = await build(t, {
    auth: {
      challenge,
      scopes: (route) => route.url.endsWith('/closed') ? [] : scopesFromRoute(route),
      policy: () => 'any-key'
    },
    routes: (app) => {
      app.get('/owners/:owner_id/closed', async () => '')
    }
  })
  const cases = [
    [
      ['read'],
      'PUT',
      '',
      'replace_products needs the scope write or replace_products. This API key has only the scope read'
    ],
    [
      ['read', 'replace_products'],
      'POST',
      '',
      'POST /owners/:owner_id/products needs the scope write. This API key has only the scopes read and ' +
      'replace_products'
    ],
    [
      ['write'],
      'GET',
      '',
      'GET /owners/:owner_id/products needs the scope read. This API key has only the scope write'
    ],
    [
      ['read'],
      'GET',
      'closed',
      "GET /owners/:owner_id/closed needs a key with the scopes 'all'. This API key has only the scope read"
    ]
  ] as const
  for (const [scopes, method, path, message] of cases) {
    const { plaintext } = await mint(OWNER, { name: 'limited', scopes })
    for (const headers of [{ 'x-api-key': plaintext }, bearer(plaintext)]) {
      const response = await app.inject({ method, url: path === '' ? products() : `/owners/${OWNER}/${path}`, headers })
      t.equal(response.statusCode, 403)
      t.strictSame(response.json(), {
        statusCode: 403,
        code: 'DUAL_AUTH_SCOPE_INSUFFICIENT',
        error: 'Forbidden',
        message
      })
      t.equal(response.headers['www-authenticate'], undefined, 'the scopes of a key are no OAuth scopes')
    }
  }
})

t.test('a token without the scopes of a route is challenged to get all of them', async (t) => {
  const { app, issuer, mint } = await build(t, {
    auth: {
      challenge,
      policy: () => 'any-key',
      tokenScopes: ({ url, method }) => {
        if (url === '/mcp') return null
        if (url === '/owners/:owner_id/api-keys' && method === 'GET') return ['keys']
        if (url !== '/owners/:owner_id/products') return []
        return method === 'GET' || method === 'HEAD' ? ['catalog/read'] : ['catalog/read', 'catalog/write']
      }
    }
  })
  const { plaintext } = await mint()
  const ask = async (method: 'GET' | 'PUT' | 'POST', scope: string, url = products()) =>
    app.inject({ method, url, headers: bearer(issuer.user({ scope })) })
  for (const method of ['GET', 'PUT', 'GET', 'PUT'] as const) {
    const response = await ask(method, 'openid')
    t.equal(response.statusCode, 403)
    t.equal(
      response.headers['www-authenticate'],
      `Bearer error="insufficient_scope", ${WHERE}, ` +
        `scope="${method === 'GET' ? 'catalog/read' : 'catalog/read catalog/write'}"`
    )
  }
  const some = await ask('PUT', 'openid catalog/read')
  t.strictSame(some.json(), {
    statusCode: 403,
    code: 'DUAL_AUTH_TOKEN_SCOPE_INSUFFICIENT',
    error: 'Forbidden',
    message: 'replace_products needs the scopes catalog/read and catalog/write. This token lacks catalog/write'
  })
  t.equal(
    some.headers['www-authenticate'],
    `Bearer error="insufficient_scope", ${WHERE}, scope="catalog/read catalog/write"`,
    'all, and not only the missing one'
  )
  t.match((await ask('GET', 'openid')).json(), {
    message: 'GET /owners/:owner_id/products needs the scope catalog/read. This token lacks catalog/read'
  })
  for (const scope of ['catalog/read catalog/write', 'catalog/write openid catalog/read']) {
    t.equal((await ask('PUT', scope)).statusCode, 200)
  }
  for (const scope of ['catalog', 'CATALOG/READ', 'catalog/read2', 'xcatalog/read', '']) {
    t.equal((await ask('GET', scope)).statusCode, 403, scope)
  }
  const unmanaged = await ask('GET', 'openid', `/owners/${OWNER}/api-keys`)
  t.equal(
    unmanaged.headers['www-authenticate'],
    `Bearer error="insufficient_scope", ${WHERE}, scope="keys"`,
    'on the routes that manage keys too'
  )
  t.equal((await ask('POST', '', '/mcp')).statusCode, 200, 'null needs none')
  t.equal((await ask('GET', '', '/orders')).statusCode, 200, 'and so does an empty list')

  const machine = (scope: string) => app.inject({ url: products(), headers: bearer(issuer.machine({ scope })) })
  t.equal((await machine('shop/api')).statusCode, 403, 'machines have tokens too')
  t.equal((await machine('shop/api catalog/read')).statusCode, 200)
  t.equal(
    (await app.inject({ method: 'PUT', url: products(), headers: { 'x-api-key': plaintext } })).statusCode,
    200,
    'of API keys none of it is asked'
  )
})

t.test('a token scope that no token can have fails the boot', async (t) => {
  for (
    const [scopes, message] of [
      [
        ['catalog/read', 'two words'],
        "dual-auth: tokenScopes of GET /x must not contain 'two words': a scope is printable ASCII without " +
        'spaces, " and \\'
      ],
      [['schön'], /must not contain 'schön'/],
      [[''], /tokenScopes of GET \/x must be an array of scopes/],
      ['catalog', /tokenScopes of GET \/x must be an array of scopes/]
    ] as const
  ) {
    const app = Fastify()
    t.teardown(() => app.close())
    await authenticate(app, {
      apiKeys: { marker: 'm', peppers: [PEPPER], store: memoryStore() },
      jwt: { issuer: 'http://127.0.0.1:9/', userClients: [], jwksTimeout: 100 },
      tokenScopes: ({ url }) => url === '/x' ? scopes as never : null
    })
    t.throws(() => app.get('/x', async () => ''), { code: 'DUAL_AUTH_INVALID_OPTION', message })
    t.doesNotThrow(() => app.get('/open', { config: { auth: 'public' } }, async () => ''))
  }
})

t.test('scopes that are neither a list nor null fail the boot of a route for keys, and no other', async (t) => {
  for (const scopes of ['read', undefined, Promise.resolve(['read']), ['']]) {
    const app = Fastify()
    t.teardown(() => app.close())
    await authenticate(app, {
      apiKeys: { marker: 'm', peppers: [PEPPER], store: memoryStore(), ownerParam: null },
      jwt: 'host',
      scopes: () => scopes as never
    })
    t.throws(() => app.post('/x', { config: { auth: 'dual' } }, async () => ''), {
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: 'dual-auth: scopes of POST /x must be an array of scopes, or null for any key'
    })
    app.get('/open', { config: { auth: 'public' } }, async () => '')
    t.equal((await app.inject('/open')).statusCode, 200)
  }
})

t.test('a scope all of a route is refused: a key with it would look like one for everything', async (t) => {
  await build(t, {
    auth: { policy: () => 'public', scopes: () => ['read', 'all'] },
    routes: (app) => {
      t.throws(() => app.get('/x', { config: { auth: 'any-key' } }, async () => ''), {
        code: 'DUAL_AUTH_INVALID_OPTION',
        message:
          "dual-auth: scopes of GET /x must not contain 'all', which means every operation in the scopes of a key"
      })
    }
  })
})

t.test('request.mayCall says what the route will say of a key, and nothing against tokens', async (t) => {
  const routes: Array<{ method: HTTPMethods, url: string, schema?: FastifySchema, config?: FastifyContextConfig }> = []
  const { app, issuer, mint } = await build(t, {
    auth: {
      policy: (route) =>
        route.url.startsWith('/owners/:owner_id/') && !route.url.includes('api-keys') ? 'dual' : undefined,
      scopes: scopesFromRoute,
      tokenScopes: ({ url }) => url === '/orders' ? ['orders'] : null
    },
    routes: (app) => {
      app.get('/owners/:owner_id/open', { config: { auth: 'public' } }, async () => '')
      app.get('/owners/:owner_id/closed', { config: { auth: 'jwt' } }, async () => '')
      app.post('/owners/:owner_id/archive', { schema: named('archive') }, async () => '')
      // As a list of tools would be made: of routes, by somebody who knows nothing of this plugin.
      app.get(
        '/owners/:owner_id/mine',
        async (request) => routes.filter((route) => request.mayCall(route)).map(({ method, url }) => `${method} ${url}`)
      )
      app.get(
        '/anybody',
        { config: { auth: 'public' } },
        async (request) => routes.every((route) => request.mayCall(route))
      )
      const { config } = { config: { auth: 'dual' as const } }
      routes.push(
        { method: 'GET', url: '/owners/:owner_id/products', config },
        { method: 'POST', url: '/owners/:owner_id/products', config },
        { method: 'PUT', url: '/owners/:owner_id/products', schema: named('replace_products'), config },
        { method: 'DELETE', url: '/owners/:owner_id/products', config },
        { method: 'GET', url: '/owners/:owner_id/open', config: { auth: 'public' } },
        { method: 'GET', url: '/owners/:owner_id/closed', config: { auth: 'jwt' } },
        { method: 'POST', url: '/owners/:owner_id/archive', schema: named('archive'), config },
        { method: 'GET', url: '/orders' }
      )
    }
  })
  const listed = async (headers: Record<string, string>) =>
    (await app.inject({ url: `/owners/${OWNER}/mine`, headers })).json()
  const all = routes.map(({ method, url }) => `${method} ${url}`)
  t.strictSame(await listed(bearer(issuer.user({ scope: 'openid' }))), all, 'a token may get the scope orders')
  t.strictSame(await listed(bearer(issuer.machine())), all)
  t.equal((await app.inject('/anybody')).json(), true)
  for (const scopes of [undefined, ['read'], ['read', 'archive'], ['read', 'replace_products'], ['read', 'write']]) {
    const { plaintext } = await mint(OWNER, { name: 'some', ...scopes && { scopes } })
    const may = await listed({ 'x-api-key': plaintext })
    for (const { method, url } of routes) {
      const { statusCode } = await app.inject({
        method: method as 'GET',
        url: url.replace(':owner_id', OWNER),
        headers: { 'x-api-key': plaintext }
      })
      t.equal(may.includes(`${method} ${url}`), statusCode === 200, `${method} ${url} with ${scopes}: ${statusCode}`)
    }
  }
})

t.test('a 401 says where to get a token; only a bad credential is called an error', async (t) => {
  const { app, issuer } = await build(t, {
    auth: {
      challenge: {
        resourceMetadata: 'https://shop.test/.well-known/oauth-protected-resource/mcp',
        scope: 'openid email'
      }
    }
  })
  const resource =
    'resource_metadata="https://shop.test/.well-known/oauth-protected-resource/mcp", scope="openid email"'
  const none = await app.inject({ method: 'POST', url: '/mcp' })
  t.strictSame(none.json(), MISSING)
  t.equal(none.headers['www-authenticate'], `Bearer ${resource}`)
  for (
    const [method, url] of [
      ['POST', '/mcp'],
      ['GET', '/orders'],
      ['GET', `/owners/${OWNER}/api-keys`],
      [
        'POST',
        `/owners/${OWNER}/api-keys`
      ]
    ] as const
  ) {
    const bad = await app.inject({ method, url, headers: bearer('bad') })
    t.strictSame(bad.json(), REFUSED, url)
    t.equal(bad.headers['www-authenticate'], `Bearer error="invalid_token", ${resource}`, url)
  }
  for (const headers of [{ 'x-api-key': 'bad' }, { 'x-api-key': 'bad', ...bearer(issuer.user()) }]) {
    const badKey = await app.inject({ method: 'POST', url: '/mcp', headers })
    t.strictSame(badKey.json(), REFUSED)
    t.equal(badKey.headers['www-authenticate'], `Bearer ${resource}`, 'no token was refused')
  }
})

t.test('a route for tokens fails the boot where none are accepted', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await authenticate(app, { apiKeys: { marker: 'm', peppers: [PEPPER], store: memoryStore() }, jwt: false })
  t.throws(() => app.get('/mine', { config: { auth: 'jwt' } }, async () => ''), {
    message: "dual-auth: GET /mine has the policy 'jwt', but jwt has no issuer: nobody could call it"
  })
})

t.test('an unknown policy fails the boot', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await authenticate(app, {
    apiKeys: { marker: 'm', peppers: [PEPPER], store: memoryStore() },
    jwt: { issuer: 'http://127.0.0.1:9/', userClients: [], jwksTimeout: 100 },
    policy: (route) => route.url === '/by-function' ? 'open' as never : undefined
  })
  t.throws(() => app.get('/x', { config: { auth: 'publik' as never } }, async () => ''), {
    code: 'DUAL_AUTH_INVALID_OPTION',
    message: "dual-auth: route GET /x has the unknown policy 'publik'; it must be 'jwt', 'dual', 'any-key' or 'public'"
  })
  t.throws(() => app.get('/by-function', async () => ''), { code: 'DUAL_AUTH_INVALID_OPTION' })
  t.throws(() => app.get('/null', { config: { auth: '' as never } }, async () => ''), {
    code: 'DUAL_AUTH_INVALID_OPTION'
  })
})

t.test('the scopes of a route are by method, and its operation id', async (t) => {
  t.strictSame(scopesFromRoute({ method: 'GET', url: '/x' }), ['read'])
  t.strictSame(scopesFromRoute({ method: ['GET', 'HEAD'], url: '/x', schema: named('list_x') }), ['read', 'list_x'])
  t.strictSame(scopesFromRoute({ method: ['GET', 'POST'], url: '/x' }), ['write'])
  t.strictSame(scopesFromRoute({ method: 'QUERY', url: '/x' }), ['write'])
})

t.test('routes from before the plugin that forget the owner answer nobody, and are scopes of no key', async (t) => {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  const app = Fastify()
  t.teardown(() => app.close())
  app.get('/branches/:branchId/books', { config: { auth: 'dual' } }, async () => '')
  await authenticate(app, {
    apiKeys: { marker: 'm', peppers: [PEPPER], store: memoryStore(), ownerIdFromParam: 'slug' },
    jwt: { issuer: issuer.url, userClients: ['web-app'], audience: ['x'] },
    management: { canManage: () => true }
  })
  for (let call = 0; call < 2; call++) {
    t.match((await app.inject({ url: '/branches/b/books', headers: bearer(issuer.user()) })).json(), {
      statusCode: 500,
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: /^dual-auth: GET \/branches\/:branchId\/books accepts API keys, and its path has no parameter :owner_id/
    })
  }
  const response = await app.inject({
    method: 'POST',
    url: '/owners/s/api-keys',
    headers: bearer(issuer.user()),
    payload: { name: 'x', scopes: ['read'] }
  })
  t.match(response.json(), {
    code: 'DUAL_AUTH_SCOPE_UNKNOWN',
    message:
      'Unknown scopes: read. Known: none, as no route that was registered after dual-auth accepts API keys with a scope'
  })
})
