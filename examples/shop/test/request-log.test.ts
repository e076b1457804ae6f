import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import { providerError } from 'pay-reconcile'
import { failedToConnect } from '../src/database/errors.ts'
import { startRefusingPostgres } from './fake-postgres.ts'
import { databaseLog, outages } from '../src/operations/outages.ts'
import { digestOfSubject } from '../src/operations/called-by.ts'
import { RISKS } from '../src/settings/risks.ts'
import { bearer, build, createShop, openIdentityProvider, openTestDatabase, UUID } from './build.ts'
import { lastingData, start } from './process.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t, ['kim'])
const machine = bearer(await idp.machineToken())
const shop = await createShop(database, 'logged')
const foreign = await createShop(database, 'foreign')

type Line = Readonly<Record<string, any>>

/** An app that logs at the default level, and its lines about requests since the last time. */
async function logged (t: Test, settings: Readonly<Record<string, unknown>> = {}, withKey = true) {
  const lines: Line[] = []
  const stream = new Writable({
    write (chunk, _encoding, done) {
      lines.push(...String(chunk).split('\n').filter(Boolean).map((line) => JSON.parse(line)))
      done()
    }
  })
  const app = await build(t, database, idp, { settings, logger: { stream } })
  const key = !withKey
    ? {}
    : (await app.inject({
      method: 'POST',
      url: `/shops/${shop}/api-keys/`,
      headers: machine,
      payload: { name: 'logged' }
    })).json()
  lines.length = 0
  const requests = (): Line[] =>
    lines.splice(0).filter(({ msg }) => msg === 'request').map(({ time: _time, pid: _pid, hostname: _host, ...line }) =>
      line
    )
  return { app, key, requests, all: lines }
}

t.test('each request is one line that says who called what in which shop, and what came of it', async (t) => {
  const { app, key, requests, all } = await logged(t)
  const person = bearer(await idp.userToken('kim'))
  const headers = { 'x-api-key': key.plaintext, 'x-request-id': 'here.1' }
  const tool = async (name: string, args: object): Promise<unknown> =>
    await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { ...headers, accept: 'application/json, text/event-stream' },
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    })
  const byKey = {
    level: 30,
    reqId: 'here.1',
    caller: 'api-key',
    callerId: key.id,
    shopId: shop,
    ms: Number,
    msg: 'request'
  }
  await app.inject({ url: `/shops/${shop}/tags?limit=1`, headers })
  await tool('create_tag', { name: 'canary-value' })
  await tool('get_tag', { tag_id: foreign })
  await tool('get_tag', { nonsense: 1 })
  await app.inject({
    method: 'POST',
    url: `/shops/${shop}/tags`,
    headers,
    payload: { name: 'canary-value', canary: 'a\nb@example.com' }
  })
  await app.inject({ url: `/shops/${foreign}/tags`, headers })
  t.match(requests(), [
    { ...byKey, method: 'GET', route: '/shops/:shop_id/tags', status: 200 },
    { ...byKey, method: 'POST', route: '/mcp', tool: 'create_tag', toolStatus: 201, status: 200 },
    { ...byKey, method: 'POST', route: '/mcp', tool: 'get_tag', toolStatus: 404, code: 'SHOP_NOT_FOUND', status: 200 },
    { ...byKey, method: 'POST', route: '/mcp', tool: 'get_tag', toolStatus: 'refused', status: 200 },
    { ...byKey, method: 'POST', route: '/shops/:shop_id/tags', status: 422, code: 'SHOP_INVALID' },
    {
      ...byKey,
      method: 'GET',
      route: '/shops/:shop_id/tags',
      status: 403,
      code: 'DUAL_AUTH_OWNER_FORBIDDEN',
      shopId: foreign
    }
  ])

  const { id, subject } = (await app.inject({ url: '/me', headers: person })).json()
  const byPerson = { caller: 'user', callerId: id, subjectDigest: digestOfSubject(subject) }
  await app.inject({ url: `/shops/${shop}`, headers: person })
  await app.inject({ url: `/shops/${shop}/products`, headers: machine })
  await app.inject({ url: '/nowhere/canary-value?canary-value=1' })
  await app.inject({ url: '/%canary-value' })
  await app.inject({ url: '/healthz' })
  t.match(requests(), [
    { method: 'GET', route: '/me', ...byPerson, status: 200 },
    { method: 'GET', route: '/shops/:shop_id', ...byPerson, shopId: shop, status: 403, code: 'SHOP_FORBIDDEN' },
    {
      method: 'GET',
      route: '/shops/:shop_id/products',
      caller: 'machine',
      callerId: 'test-machine',
      shopId: shop,
      status: 200
    },
    { method: 'GET', route: 'none', caller: 'anybody', status: 404, code: 'SHOP_ROUTE_NOT_FOUND' },
    { status: 400, code: 'FST_ERR_BAD_URL', reqId: UUID }
  ])
  t.notMatch(JSON.stringify(all), /canary|example\.com|stack/)
})

