import { randomBytes } from 'node:crypto'
import { mock } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { acceptedKeys } from '../src/operations/accepted-keys.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'
import { clientLines, connect as connectAgent } from './mcp-clients.ts'

/** A Redis to test on; unset, those tests are skipped. */
const TEST_REDIS_URL = process.env['TEST_REDIS_URL']

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t, ['kim'])
const shop = await createShop(database, 'limited')
const machine = bearer(await idp.machineToken())
const tags = `/shops/${shop}/tags`

const unlimited = await build(t, database, idp)
const makeKey = async (): Promise<{ 'x-api-key': string }> => ({
  'x-api-key':
    (await client(unlimited, '', machine)('POST', `/shops/${shop}/api-keys/`, { name: 'limited' })).body.plaintext
})

const open = async (t: Test, settings: Record<string, unknown>) =>
  await build(t, database, idp, { settings: { RATE_LIMIT_WINDOW: 3_600_000, ...settings } })

t.test('a key is limited by itself, in the shape of every error, with the time to wait', async (t) => {
  const [one, other] = [await makeKey(), await makeKey()]
  const spelled = [
    one,
    { 'X-API-KEY': one['x-api-key'] },
    ...['Bearer', 'bearer', 'BEARER'].map((scheme) => ({ authorization: `${scheme} ${one['x-api-key']}` }))
  ]
  const app = await open(t, { RATE_LIMIT_MAX: spelled.length })
  for (const [index, headers] of spelled.entries()) {
    const answer = await app.inject({ url: tags, headers })
    t.equal(answer.statusCode, 200)
    t.match(answer.headers, {
      'ratelimit-limit': spelled.length,
      'ratelimit-remaining': spelled.length - 1 - index,
      'ratelimit-reset': /^3[56]\d\d$/
    }, JSON.stringify(Object.keys(headers)))
  }
  const refused = await app.inject({ url: tags, headers: one })
  t.strictSame([refused.statusCode, refused.json()], [429, {
    statusCode: 429,
    code: 'SHOP_RATE_LIMITED',
    error: 'Too Many Requests',
    message: `Too many calls with this API key; try again in ${refused.headers['retry-after']} seconds`
  }])
  t.ok(Number(refused.headers['retry-after']) > 3500)
  t.equal((await app.inject({ url: tags, headers: other })).statusCode, 200, 'another key has calls of its own')
  t.equal((await app.inject({ url: tags, headers: machine })).statusCode, 200)
})

t.test('an empty key header is none: it spends no calls of others, and the address counts', async (t) => {
  const app = await open(t, { RATE_LIMIT_MAX: 3, RATE_LIMIT_ANONYMOUS_MAX: 3 })
  const from = async (remoteAddress: string, headers: Record<string, string>) =>
    (await app.inject({ url: tags, remoteAddress, headers: { 'x-api-key': '', ...headers } })).statusCode
  t.strictSame([
    await from('192.0.2.7', {}),
    await from('192.0.2.7', {}),
    await from('192.0.2.7', {}),
    await from('192.0.2.7', {})
  ], [401, 401, 401, 429])
  for (let call = 0; call < 3; call++) {
    t.equal(await from('192.0.2.8', machine), 200, 'with a token beside it the machine counts')
  }
  t.equal(await from('192.0.2.8', machine), 429)
  t.equal(await from('192.0.2.9', bearer((await makeKey())['x-api-key'])), 200, 'and with a key as a token that key')
})

t.test('a machine and a person are limited by who they are, with whatever token', async (t) => {
  const app = await open(t, { RATE_LIMIT_MAX: 1 })
  for (const token of [() => idp.machineToken(), () => idp.userToken('kim')]) {
    t.not((await app.inject({ url: tags, headers: bearer(await token()) })).statusCode, 429)
    t.equal((await app.inject({ url: tags, headers: bearer(await token()) })).statusCode, 429)
  }
})

