import { createServer, type AddressInfo, type Socket } from 'node:net'
import t from 'tap'
import Fastify from 'fastify'
import { pglite } from './database.ts'
import { build, host } from './world.ts'
import type { Fault } from '../src/testing/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { withExactIntegers } from '../src/provider/stripe/request.ts'

const canaryKey = 'sk_test_CANARYkeyCANARYkeyCANARY'
const canaryHeaders = {
  'set-cookie': 'up=CANARY',
  'www-authenticate': 'Basic realm="CANARY"',
  'access-control-allow-origin': 'https://CANARY.example',
  'strict-transport-security': 'max-age=1; CANARY',
  'stripe-notice': 'CANARY notice',
  'x-upstream': 'CANARY'
}
const canaryError = { error: { type: 'api_error', message: `CANARY at key ${canaryKey}` } }
/** For a provider that answers: a busy machine must not make it late. */
const patient = { callTimeout: 20_000, attemptTimeout: 10_000, breakAfter: 1000 }
/** For one that does not. */
const quick = { ...patient, attemptTimeout: 500 }

const PROVIDER = 'PAY_RECONCILE_PROVIDER_'

interface Row {
  readonly title: string
  readonly fault: Fault
  readonly code: string
  readonly message: string
  readonly attempts: number
}

const answer = (status: number, headers = {}, body: unknown = canaryError): Fault => ({
  kind: 'answer',
  status,
  body,
  headers: { ...canaryHeaders, ...headers }
})

const messages = {
  TIMEOUT: 'The payment provider did not respond in time',
  UNREACHABLE: 'The payment provider could not be reached',
  ERROR: 'The payment provider responded with an error',
  RATE_LIMITED: 'The payment provider limits the rate of requests',
  KEY_REJECTED: 'The payment provider rejected the secret key of the shop',
  KEY_FORBIDDEN: 'The secret key of the shop may not do this at the payment provider',
  CUSTOMER_NOT_FOUND: 'The payment provider has no such customer',
  REFUSED: 'The payment provider refused the request',
  UNEXPECTED_OBJECT: 'The payment provider returned something other than what was requested'
} as const

const row = (title: string, fault: Fault, code: keyof typeof messages, attempts: number): Row => ({
  title,
  fault,
  code: PROVIDER + code,
  message: messages[code],
  attempts
})

const table: readonly Row[] = [
  row('no answer', { kind: 'hang' }, 'TIMEOUT', 2),
  row('a body that drips byte by byte', { kind: 'drip', delay: 20, headers: canaryHeaders }, 'TIMEOUT', 2),
  row('an answer that comes too late', { kind: 'slow', delay: 700 }, 'TIMEOUT', 2),
  row('a connection that is reset', { kind: 'reset' }, 'UNREACHABLE', 2),
  row('a body that is cut off', { kind: 'truncate', headers: canaryHeaders }, 'ERROR', 2),
  row('a page of a proxy', { kind: 'html', headers: canaryHeaders }, 'ERROR', 2),
  row('500', answer(500), 'ERROR', 2),
  row('503', answer(503), 'ERROR', 2),
  row('503 that is not to be repeated', answer(503, { 'stripe-should-retry': 'false' }), 'ERROR', 1),
  row(
    '429 that is not to be repeated',
    answer(429, { 'retry-after': '0', 'stripe-should-retry': 'false' }),
    'RATE_LIMITED',
    1
  ),
  row('200 with a string', { kind: 'answer', status: 200, body: 'CANARY', headers: canaryHeaders }, 'ERROR', 2),
  row('200 with a list', answer(200, {}, ['CANARY']), 'ERROR', 2),
  row('502 in the JSON of a proxy', answer(502, {}, { message: 'CANARY' }), 'ERROR', 2),
  row('401 in the JSON of a proxy', answer(401, {}, { message: 'CANARY' }), 'KEY_REJECTED', 1),
  row('a redirect', answer(302, { location: 'https://CANARY.example/' }, 'CANARY'), 'ERROR', 2),
  row('429 without Retry-After', answer(429), 'RATE_LIMITED', 2),
  row('429 with a short Retry-After', answer(429, { 'retry-after': '0' }), 'RATE_LIMITED', 2),
  row('429 with a Retry-After past the deadline', answer(429, { 'retry-after': '60' }), 'RATE_LIMITED', 1),
  row('401', answer(401), 'KEY_REJECTED', 1),
  row('403', answer(403), 'KEY_FORBIDDEN', 1),
  row(
    '404',
    answer(404, {}, { error: { type: 'invalid_request_error', code: 'resource_missing', message: 'CANARY' } }),
    'CUSTOMER_NOT_FOUND',
    1
  ),
  row('400', answer(400), 'REFUSED', 1),
  row('402', answer(402), 'REFUSED', 1),
  row(
    'another customer than asked for',
    answer(200, {}, { id: 'cus_CANARY', object: 'customer' }),
    'UNEXPECTED_OBJECT',
    1
  ),
  row(
    'an object that is no customer',
    answer(200, {}, { id: 'cus_1', object: 'list', data: ['CANARY'] }),
    'UNEXPECTED_OBJECT',
    1
  )
]