t.test('a refusal names the key that was revoked, and the person over the limit', async (t) => {
  const { app, key, requests } = await logged(t, { RATE_LIMIT_MAX: 4 })
  const url = `/shops/${shop}/tags`
  await app.inject({ method: 'DELETE', url: `/shops/${shop}/api-keys/${key.id}`, headers: machine })
  const mcp = { method: 'POST', url: '/mcp', payload: { jsonrpc: '2.0', id: 1, method: 'ping' } } as const
  await app.inject({ ...mcp, headers: { 'x-api-key': key.plaintext } })
  await app.inject({ url, headers: { 'x-api-key': `${key.plaintext.slice(0, -1)}0` } })
  const person = bearer(await idp.userToken('kim'))
  const { subject } = (await app.inject({ url: '/me', headers: person })).json()
  for (let call = 0; call < 4; call++) await app.inject({ url: '/me', headers: person })
  const lines = requests()
  t.match(lines[1], {
    route: '/mcp',
    caller: 'api-key',
    callerId: key.id,
    shopId: shop,
    status: 401,
    code: 'DUAL_AUTH_CREDENTIAL_INVALID'
  })
  t.match(lines[2], { caller: 'anybody', shopId: shop, status: 401 })
  t.match(lines.at(-1), {
    caller: 'user',
    subjectDigest: digestOfSubject(subject),
    status: 429,
    code: 'SHOP_RATE_LIMITED'
  })
  t.notMatch(JSON.stringify(lines), subject)
})

t.test('a 429 names the key and its shop on a replica that never accepted the key', {
  skip: process.env['TEST_REDIS_URL'] === undefined && 'TEST_REDIS_URL is not set'
}, async (t) => {
  const settings = { RATE_LIMIT_MAX: 1, REDIS_URL: process.env['TEST_REDIS_URL'] }
  // Made without Redis, where the machine that makes it has the limit of whoever else tests with it.
  const { key } = await logged(t)
  const [{ app }, other] = [await logged(t, settings, false), await logged(t, settings, false)]
  const headers = { 'x-api-key': key.plaintext }
  t.equal((await app.inject({ url: `/shops/${shop}/tags`, headers })).statusCode, 200)
  t.equal((await other.app.inject({ url: `/shops/${shop}/tags`, headers })).statusCode, 429)
  t.match(other.requests(), [{
    route: '/shops/:shop_id/tags',
    status: 429,
    code: 'SHOP_RATE_LIMITED',
    caller: 'api-key',
    callerId: key.id,
    shopId: shop
  }])
})

t.test('a 429 names the key and its shop', async (t) => {
  const { app, key, requests } = await logged(t, { RATE_LIMIT_MAX: 1 })
  for (let call = 0; call < 2; call++) {
    await app.inject({ url: `/shops/${shop}/tags`, headers: { 'x-api-key': key.plaintext } })
  }
  t.match(requests()[1], {
    route: '/shops/:shop_id/tags',
    status: 429,
    code: 'SHOP_RATE_LIMITED',
    caller: 'api-key',
    callerId: key.id,
    shopId: shop
  })
})