t.test('without a credential the address counts; probes and those who have one do not', async (t) => {
  const app = await open(t, { RATE_LIMIT_ANONYMOUS_MAX: 2, TRUST_PROXY: '1' })
  const from = (address: string, url = tags) => app.inject({ url, headers: { 'x-forwarded-for': address } })
  t.strictSame(
    [
      (await from('2001:db8::1')).statusCode,
      (await from('2001:db8::2', '/nowhere')).statusCode,
      (await from('2001:db8::3')).statusCode
    ],
    [401, 404, 429],
    'a network of one owner is one address'
  )
  t.equal((await from('2001:db8:1::1')).statusCode, 401)
  for (let i = 0; i < 5; i++) t.equal((await from('2001:db8::1', '/healthz')).statusCode, 200)
  t.equal((await app.inject({ url: tags, headers: { ...machine, 'x-forwarded-for': '2001:db8::1' } })).statusCode, 200)
})

t.test('without TRUST_PROXY nobody chooses their address', async (t) => {
  const app = await open(t, { RATE_LIMIT_ANONYMOUS_MAX: 1 })
  const statuses = []
  for (const address of ['192.0.2.1', '192.0.2.2']) {
    statuses.push((await app.inject({ url: tags, headers: { 'x-forwarded-for': address } })).statusCode)
  }
  t.strictSame(statuses, [401, 429])
})

t.test('however a proxy writes an address, it is one caller, and what is no address counts as the proxy', async (t) => {
  const app = await open(t, { RATE_LIMIT_ANONYMOUS_MAX: 1, TRUST_PROXY: '1' })
  const statusFrom = async (address: string) =>
    (await app.inject({ url: tags, headers: { 'x-forwarded-for': address } })).statusCode
  for (
    const [first, ...others] of [
      [
        '192.0.2.1',
        '192.0.2.1:4711',
        '::ffff:192.0.2.1',
        '::FFFF:c000:201',
        '[::ffff:192.0.2.1]:80',
        '0:0:0:0:0:ffff:192.0.2.1'
      ],
      ['192.0.2.2:1', '192.0.2.2:2', '192.0.2.2'],
      ['2001:db8::1', '[2001:db8::1]', '[2001:db8::2]:4711', '2001:DB8:0:0:ffff::', '2001:0db8::0003'],
      ['fe80::1%eth0', 'fe80::1%eth1', '[fe80::1%eth2]:1'],
      [
        'unknown',
        '_hidden',
        'a,b',
        '192.0.2',
        '192.0.2.1.5',
        '192.0.2.999',
        '[::1',
        ':1',
        '192.0.2.1:x',
        'x'.repeat(5000),
        '127.0.0.1'
      ]
    ] as const
  ) {
    t.equal(await statusFrom(first), 401, `${first} is a caller of its own`)
    for (const other of others) t.equal(await statusFrom(other), 429, `${other.slice(0, 50)} is not`)
  }
  t.equal(await statusFrom('192.0.2.3'), 401)
})

t.test('a trusted proxy is known by its address with a port too', async (t) => {
  const app = await open(t, { RATE_LIMIT_ANONYMOUS_MAX: 1, TRUST_PROXY: '127.0.0.1, 10.0.0.0/8' })
  const statusFrom = async (addresses: string) =>
    (await app.inject({ url: tags, headers: { 'x-forwarded-for': addresses } })).statusCode
  t.strictSame([
    await statusFrom('192.0.2.1, 10.0.0.1:4711'),
    await statusFrom('192.0.2.2, 10.0.0.1:4712'),
    await statusFrom('192.0.2.1')
  ], [401, 401, 429])
})

