import t from 'tap'
import Fastify from 'fastify'
import { DUAL_AUTH_OWNER_UNKNOWN, memoryStore } from '../src/index.ts'
import { startIssuer } from './issuer.ts'
import {
  authenticate,
  at,
  bearer,
  build,
  MISSING,
  named,
  PEPPER,
  products,
  REFUSED,
  OWNER,
  OTHER_OWNER,
  type Harness,
  type Settings
} from './build.ts'

const PATH = `/owners/${OWNER}/api-keys/`
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const as = ({ app, issuer }: Harness) => (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
  app.inject({ method, url, headers: bearer(issuer.user()), ...(payload && { payload }) })

t.test('a created key is 201 with its plaintext, once, not to be stored', async (t) => {
  const harness = await build(t)
  const call = as(harness)
  const response = await call('POST', PATH, { name: 'Label printer' })
  t.equal(response.statusCode, 201)
  t.equal(response.headers['cache-control'], 'no-store')
  const { plaintext, warnings, ...key } = response.json()
  const { id, prefix, created_at: createdAt, ...rest } = key
  t.strictSame(rest, {
    name: 'Label printer',
    status: 'active',
    scopes: 'all',
    created_by: 'user-1',
    expires_at: null,
    last_used_at: null,
    last_used_network: null,
    revoked_at: null,
    replaces: null,
    replaced_by: null
  })
  t.strictSame(warnings, [
    'This key has the scopes all: it opens every operation that accepts keys. Create keys with "scopes": ' +
    '["read"], or the operations they need.',
    'This key has no expires_at: it works until somebody revokes it.'
  ])
  t.match(id, /^[0-9a-f-]{36}$/)
  t.match(createdAt, TIME)
  t.match(plaintext, new RegExp(`^shop_test_${prefix}_[0-9A-Za-z]{49}$`))

  const list = await call('GET', PATH)
  t.equal(list.statusCode, 200)
  t.strictSame(list.json(), [key])
  t.notMatch(list.body, plaintext.split('_')[3])
})

t.test('full access is said: a key without scopes is all in every answer, an empty list is refused', async (t) => {
  const { app, issuer } = await build(t)
  const call = async (method: 'GET' | 'POST', payload?: object) =>
    (await app.inject({ method, url: PATH, headers: bearer(issuer.user()), ...payload && { payload } })).json()
  for (const [scopes, answered] of [[undefined, 'all'], ['all', 'all'], [['read'], ['read']]] as const) {
    const made = await call('POST', { name: 'x', ...scopes && { scopes } })
    t.match(made, { scopes: answered })
    t.equal(made.warnings.some((warning: string) => warning.includes('opens every operation')), answered === 'all')
    t.match((await call('GET')).find(({ id }: { id: string }) => id === made.id), { scopes: answered })
  }
  for (
    const [scopes, message] of [
      [[], /^body\/scopes must NOT have fewer than 1 items/],
      ['read', /^body\/scopes must match pattern/],
      ['', /^body\/scopes/],
      [null, /^body\/scopes must be array,string/],
      [['all'], /Unknown scopes: all/]
    ] as const
  ) {
    t.match(await call('POST', { name: 'x', scopes }), { statusCode: 400, message }, JSON.stringify(scopes))
  }
  t.equal((await call('GET')).length, 3)
})

t.test('revoked_at is since when a key is refused, whatever ended it, and status says why', async (t) => {
  const harness = await build(t)
  const call = as(harness)
  const now = Date.now()
  const end = new Date(now + 60_000).toISOString()
  const expiring = await harness.mint(OWNER, { name: 'expiring', expires_at: end })
  const rotated = await harness.mint()
  const { replaced } = (await call('POST', `${PATH}${rotated.id}/rotate`, { grace: 60 })).json()
  t.match(replaced, { status: 'active', revoked_at: null }, 'in its grace')
  const stateAt = async (time: number, filter = {}) =>
    await at(time, async () => {
      const keys: Array<{ id: string, status: string, revoked_at: string | null }> =
        (await call('GET', `${PATH}?filter=${encodeURIComponent(JSON.stringify(filter))}`)).json()
      const of = (id: string) =>
        keys.filter((key) => key.id === id).map(({ status, revoked_at: since }) => [status, since])[0]
      const use = async ({ plaintext }: { plaintext: string }) =>
        (await harness.app.inject({ url: products(), headers: bearer(plaintext) })).statusCode
      return { expiring: of(expiring.id), rotated: of(rotated.id), used: [await use(expiring), await use(rotated)] }
    })
  t.strictSame(await stateAt(now + 1000), { expiring: ['active', null], rotated: ['active', null], used: [200, 200] })
  const ended = { expiring: ['expired', end], rotated: ['expired', replaced.expires_at], used: [401, 401] }
  t.strictSame(await stateAt(now + 120_000), ended)
  t.strictSame(await stateAt(now + 120_000, { revoked_at: [end, replaced.expires_at] }), ended)
  t.match(await stateAt(now + 120_000, { revoked_at: null }), { expiring: undefined, rotated: undefined })
  await at(now + 180_000, async () => {
    await call('DELETE', `${PATH}${expiring.id}`)
  })
  t.match(await stateAt(now + 200_000), { expiring: ['revoked', end] }, 'revoked later, it was refused before')
})

t.test('a policy that lets API keys in everywhere does not let them manage keys', async (t) => {
  const { app, mint } = await build(t, { auth: { policy: () => 'any-key', management: { canManage: () => true } } })
  const { id, plaintext } = await mint()
  for (const [method, url] of [['GET', PATH], ['POST', PATH], ['DELETE', `${PATH}${id}`]] as const) {
    for (const [headers, body] of [[{ 'x-api-key': plaintext }, MISSING], [bearer(plaintext), REFUSED]] as const) {
      const response = await app.inject({
        method,
        url,
        headers,
        ...method === 'POST' && { payload: { name: 'another' } }
      })
      t.equal(response.statusCode, 401, method)
      t.strictSame(response.json(), body, method)
    }
  }
})

t.test('the host is told of each key that is made or revoked, by whom, and can refuse it', async (t) => {
  const told: object[] = []
  let broken = false
  const harness = await build(t, {
    auth: {
      management: {
        canManage: () => true,
        onKeyChange: ({ action, key }, { identity }, transaction) => {
          if (broken) throw new Error('the audit is away')
          told.push({ action, key, by: identity?.kind, transaction })
        }
      }
    }
  })
  const call = as(harness)
  const made = (await call('POST', PATH, { name: 'Label printer', scopes: ['read'] })).json()
  for (let times = 0; times < 2; times++) t.equal((await call('DELETE', PATH + made.id)).statusCode, 204)
  t.equal((await call('DELETE', `${PATH}00000000-0000-4000-8000-000000000000`)).statusCode, 404)
  const key = {
    id: made.id,
    ownerId: OWNER,
    name: 'Label printer',
    prefix: made.prefix,
    scopes: ['read'],
    createdAt: new Date(made.created_at),
    createdBy: 'user-1',
    lastUsedAt: null,
    lastUsedNetwork: null,
    expiresAt: null,
    revokedAt: null,
    replaces: null,
    replacedBy: null
  }
  const { revoked_at: revokedAt } = (await call('GET', PATH)).json()[0]
  t.strictSame(told, [
    { action: 'create', key, by: 'user', transaction: undefined },
    { action: 'revoke', key: { ...key, revokedAt: new Date(revokedAt) }, by: 'user', transaction: undefined }
  ])

  broken = true
  t.equal((await call('POST', PATH, { name: 'Unseen' })).json().code, 'DUAL_AUTH_STORE_UNAVAILABLE')
  t.equal((await call('GET', PATH)).json().length, 1)
})

t.test('both spellings of the path', async (t) => {
  const call = as(await build(t))
  t.equal((await call('POST', PATH.slice(0, -1), { name: 'a' })).statusCode, 201)
  t.equal((await call('GET', PATH.slice(0, -1))).json().length, 1)
  t.equal((await call('GET', PATH)).json().length, 1)
})

t.test('a listing comes in pages, and says how many there are', async (t) => {
  const harness = await build(t)
  const call = as(harness)
  for (const name of ['a', 'b', 'c']) await harness.mint(OWNER, { name })
  const made: Array<{ id: string, created_at: string }> = (await call('GET', `${PATH}?sort=id`)).json()
  // Those of one millisecond come by their ids.
  const ids = made.toReversed().sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at)).map(({ id }) => id)
  const page = async (query: string) => {
    const { headers, ...response } = await call('GET', PATH + query)
    return [headers['content-range'], response.json().map(({ id }: { id: string }) => id)]
  }
  t.strictSame(await page(''), ['api-keys 0-100/3', ids])
  t.strictSame(await page('?limit=2'), ['api-keys 0-2/3', ids.slice(0, 2)])
  t.strictSame(await page('?skip=2&limit=2'), ['api-keys 2-4/3', ids.slice(2)])
  t.strictSame(await page('?skip=5'), ['api-keys 5-105/3', []])
  t.strictSame(await page('?range=[1,2]'), ['api-keys 1-3/3', ids.slice(1)])
})