t.test('every fault of the provider is a 502 that shows nothing of it', async (t) => {
  const knex = await pglite.connect(t)
  const world = await build(t, knex, patient)
  const { addShop, addAccount, standIn, audit } = world
  const impatient = await host(t, knex, standIn, quick)
  const logs = (): string => world.logs() + impatient.logs()
  standIn.addAccount(canaryKey, { customers: [{ id: 'cus_1', name: 'Ada' }] })
  const accountId = await addAccount(await addShop({ key: canaryKey }), { pay_customer_id: 'cus_1' })
  // The first call loads the provider's library: an attempt could end before it is sent.
  t.equal((await impatient.call('GET', `/admin/accounts/${accountId}/pay-customer`)).statusCode, 200)

  for (const { title, fault, code, message, attempts } of table) {
    const { call } = message === messages.TIMEOUT ? impatient : world
    for (const [method, route] of [['GET', 'pay-customer'], ['POST', 'sync-pay']] as const) {
      const before = standIn.requests.length
      const end = standIn.fault(fault)
      const response = await call(method, `/admin/accounts/${accountId}/${route}`)
      end()
      const { provider_request_id: requestId, ...body } = response.json()
      t.equal(response.statusCode, 502, `${route}: ${title} gets 502`)
      t.strictSame(body, { statusCode: 502, code, error: 'Bad Gateway', message }, `${route}: ${title} is ${code}`)
      t.ok(
        requestId === undefined || /^req_[0-9a-f]{24}$/.test(requestId),
        `${route}: ${title} shows no other request id`
      )
      t.strictSame(
        Object.keys(response.headers).sort(),
        ['connection', 'content-length', 'content-type', 'date'],
        `${route}: ${title} passes no header on`
      )
      t.notMatch(response.body, 'CANARY', `${route}: ${title} leaks nothing`)
      t.equal(standIn.requests.length - before, attempts, `${route}: ${title} is tried ${attempts} times`)
    }
  }
  t.strictSame(await audit(accountId), [], 'nothing was stored')
  t.notMatch(logs(), 'CANARY', 'the logs show nothing of the provider or the key')
  t.match(logs(), 'PAY_RECONCILE_PROVIDER_KEY_REJECTED', 'but they say what happened')
})

t.test('a fault that passes is not seen', async (t) => {
  const knex = await pglite.connect(t)
  const { call, addShop, addAccount, standIn } = await build(t, knex, { ...patient, attemptTimeout: 2_000 })
  standIn.addAccount(canaryKey, { customers: [{ id: 'cus_1' }] })
  const accountId = await addAccount(await addShop({ key: canaryKey }), { pay_customer_id: 'cus_1' })
  for (
    const fault of [answer(500), answer(429, { 'retry-after': '0.3' }), { kind: 'reset' }, { kind: 'hang' }] as const
  ) {
    standIn.fault({ ...fault, times: 1 })
    const response = await call('GET', `/admin/accounts/${accountId}/pay-customer`)
    t.equal(response.statusCode, 200, `${fault.kind} once`)
  }
})