t.test('a forwarded address from an untrusted proxy is told once, with the setting to trust it', async (t) => {
  for (const [trust, warnings] of [['', 1], ['10.0.0.0/8', 1], ['127.0.0.1', 0]] as const) {
    const lines: Array<{ readonly level: number, readonly peer?: string, readonly msg: string }> = []
    const app = await build(t, database, idp, {
      settings: { TRUST_PROXY: trust },
      logger: {
        level: 'warn',
        stream: {
          write: (line: string) => {
            lines.push(JSON.parse(line))
          }
        }
      }
    })
    // Others are about what goes on beside it, such as a look at expiring keys that took too long.
    const told = () => lines.filter(({ msg }) => msg.includes('X-Forwarded-For'))
    await app.inject({ url: '/healthz' })
    t.strictSame(told(), [])
    for (const address of ['192.0.2.1', '192.0.2.2']) {
      await app.inject({ url: tags, headers: { 'x-forwarded-for': address } })
    }
    t.strictSame(
      told().map(({ level, peer, msg }) => [level, peer, msg.split('.')[0]]),
      Array(warnings).fill([
        40,
        '127.0.0.1',
        'X-Forwarded-For is ignored because TRUST_PROXY does not include this peer'
      ]),
      `TRUST_PROXY=${trust}`
    )
  }
})

t.test('who guesses API keys is stopped before one is looked up; keys that were good, and tokens, pass', async (t) => {
  const app = await open(t, { RATE_LIMIT_REFUSED_MAX: 3, TRUST_PROXY: '1' })
  const [{ 'x-api-key': used }, { 'x-api-key': unused }] = [await makeKey(), await makeKey()]
  let lookups = 0
  const count = ({ sql }: { sql: string }): void => {
    if (sql.includes('where api_keys.fingerprint in')) lookups += 1
  }
  database.knex.on('query', count)
  t.teardown(() => database.knex.off('query', count))
  const call = async (credential: Record<string, string>, address = '192.0.2.9') =>
    await app.inject({ url: tags, headers: { ...credential, 'x-forwarded-for': address } })
  const guess = async (key: string, address?: string) => await call({ 'x-api-key': key }, address)
  t.equal((await guess(used, '192.0.2.8')).statusCode, 200)
  for (const key of [`${used.slice(0, -6)}AAAAAA`, 'nonsense']) t.equal((await guess(key)).statusCode, 401)
  t.equal((await call(bearer('no.good.token'))).statusCode, 401)
  t.ok(lookups > 0)
  lookups = 0
  const stopped = await guess(unused)
  t.strictSame([stopped.statusCode, stopped.json().code, stopped.json().message.split(';')[0], lookups], [
    429,
    'SHOP_RATE_LIMITED',
    'Too many invalid credentials',
    0
  ])
  t.ok(Number(stopped.headers['retry-after']) > 3500)
  for (const credential of [{ 'x-api-key': used }, bearer(used), machine]) {
    t.equal((await call(credential)).statusCode, 200)
  }
  t.equal((await call(bearer('no.good.token'))).statusCode, 401, 'no token is good because of that')
  t.equal((await guess(unused, '192.0.2.10')).statusCode, 200, 'elsewhere the key works')
  t.equal((await guess(unused)).statusCode, 200, 'and now here too')
  t.equal((await app.inject({ url: '/healthz', headers: { 'x-forwarded-for': '192.0.2.9' } })).statusCode, 200)
})

t.test('a key is known for a day after it was good, and only so many are', async (t) => {
  mock.timers.enable({ apis: ['Date'] })
  t.teardown(() => {
    mock.timers.reset()
  })
  const good = acceptedKeys()
  const holder = { keyId: 'a key', shopId: 'its shop' }
  const knows = async (digest: string): Promise<boolean> => await good.find(digest) !== undefined
  const hours = (count: number): void => {
    mock.timers.tick(count * 3_600_000)
  }
  good.remember('once', holder)
  good.remember('again', holder)
  hours(20)
  good.remember('again', holder)
  hours(5)
  t.strictSame([await knows('once'), await knows('again'), await knows('never')], [false, true, false])
  for (let i = 0; i < 20_000; i++) good.remember(String(i), holder)
  t.strictSame([await knows('again'), await knows('0'), await knows('19999')], [false, true, true])
})