t.test('the newest active key is the first of a listing, however many were revoked', async (t) => {
  const harness = await build(t)
  const call = as(harness)
  for (let n = 0; n < 101; n++) await call('DELETE', PATH + (await harness.mint(OWNER, { name: `Revoked ${n}` })).id)
  const { id } = await harness.mint(OWNER, { name: 'In use' })
  const first = await call('GET', PATH)
  t.strictSame([first.headers['content-range'], first.json()[0].id, first.json().length], [
    'api-keys 0-100/102',
    id,
    100
  ])
  for (
    const [filter, range] of [
      ['{"revoked":false}', '0-100/1'],
      ['{"revoked":true}', '0-100/101'],
      ['{"q":"revoked 10"}', '0-100/2']
    ] as const
  ) {
    t.equal(
      (await call('GET', `${PATH}?filter=${encodeURIComponent(filter)}`)).headers['content-range'],
      `api-keys ${range}`,
      filter
    )
  }
  const counted = await harness.app.inject({
    method: 'HEAD',
    url: `${PATH}?filter=${encodeURIComponent('{"revoked":false}')}`,
    headers: bearer(harness.issuer.user())
  })
  t.strictSame([counted.statusCode, counted.headers['content-range']], [200, 'api-keys 0-100/1'], 'HEAD counts')
})