t.test('wrong and restricted keys of the stand-in itself', async (t) => {
  const knex = await pglite.connect(t)
  const { call, addShop, addAccount, standIn } = await build(t, knex, patient)
  standIn.addAccount('rk_test_restricted', { customers: [{ id: 'cus_1' }], permissions: ['payments:read'] })
  for (
    const [key, code] of [
      ['sk_test_unknown', 'PAY_RECONCILE_PROVIDER_KEY_REJECTED'],
      ['sk_live_anything', 'PAY_RECONCILE_PROVIDER_KEY_REJECTED'],
      ['rk_test_restricted', 'PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN']
    ] as const
  ) {
    const accountId = await addAccount(await addShop({ key }), { pay_customer_id: 'cus_1' })
    const response = await call('GET', `/admin/accounts/${accountId}/pay-customer`)
    t.equal(response.json().code, code, key)
    t.equal(response.statusCode, 502)
  }
})

t.test('an id that no customer could have is never sent', async (t) => {
  const knex = await pglite.connect(t)
  const { call, addShop, addAccount, standIn } = await build(t, knex, patient)
  const shopId = await addShop()
  for (const id of ['..', '../charges', 'a b', 'x'.repeat(256), 'search?query=1']) {
    const response = await call(
      'GET',
      `/admin/accounts/${await addAccount(shopId, { pay_customer_id: id })}/pay-customer`
    )
    t.equal(response.json().code, 'PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND', id)
  }
  t.strictSame(standIn.requests, [])
})

t.test('each shop is read with its own key, and nothing of one goes along with another', async (t) => {
  const knex = await pglite.connect(t)
  const { call, addShop, addAccount, standIn } = await build(t, knex, patient)
  const keys = ['sk_test_one', 'sk_test_two', 'sk_test_three']
  for (const key of keys) standIn.addAccount(key, { customers: [{ id: 'cus_same', name: `customer of ${key}` }] })
  const accounts = await Promise.all(
    keys.map(async (key) => addAccount(await addShop({ key }), { pay_customer_id: 'cus_same' }))
  )
  const answers = await Promise.all(
    accounts.flatMap((id) => [0, 1, 2].map(() => call('GET', `/admin/accounts/${id}/pay-customer`)))
  )
  t.strictSame(
    answers.map((response) => response.json().pay_customer.name),
    keys.flatMap((key) => [0, 1, 2].map(() => `customer of ${key}`))
  )
  t.strictSame(standIn.requests.map(({ headers }) => headers['x-stripe-client-telemetry']).filter(Boolean), [])
})

t.test('a provider nobody listens at is unreachable', async (t) => {
  const knex = await pglite.connect(t)
  const closed = Fastify()
  await closed.listen({ port: 0, host: '127.0.0.1' })
  const port = Number(new URL(closed.listeningOrigin).port)
  await closed.close()
  const first = await build(t, knex, patient)
  const { call, addShop, addAccount } = await host(t, knex, first.standIn, {
    ...patient,
    provider: stripeProvider({ host: '127.0.0.1', port, protocol: 'http' })
  })
  const accountId = await addAccount(await addShop(), { pay_customer_id: 'cus_1' })
  const response = await call('GET', `/admin/accounts/${accountId}/pay-customer`)
  t.equal(response.statusCode, 502)
  t.equal(response.json().code, 'PAY_RECONCILE_PROVIDER_UNREACHABLE')
})