t.test('a call of a tool is one call, and beyond the limit the client is told 429', async (t) => {
  const app = await open(t, { RATE_LIMIT_MAX: 4 })
  const key = await makeKey()
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  const rpc = async () =>
    await fetch(`${base}/mcp`, {
      method: 'POST',
      headers: { ...key, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_tags', arguments: { shop_id: shop } }
      })
    })
  const remaining = []
  for (let i = 0; i < 4; i++) {
    const response = await rpc()
    remaining.push([response.status, response.headers.get('ratelimit-remaining')])
    await response.text()
  }
  t.strictSame(remaining, [[200, '3'], [200, '2'], [200, '1'], [200, '0']])
  const refused = await rpc()
  t.strictSame([refused.status, (await refused.json()).code], [429, 'SHOP_RATE_LIMITED'])
  t.match(refused.headers.get('retry-after'), /^\d+$/)
})

for (const line of clientLines) {
  t.test(`${line}: an agent in the middle of its work learns of the limit`, async (t) => {
    const app = await open(t, { RATE_LIMIT_MAX: 12 })
    const base = await app.listen({ host: '127.0.0.1', port: 0 })
    const agent = await connectAgent(t, line, `${base}/mcp`, await makeKey())
    let done = 0
    await t.rejects(async () => {
      for (; done < 20; done++) await agent.callTool({ name: 'list_tags', arguments: { shop_id: shop } })
    }, /429|Too many calls with this API key; try again in \d+ seconds/)
    t.ok(done > 5 && done < 13, `${done} calls were made`)
  })
}

t.test('servers with one Redis count together, and none of it holds a key', {
  skip: TEST_REDIS_URL === undefined && 'TEST_REDIS_URL is not set'
}, async (t) => {
  const apps = [
    await open(t, { RATE_LIMIT_MAX: 3, REDIS_URL: TEST_REDIS_URL }),
    await open(t, { RATE_LIMIT_MAX: 3, REDIS_URL: TEST_REDIS_URL })
  ]
  const key = await makeKey()
  // The connection is made in the background: until it is there, each counts alone.
  for (const app of apps) await redisIs(app, 'ok')
  const probe = new Redis(TEST_REDIS_URL!)
  t.teardown(() => probe.disconnect())
  const limitedBy = async (app: (typeof apps)[number], headers: object) =>
    (await app.inject({ url: tags, headers: { ...headers } })).headers['ratelimit-remaining']
  t.strictSame([await limitedBy(apps[0]!, key), await limitedBy(apps[1]!, key), await limitedBy(apps[0]!, key)], [
    '2',
    '1',
    '0'
  ])
  t.equal((await apps[1]!.inject({ url: tags, headers: key })).statusCode, 429)
  const names = await probe.keys('shop:limit:*')
  t.ok(
    names.length > 0 && names.every((name) => !name.includes(key['x-api-key']) && !name.includes(machine.authorization))
  )
})

/** Waits until `/readyz` says this of Redis. */
async function redisIs (app: FastifyInstance, state: string): Promise<void> {
  while ((await app.inject('/readyz')).json().checks.redis !== state) await sleep(50)
}

t.test('a key that was good on one server passes the lockout on another with the same Redis', {
  skip: TEST_REDIS_URL === undefined && 'TEST_REDIS_URL is not set'
}, async (t) => {
  const settings = { RATE_LIMIT_REFUSED_MAX: 1, REDIS_URL: TEST_REDIS_URL, TRUST_PROXY: '1' }
  const [one, other] = [await open(t, settings), await open(t, settings)]
  for (const app of [one, other]) await redisIs(app, 'ok')
  const [used, unused] = [await makeKey(), await makeKey()]
  // The store outlives the test.
  const address = `2001:db8:${randomBytes(4).toString('hex').replace(/.{4}/g, '$&:')}:1`
  const statusOf = async (app: FastifyInstance, headers: object) =>
    (await app.inject({ url: tags, headers: { ...headers, 'x-forwarded-for': address } })).statusCode
  t.equal(await statusOf(one, used), 200)
  await statusOf(one, { 'x-api-key': 'nonsense' })
  t.strictSame([await statusOf(other, unused), await statusOf(other, used)], [429, 200])
})