t.test('what a listing does not know is 400 and named', async (t) => {
  const call = as(await build(t))
  for (
    const [query, message] of [
      ['limit=0', 'limit must be an integer from 1 to 1000'],
      ['limit=1001', 'limit must be an integer from 1 to 1000'],
      ['limit=x', 'limit must be an integer from 1 to 1000'],
      ['skip=-1', 'skip must be an integer from 0 to 1000000000'],
      ['range=[0,24]&limit=5', 'range cannot be combined with skip or limit'],
      ['page=2', 'page is not a known parameter'],
      ['__proto__=2', '__proto__ is not a known parameter'],
      ['filter={"colour":1}', 'filter/colour is not a known field'],
      ['filter={"owner_id":"x"}', 'filter/owner_id is not a known field'],
      ['filter={"revoked":"no"}', 'filter/revoked must be true or false'],
      ['filter={"revoked":[true]}', 'filter/revoked must be true or false'],
      ['filter={"status":"lost"}', 'filter/status must be one of active, expired, revoked'],
      [
        'filter={"expires_at":"soon"}',
        'filter/expires_at must be a date and time such as 2026-01-31T12:00:00Z, or null'
      ],
      ['filter={"id":"1"}', 'filter/id must be a UUID'],
      ['filter={"a~/b":1}', 'filter/a~0~1b is not a known field'],
      [
        'sort=scopes',
        'sort must be one of id, name, prefix, created_at, created_by, last_used_at, last_used_network, ' +
        'expires_at, revoked_at, replaces, replaced_by, with a minus for descending'
      ]
    ] as const
  ) {
    const response = await call('GET', `${PATH}?${encodeURI(query)}`)
    t.strictSame(response.json(), {
      statusCode: 400,
      code: 'FST_ERR_VALIDATION',
      error: 'Bad Request',
      message: `querystring/${message}`
    }, query)
  }
})

t.test('last_used_at is null until the key is used, then the time of it', async (t) => {
  const harness = await build(t)
  const call = as(harness)
  const { plaintext } = await harness.mint()
  const before = Date.now()
  await harness.app.inject({
    url: products(OTHER_OWNER),
    headers: bearer(plaintext.replace(/.$/, (last) => last === 'x' ? 'y' : 'x'))
  })
  t.equal((await call('GET', PATH)).json()[0].last_used_at, null)
  await harness.app.inject({ url: products(), headers: bearer(plaintext) })
  const used = (await call('GET', PATH)).json()[0].last_used_at
  t.match(used, TIME)
  t.ok(Date.parse(used) >= before && Date.parse(used) <= Date.now())
})