t.test('a provider that switches protocols, stays silent or ignores an end holds nobody up', async (t) => {
  const knex = await pglite.connect(t)
  const sockets = new Set<Socket>()
  let answer = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n'
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.once('data', () => {
      socket.write(answer)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const limits = { attempts: 1, callTimeout: 600, attemptTimeout: 300 }
  const provider = stripeProvider({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, protocol: 'http' })
  const first = await build(t, knex, limits)
  const { addShop, addAccount } = first
  const accountId = await addAccount(await addShop(), { pay_customer_id: 'cus_1' })
  const deaf = { ...provider, retrieveCustomer: () => new Promise<never>(() => {}) }
  for (
    const [title, of, sent, code] of [
      ['101', provider, answer, /^PAY_RECONCILE_PROVIDER_(TIMEOUT|UNREACHABLE)$/],
      ['silence', provider, '', /^PAY_RECONCILE_PROVIDER_TIMEOUT$/],
      [
        'a body that never comes',
        provider,
        'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{',
        /^PAY_RECONCILE_PROVIDER_TIMEOUT$/
      ],
      ['deaf', deaf, '', /^PAY_RECONCILE_PROVIDER_TIMEOUT$/]
    ] as const
  ) {
    answer = sent
    const { call } = await host(t, knex, first.standIn, { ...limits, provider: of })
    const response = await call('GET', `/admin/accounts/${accountId}/pay-customer`)
    t.match([response.statusCode, response.json()], [502, { code }], title)
  }
})

t.test('after repeated faults nothing is sent under that key for a while', async (t) => {
  const knex = await pglite.connect(t)
  const { call, addShop, addAccount, standIn } = await build(t, knex, {
    ...patient,
    attempts: 1,
    breakAfter: 3,
    breakDuration: 60_000
  })
  standIn.addAccount('sk_test_bad')
  standIn.addAccount('sk_test_good', { customers: [{ id: 'cus_1' }] })
  const bad = await addAccount(await addShop({ key: 'sk_test_bad' }), { pay_customer_id: 'cus_1' })
  const good = await addAccount(await addShop({ key: 'sk_test_good' }), { pay_customer_id: 'cus_1' })
  standIn.fault({ ...answer(500), secretKey: 'sk_test_bad' })
  const codes: string[] = []
  for (let i = 0; i < 5; i++) codes.push((await call('GET', `/admin/accounts/${bad}/pay-customer`)).json().code)
  t.strictSame(codes, [
    ...Array(3).fill('PAY_RECONCILE_PROVIDER_ERROR'),
    ...Array(2).fill('PAY_RECONCILE_PROVIDER_UNAVAILABLE')
  ])
  t.equal(standIn.requests.length, 3)
  t.equal((await call('GET', `/admin/accounts/${good}/pay-customer`)).statusCode, 200, 'other keys are not affected')
})

t.test('a client that goes away ends the request to the provider', async (t) => {
  const knex = await pglite.connect(t)
  const { app, addShop, addAccount, standIn } = await build(t, knex, { callTimeout: 60_000, attemptTimeout: 60_000 })
  standIn.addAccount(canaryKey, { customers: [{ id: 'cus_1' }] })
  const accountId = await addAccount(await addShop({ key: canaryKey }), { pay_customer_id: 'cus_1' })
  standIn.fault({ kind: 'hang' })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const leaving = new AbortController()
  const response = fetch(`${url}/admin/accounts/${accountId}/sync-pay`, {
    method: 'POST',
    headers: { authorization: 'Bearer superuser' },
    signal: leaving.signal
  })
  while (standIn.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  leaving.abort()
  await t.rejects(response)
  // Without the abort this close would wait a minute for the request in flight, and the test would fail.
  await app.close()
  t.equal(standIn.requests.length, 1, 'it was not tried again')
})

t.test('an integer that JavaScript would round is stored as it came', (t) => {
  for (
    const [json, exact] of [
      ['{"a":9007199254740993,"b":[-9007199254740993,1]}', '{"a":"9007199254740993","b":["-9007199254740993",1]}'],
      [
        '{"s":"9007199254740993 \\" 9007199254740993","n":9007199254740991}',
        '{"s":"9007199254740993 \\" 9007199254740993","n":9007199254740991}'
      ],
      ['{"f":1234567890.12345678901234567,"e":1e30}', '{"f":1234567890.12345678901234567,"e":1e30}'],
      [
        '{"9007199254740993":true,"\\\\":12345678901234567890}',
        '{"9007199254740993":true,"\\\\":"12345678901234567890"}'
      ]
    ] as const
  ) {
    t.equal(withExactIntegers(json), exact)
    t.doesNotThrow(() => JSON.parse(exact))
  }
  t.end()
})