t.test('an outage is a line a minute for each thing that is away, without stack or password', async (t) => {
  let now = 1000
  t.capture(performance, 'now', () => now)
  const shortened = outages({
    DATABASE_URL: 'postgres://shop:canary@db.example/shop',
    REDIS_URL: 'redis://:canary@cache.example:6380/1',
    IDP_ISSUER: 'https://idp.example/pool'
  })
  const refused = failedToConnect(
    Object.assign(new Error('select 1 - connect ECONNREFUSED 10.0.0.1:5432'), { code: 'ECONNREFUSED' })
  )
  const database = {
    needed: 'database',
    setting: 'DATABASE_URL',
    host: 'db.example:5432',
    reason: 'ECONNREFUSED: connect ECONNREFUSED 10.0.0.1:5432'
  }
  t.strictSame(shortened({ err: refused, work: 'history' }, 50), { work: 'history', ...database, failures: 1 })
  for (
    const err of [
      refused,
      new Error('Connection terminated unexpectedly'),
      Object.assign(new Error('x'), { code: 'DUAL_AUTH_STORE_UNAVAILABLE' }),
      Object.assign(new Error('x', { cause: refused }), { code: 'PAY_RECONCILE_STORE_FAILED' })
    ]
  ) t.equal(shortened({ err }, 40), undefined)
  t.match(shortened({ err: new AggregateError([new Error('connect ECONNREFUSED ::1')]), needed: 'redis' }, 50), {
    needed: 'redis',
    setting: 'REDIS_URL',
    host: 'cache.example:6380',
    reason: 'connect ECONNREFUSED ::1',
    failures: 1
  })
  t.match(
    shortened({
      err: new Error('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND') }),
      issuer: 'https://idp.example/pool'
    }, 40),
    { needed: 'identity_provider', host: 'idp.example:443', reason: 'getaddrinfo ENOTFOUND' }
  )
  // The plugin for sign-ins names the address.
  const url = 'https://idp.example/pool/.well-known/openid-configuration'
  t.equal(shortened({ err: new TypeError('fetch failed'), url, timeout: 5000 }, 50), undefined)
  t.strictSame(shortened({ err: providerError('unreachable') }, 50), {
    needed: 'payment_provider',
    setting: 'PAY_API_URL',
    reason: 'PAY_RECONCILE_PROVIDER_UNREACHABLE: The payment provider could not be reached',
    failures: 1
  })
  now += 60_001
  t.strictSame(shortened({ err: refused }, 50), { ...database, failures: 5 })

  for (
    const fields of [
      { err: refused, keyId: 'a key that could not be revoked' },
      { err: new Error('a bug') },
      { err: providerError('refused') },
      { err: Object.assign(new Error('x'), { code: '40001' }) },
      { err: new TypeError('fetch failed'), url: 'https://elsewhere.example/document' },
      { name: 'x' }
    ]
  ) t.equal(shortened(fields, 50), fields)
  const quiet = { err: refused }
  t.equal(shortened(quiet, 20), quiet, 'debugging is told everything')
})

t.test('a connection that the pool cannot have is logged as an error, with its reason as it is', (t) => {
  const logged: unknown[] = []
  const log = databaseLog({ error: (...line: unknown[]) => logged.push(line) } as never)
  log.warn('Acquire connection error: Error: connect ECONNREFUSED 10.0.0.1:5432')
  log.warn('Acquire connection error: Error: SASL: SCRAM-SERVER-FIRST-MESSAGE: it is odd')
  t.match(logged, [
    [{ err: { code: 'ECONNREFUSED' }, needed: 'database' }, 'No connection to the database'],
    [{ err: { code: undefined, message: 'SASL: SCRAM-SERVER-FIRST-MESSAGE: it is odd' } }]
  ])
  t.end()
})

t.test('a server that cannot start says in one line what it lacked, and by which setting', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => {
    taken.close()
  })
  const { port } = taken.address() as AddressInfo
  const settings = {
    ...idp.settings,
    ...await lastingData(t),
    PUBLIC_BASE_URL: 'http://localhost:8080',
    ALLOW_INSECURE: RISKS.join(',')
  }
  const said = await start(t, 'server', { ...settings, PORT: String(port), HOST: '127.0.0.1' }).then(
    () => '',
    ({ cause }: Error) => String(cause)
  )
  const last = JSON.parse(said.split('\n').find((line) => line.startsWith('{"level":60'))!)
  t.match(last, {
    level: 60,
    code: 'EADDRINUSE',
    setting: 'PORT',
    host: `127.0.0.1:${port}`,
    msg: /^The server cannot start: /
  })
  t.equal(last.err, undefined)
})

t.test('a server with a wrong password ends at its start, and says in one line what to mend', async (t) => {
  const DATABASE_URL = await startRefusingPostgres(t, '28P01')
  const settings = { ...idp.settings, PUBLIC_BASE_URL: 'http://localhost:8080', ALLOW_INSECURE: RISKS.join(',') }
  const said = await start(t, 'server', { ...settings, DATABASE_URL, HOST: '127.0.0.1' }).then(
    () => '',
    ({ cause }: Error) => String(cause)
  )
  const lines = said.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
  t.match(lines.at(-1), {
    level: 60,
    code: '28P01',
    setting: 'DATABASE_URL',
    host: new URL(DATABASE_URL).host,
    msg: 'The server cannot start: rejected with 28P01'
  })
  t.strictSame(lines.filter(({ err }) => err !== undefined), [])
  t.notMatch(said, 'canary')
})