t.test('revoking is 204, again 204, and the key is 401 from then on', async (t) => {
  const harness = await build(t)
  const call = as(harness)
  const { id, plaintext } = await harness.mint()
  t.equal((await harness.app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
  const response = await call('DELETE', `${PATH}${id}`)
  t.equal(response.statusCode, 204)
  t.equal(response.body, '')
  const revokedAt = (await call('GET', PATH)).json()[0].revoked_at
  t.match(revokedAt, TIME)
  const refused = await harness.app.inject({ url: products(), headers: bearer(plaintext) })
  t.equal(refused.statusCode, 401)
  t.strictSame(refused.json(), REFUSED)
  t.equal((await call('DELETE', `${PATH}${id}`)).statusCode, 204)
  t.equal((await call('GET', PATH)).json()[0].revoked_at, revokedAt)
})

t.test("another owner's key and no key at all are 404, and nothing happens to them", async (t) => {
  const harness = await build(t)
  const call = as(harness)
  const { id, plaintext } = await harness.mint(OTHER_OWNER)
  for (const key of [id, '00000000-0000-4000-8000-000000000000']) {
    const response = await call('DELETE', `${PATH}${key}`)
    t.equal(response.statusCode, 404)
    t.strictSame(response.json(), {
      statusCode: 404,
      code: 'DUAL_AUTH_KEY_NOT_FOUND',
      error: 'Not Found',
      message: 'There is no such API key'
    })
  }
  t.equal((await harness.app.inject({ url: products(OTHER_OWNER), headers: bearer(plaintext) })).statusCode, 200)
})

t.test('whoever the host does not let manage the owner gets 403', async (t) => {
  const harness = await build(t)
  const { app, issuer, mint } = harness
  const { id } = await mint()
  for (const [method, url] of [['POST', PATH], ['GET', PATH], ['DELETE', `${PATH}${id}`]] as const) {
    const response = await app.inject({
      method,
      url,
      headers: bearer(issuer.machine()),
      ...(method === 'POST' && { payload: { name: 'x' } })
    })
    t.equal(response.statusCode, 403)
    t.strictSame(response.json(), {
      statusCode: 403,
      code: 'DUAL_AUTH_MANAGEMENT_FORBIDDEN',
      error: 'Forbidden',
      message: 'You may not manage these API keys'
    })
  }
  t.equal((await as(harness)('GET', '/owners/unknown/api-keys/')).statusCode, 403)
  t.match((await as(harness)('GET', PATH)).json(), [{ revoked_at: null }])
})

t.test('the host is asked with the caller and the owner, and may answer in its own way', async (t) => {
  const asked: unknown[] = []
  const harness = await build(t, {
    auth: {
      management: {
        async canManage (request, ownerId) {
          asked.push([request.identity?.kind, ownerId])
          throw Object.assign(new Error('no such owner'), { statusCode: 404 })
        }
      }
    }
  })
  t.equal((await as(harness)('GET', PATH)).statusCode, 404)
  t.strictSame(asked, [['user', OWNER]])
})

t.test('a machine may manage keys if the host says so, and is noted as who made them', async (t) => {
  const created: string[] = []
  const store = memoryStore()
  const { app, issuer } = await build(t, {
    store: {
      ...store,
      insert: async (key, limit) => {
        created.push(key.createdBy)
        return store.insert(key, limit)
      }
    },
    auth: { management: { canManage: () => true } }
  })
  for (const token of [issuer.machine(), issuer.user()]) {
    t.equal(
      (await app.inject({ method: 'POST', url: PATH, headers: bearer(token), payload: { name: 'x' } })).statusCode,
      201
    )
  }
  t.strictSame(created, ['robot', 'user-1'])
})

t.test('scopes and expiry appear on keys that were made with them', async (t) => {
  const call = as(await build(t))
  const expiry = new Date(Date.now() + 60_000).toISOString()
  const response = await call('POST', PATH, {
    name: 'reader',
    scopes: ['read', 'replace_products'],
    expires_at: expiry
  })
  t.equal(response.statusCode, 201)
  t.match(response.json(), { scopes: ['read', 'replace_products'], expires_at: expiry })
  t.match((await call('GET', PATH)).json(), [{ scopes: ['read', 'replace_products'], expires_at: expiry }])
  t.match((await call('POST', PATH, { name: 'endless', expires_at: null })).json(), { expires_at: null })
  const last = await call('POST', PATH, { name: 'last', expires_at: '9999-12-31T23:59:59-23:59' })
  t.match(last.json(), { expires_at: '9999-12-31T23:59:59.999Z' }, 'no year of five digits')
  for (const leap of ['2098-12-31T23:59:60Z', '2099-01-01T01:29:60.5+01:30']) {
    const { expires_at: expiry } = (await call('POST', PATH, { name: 'leap', expires_at: leap })).json()
    t.match(expiry, /^2098-12-31T23:59:59\.[05]00Z$/, leap)
  }
})

t.test('a name is 1 to 100 printable characters; it comes back as it was', async (t) => {
  const call = as(await build(t))
  for (
    const name of [
      'a',
      'x'.repeat(100),
      '<script>alert(1)</script>',
      "O'Neill; drop table api_keys",
      '\u{1F511}',
      '½ \uff2c\uff54\uff44 ① \ufb01'
    ]
  ) {
    const response = await call('POST', PATH, { name })
    t.equal(response.statusCode, 201)
    t.equal(response.json().name, name)
  }
  t.equal((await call('POST', PATH, { name: 'a' })).statusCode, 201, 'names need not differ')
  for (
    const body of [
      {},
      { name: '' },
      { name: 'x'.repeat(101) },
      { name: 'a\0b' },
      { name: 'a\nb' },
      { name: 'half of \ud83d' },
      { name: { a: 1 } },
      { name: 'x', scopes: ['a b'] },
      { name: 'x', scopes: ['read', 'read'] },
      { name: 'x', expires_at: 'tomorrow' }
    ]
  ) {
    const response = await call('POST', PATH, body)
    t.equal(response.statusCode, 400, JSON.stringify(body))
  }
})

t.test('a scope that opens nothing is 400 and named, and no key is made', async (t) => {
  const call = as(
    await build(t, {
      routes: (app) => {
        app.register(async (child) => {
          child.get('/late', { schema: named('late_products') }, async () => '')
        }, { prefix: '/owners/:owner_id/products' })
        app.get('/reports', { schema: named('list_reports') }, async () => '')
        app.get('/status', { schema: named('get_status'), config: { auth: 'public' } }, async () => '')
      }
    })
  )
  for (
    const [scopes, unknown] of [
      [['nope'], 'nope'],
      [['read', 'nope', 'write', 'nada'], 'nope, nada'],
      [
        Array.from({ length: 5 }, (_, i) => `${i}`.padEnd(64, 'x')),
        `${Array.from({ length: 5 }, (_, i) => `${i}`.padEnd(64, 'x')).join(', ').slice(0, 199)}…`
      ],
      [['list_reports'], 'list_reports'], // for tokens only
      [['get_status'], 'get_status'], // for everybody
      [['create_api_key'], 'create_api_key'], // a route of this plugin
      [['Read'], 'Read']
    ] as const
  ) {
    const response = await call('POST', PATH, { name: 'x', scopes })
    t.equal(response.statusCode, 400, unknown)
    t.strictSame(response.json(), {
      statusCode: 400,
      code: 'DUAL_AUTH_SCOPE_UNKNOWN',
      error: 'Bad Request',
      message: `Unknown scopes: ${unknown}. Known: read, write, replace_products, late_products`
    })
  }
  t.strictSame((await call('GET', PATH)).json(), [])
  for (const scope of ['read', 'write', 'replace_products', 'late_products']) {
    t.equal((await call('POST', PATH, { name: 'x', scopes: [scope] })).statusCode, 201, scope)
  }
})

t.test('the scopes that a host gives its routes are the ones that a key can have', async (t) => {
  const call = as(
    await build(t, { auth: { scopes: (route) => route.url === '/mcp' ? null : [`products:${route.method}`] } })
  )
  t.equal((await call('POST', PATH, { name: 'x', scopes: ['products:GET', 'products:PUT'] })).statusCode, 201)
  for (const scope of ['read', 'replace_products', 'products:PATCH']) {
    t.equal((await call('POST', PATH, { name: 'x', scopes: [scope] })).statusCode, 400, scope)
  }
})

t.test('an error about input names the field to the error handler of the host', async (t) => {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  const app = Fastify()
  t.teardown(() => app.close())
  app.setErrorHandler((error: Error & { field?: string }, _request, reply) =>
    reply.code(422).send({ field: error.field })
  )
  await authenticate(app, {
    apiKeys: { marker: 'm', peppers: [PEPPER], store: memoryStore(), ownerIdFromParam: 'slug' },
    jwt: { issuer: issuer.url, userClients: ['web-app'] },
    management: { canManage: () => true }
  })
  for (
    const [body, field] of [
      [{ scopes: ['nope'] }, 'scopes'],
      [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at']
    ] as const
  ) {
    const response = await app.inject({
      method: 'POST',
      url: PATH,
      headers: bearer(issuer.user()),
      payload: { name: 'x', ...body }
    })
    t.strictSame(response.json(), { field })
  }
})

for (const order of ['before', 'after', 'before and after'] as const) {
  t.test(`an error handler that the host sets ${order} the plugin has the last word, with its headers`, async (t) => {
    const issuer = await startIssuer()
    t.teardown(() => issuer.stop())
    const app = Fastify()
    t.teardown(() => app.close())
    const called: string[] = []
    const answer = (name: string) => {
      app.setErrorHandler((error: Error & { code?: string, statusCode?: number }, _request, reply) => {
        called.push(name)
        return reply.code(error.statusCode ?? 500).send({ name, problem: error.code })
      })
    }
    if (order !== 'after') answer('before')
    await authenticate(app, {
      apiKeys: {
        marker: 'm',
        peppers: [PEPPER],
        store: {
          ...memoryStore(),
          list: async () => {
            throw new Error('down')
          }
        },
        ownerIdFromParam: 'slug'
      },
      jwt: { issuer: issuer.url, userClients: ['web-app'] },
      management: { canManage: () => true }
    })
    const [name] = order.split(' and ').slice(-1)
    if (order !== 'before') answer('after')
    for (
      const [payload, statusCode, problem] of [[undefined, 503, 'DUAL_AUTH_STORE_UNAVAILABLE'], [
        {},
        400,
        'FST_ERR_VALIDATION'
      ], [{ name: 'x', scopes: ['no'] }, 400, 'DUAL_AUTH_SCOPE_UNKNOWN']] as const
    ) {
      const response = await app.inject({
        method: payload === undefined ? 'GET' : 'POST',
        url: PATH,
        headers: bearer(issuer.user()),
        ...(payload && { payload })
      })
      t.equal(response.statusCode, statusCode)
      t.strictSame(response.json(), { name, problem })
      if (statusCode === 503) t.equal(response.headers['retry-after'], '5')
    }
    const response = await app.inject(PATH)
    t.strictSame(response.json(), { name, problem: 'DUAL_AUTH_CREDENTIAL_MISSING' })
    t.equal(response.headers['www-authenticate'], 'Bearer')
    t.strictSame([...new Set(called)], [name])
  })
}

t.test('an error handler that throws is followed by the one before it', async (t) => {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  const app = Fastify()
  t.teardown(() => app.close())
  await authenticate(app, {
    apiKeys: { marker: 'm', peppers: [PEPPER], store: memoryStore(), ownerIdFromParam: 'slug' },
    jwt: { issuer: issuer.url, userClients: ['web-app'] },
    management: { canManage: () => true }
  })
  app.setErrorHandler(async () => {
    throw Object.assign(new Error('of the handler'), { statusCode: 418 })
  })
  const response = await app.inject(PATH)
  t.strictSame(response.json(), { statusCode: 418, error: "I'm a Teapot", message: 'of the handler' })
})

t.test('an owner that the host makes no id of is 404, and nobody is asked about it', async (t) => {
  const asked: string[] = []
  const harness = await build(t, {
    apiKeys: { ownerIdFromParam: (value) => value === OWNER ? value : undefined },
    auth: {
      management: {
        canManage: (_request, ownerId) => {
          asked.push(ownerId)
          return true
        }
      }
    }
  })
  const call = as(harness)
  const { id } = await harness.mint()
  for (
    const response of [
      await call('GET', '/owners/gone/api-keys/'),
      await call('POST', '/owners/gone/api-keys/', { name: 'x' }),
      await call('DELETE', `/owners/gone/api-keys/${id}`)
    ]
  ) {
    t.equal(response.statusCode, 404)
    t.equal(response.json().code, 'DUAL_AUTH_OWNER_UNKNOWN')
  }
  t.strictSame(asked, [OWNER])
})

t.test('a store that knows the owners answers 404 for one that is not there, and that is no failure', async (t) => {
  const errors: string[] = []
  const store = {
    ...memoryStore(),
    insert: async () => {
      throw new DUAL_AUTH_OWNER_UNKNOWN()
    }
  }
  const call = as(
    await build(t, {
      store,
      server: {
        logger: {
          level: 'error',
          stream: {
            write: (line: string) => {
              errors.push(line)
            }
          }
        }
      }
    })
  )
  const response = await call('POST', PATH, { name: 'x' })
  t.equal(response.statusCode, 404)
  t.strictSame(response.json(), {
    statusCode: 404,
    code: 'DUAL_AUTH_OWNER_UNKNOWN',
    error: 'Not Found',
    message: 'The owner of the API key does not exist'
  })
  t.strictSame(errors, [])
})

t.test("misspelt fields, and those that are not the caller's to set, are 400", async (t) => {
  const call = as(await build(t))
  const unknown = {
    id: '1',
    owner_id: OTHER_OWNER,
    plaintext: 'mine',
    prefix: 'mine',
    revoked_at: '2020-01-01T00:00:00Z',
    created_by: 'root',
    expiresAt: '2040-01-01T00:00:00Z',
    scope: ['read']
  }
  for (const [name, value] of Object.entries(unknown)) {
    t.equal((await call('POST', PATH, { name: 'x', [name]: value })).statusCode, 400, name)
  }
  for (const owner of [OWNER, OTHER_OWNER]) t.strictSame((await call('GET', `/owners/${owner}/api-keys/`)).json(), [])
})

t.test('a body that is missing or broken is 400; a DELETE may say JSON and send none', async (t) => {
  const harness = await build(t)
  const { app, issuer, mint } = harness
  const headers = { ...bearer(issuer.user()), 'content-type': 'application/json' }
  for (
    const payload of [
      '',
      '{',
      '[]',
      'null',
      '{"name":"x","__proto__":{"name":"y"}}',
      '{"name":"x","constructor":{"prototype":{}}}'
    ]
  ) {
    t.equal((await app.inject({ method: 'POST', url: PATH, headers, payload })).statusCode, 400, payload)
  }
  const { id } = await mint()
  t.equal((await app.inject({ method: 'DELETE', url: `${PATH}${id}`, headers })).statusCode, 204)
})

t.test('an owner has at most so many active keys', async (t) => {
  const harness = await build(t, { apiKeys: { maxPerOwner: 2 } })
  const call = as(harness)
  const first = await harness.mint()
  await harness.mint()
  const response = await call('POST', PATH, { name: 'third' })
  t.equal(response.statusCode, 409)
  t.strictSame(response.json(), {
    statusCode: 409,
    code: 'DUAL_AUTH_KEY_LIMIT',
    error: 'Conflict',
    message: '2 API keys are active already: revoke one first'
  })
  await call('DELETE', `${PATH}${first.id}`)
  t.equal((await call('POST', PATH, { name: 'third' })).statusCode, 201)
})

t.test('the routes can be somewhere else, and are nowhere unless asked for', async (t) => {
  const moved = await build(t, {
    apiKeys: { ownerParam: 'tenant' },
    auth: { policy: () => undefined, management: { canManage: () => true, path: '/tenants/:tenant/keys' } }
  })
  t.equal((await as(moved)('GET', '/tenants/7/keys')).statusCode, 200)
  t.equal((await as(moved)('GET', PATH)).statusCode, 404)
})

t.test('what is no UUID is 400, before the store is asked; one in capitals is the same', async (t) => {
  const asked: string[] = []
  const store = memoryStore()
  const harness = await build(t, {
    store: {
      ...store,
      revoke: async (owner, id, ...rest) => {
        asked.push(id)
        return store.revoke(owner, id, ...rest)
      }
    }
  })
  const { id } = await harness.mint()
  for (const key of ['not-a-uuid', `urn:uuid:${id}`, `URN:UUID:${id}`, `{${id}}`, id.replaceAll('-', ''), `${id}%0A`]) {
    const response = await as(harness)('DELETE', PATH + key)
    t.equal(response.statusCode, 400, key)
    t.strictSame(response.json(), {
      statusCode: 400,
      code: 'FST_ERR_VALIDATION',
      error: 'Bad Request',
      message: 'params/key_id must match format "uuid"'
    })
  }
  t.strictSame(asked, [])
  t.equal((await as(harness)('DELETE', PATH + id.toUpperCase())).statusCode, 204)
  t.strictSame(asked, [id])
})

t.test('a host that reads JSON in its own way reads none of these bodies', async (t) => {
  const call = as(
    await build(t, {
      host: (app) => {
        app.removeContentTypeParser('application/json')
        app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, _body, done) => {
          done(null, { name: 'of the host' })
        })
      }
    })
  )
  const made = (await call('POST', PATH, { name: 'of the caller' })).json()
  t.equal(made.name, 'of the caller')
  t.equal((await call('DELETE', PATH + made.id)).statusCode, 204)
})

const notMine = () => {
  throw new RangeError('not my kind of schema')
}
const hosts: Record<string, Settings> = {
  'schemas of another language, at its root': {
    host: (app) => {
      app.setValidatorCompiler(notMine).setSerializerCompiler(notMine)
    }
  },
  'schemas of another language, from the start': {
    server: {
      schemaController: { compilersFactory: { buildValidator: () => notMine, buildSerializer: () => notMine } }
    }
  },
  'nothing converted and no defaults': {
    server: { ajv: { customOptions: { coerceTypes: false, useDefaults: false, removeAdditional: false } } }
  },
  'lists from single values': { server: { ajv: { customOptions: { coerceTypes: 'array' } } } },
  'everything converted, and all that is unknown removed': {
    server: { ajv: { customOptions: { coerceTypes: true, removeAdditional: 'all' } } }
  }
}

for (const [name, settings] of Object.entries(hosts)) {
  t.test(`a host that has ${name} changes nothing here`, async (t) => {
    const call = as(await build(t, settings))
    const made = await call('POST', PATH, { name: 'a', scopes: ['read'] })
    t.equal(made.statusCode, 201)
    const { plaintext, warnings, ...key } = made.json()
    t.equal(warnings.length, 1)
    t.match(plaintext, /^shop_test_/)
    for (const [query, range] of [['', '0-100/1'], ['?limit=5', '0-5/1'], ['?skip=0&limit=1', '0-1/1']] as const) {
      const page = await call('GET', PATH + query)
      t.strictSame([page.headers['content-range'], page.json()], [`api-keys ${range}`, [key]], query)
    }
    t.match((await call('GET', `${PATH}?limit=x`)).json(), {
      statusCode: 400,
      message: 'querystring/limit must be an integer from 1 to 1000'
    })
    t.match((await call('POST', PATH, { name: 5 })).json(), { statusCode: 400, message: 'body/name must be string' })
    t.equal((await call('POST', PATH, { name: 'a', expiresAt: '' })).statusCode, 400)
    t.equal((await call('DELETE', `${PATH}${key.id}`)).statusCode, 204)
  })
}

t.test('the host says in its own way what is wrong with the input, and where', async (t) => {
  const call = as(
    await build(t, {
      host: (app) => {
        app.setSchemaErrorFormatter(([error], part) =>
          Object.assign(
            new Error(`${part} ${error?.instancePath} ${error?.keyword} ${JSON.stringify(error?.params)}`),
            { statusCode: 422 }
          )
        )
      }
    })
  )
  const said = async (
    response: ReturnType<typeof call>
  ) => [(await response).statusCode, (await response).json().message]
  t.strictSame(await said(call('POST', PATH, {})), [422, 'body  required {"missingProperty":"name"}'])
  t.strictSame(await said(call('POST', PATH, { name: 'x', expiresAt: '' })), [
    422,
    'body  additionalProperties {"additionalProperty":"expiresAt"}'
  ])
  t.strictSame(await said(call('GET', `${PATH}?limit=0`)), [422, 'querystring /limit list {}'])
})

t.test('names that look the same are the same: spaces, what shows nothing, and Unicode forms', async (t) => {
  const { app, issuer, mint } = await build(t)
  const headers = bearer(issuer.user())
  const url = `/owners/${OWNER}/api-keys/`
  const create = async (name: string) => app.inject({ method: 'POST', url, headers, payload: { name } })
  for (
    const [name, stored] of [
      [' Till \u00a0', 'Till'],
      ['\ufeffTill\u200b', 'Till'],
      ['Ti\u00adll', 'Till'],
      ['\u200dTill\u200c', 'Till'],
      ['Label\u00a0printer', 'Label printer'],
      ['Cafe\u0301', 'Caf\u00e9'],
      ['\u{1F469}\u200d\u{1F4BB}', '\u{1F469}\u200d\u{1F4BB}'],
      ['\u202eTill', 'Till'],
      ['a  b', 'a  b']
    ] as const
  ) t.match((await create(name)).json(), { name: stored }, encodeURIComponent(name))
  for (
    const name of [
      ' ',
      '\u00a0\u200b',
      '\ufeff',
      '\u200d',
      '\u3000\u00ad',
      '\u2028',
      '\u3164',
      '\u2800',
      '\u115f\u1160',
      '\u180e'
    ]
  ) {
    const { statusCode, body } = await create(name)
    t.equal(statusCode, 400, encodeURIComponent(name))
    t.match(JSON.parse(body), { code: 'DUAL_AUTH_NAME_BLANK', message: 'name must have a character that can be seen' })
  }
  const names = async (filter: object) =>
    (await app.inject({ url: `${url}?filter=${encodeURIComponent(JSON.stringify(filter))}`, headers })).json().map((
      { name }: { name: string }
    ) => name)
  t.strictSame(await names({ name: 'Cafe\u0301 ' }), ['Caf\u00e9'])
  t.strictSame(await names({ q: 'AFE\u0301' }), ['Caf\u00e9'])
  t.strictSame(await names({ q: 'label\u00a0p' }), ['Label printer'])
  t.strictSame(await names({ q: '\u200b' }), [], 'what shows nothing does not find everything')
  const { id } = await mint()
  t.match((await app.inject({ method: 'POST', url: `${url}${id}/rotate`, headers, payload: {} })).json(), {
    name: 'test'
  }, 'a successor keeps the name')
})
