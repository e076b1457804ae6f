import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { isRegistered, portless, redirectKind } from '../../src/broker/clients/redirect-uri.ts'
import { sealer, type Purpose } from '../../src/broker/seal.ts'
import { createBrokerTable, knexBrokerStore, memoryBrokerStore, redisBrokerStore, type BrokerStore } from '../../src/index.ts'
import { embeddedDatabase } from '../../../dual-auth/test/databases.ts'

t.test('callback URLs', t => {
  for (const [uri, kind] of [
    ['https://agent.example.com/cb', 'https'], ['https://agent.example.com', 'https'], ['https://agent.example.com:8443/cb?x=1', 'https'], ['https://localhost/cb', 'https'],
    ['http://localhost/callback', 'loopback'], ['http://localhost', 'loopback'], ['http://127.0.0.1:33418', 'loopback'], ['http://127.0.0.1:80/', 'loopback'], ['http://[::1]:1/x', 'loopback'], ['http://127.0.0.1:33418?x=1', undefined],
    ['cursor://anysphere.cursor-mcp/oauth/callback', 'app'], ['com.example.app:/cb', 'app'], ['other://x', undefined], ['Cursor://x', undefined],
    ['http://localhost.example.com/', undefined], ['http://localhost:x/', undefined], ['http://localhost:123456/', undefined], ['http://example.com/', undefined], ['', undefined], [undefined, undefined], [1, undefined]
  ] as const) t.equal(redirectKind(uri, ['cursor']), kind, String(uri))
  for (const [uri, registered, is] of [
    ['http://127.0.0.1:9/cb', 'http://127.0.0.1/cb', true], ['http://127.0.0.1/cb', 'http://127.0.0.1:9/cb', true], ['http://127.0.0.1:9/cb', 'http://localhost:9/cb', false],
    ['http://127.0.0.1:9/', 'http://127.0.0.1:9', false], ['https://localhost:9/cb', 'https://localhost:8/cb', false], ['https://a.example.com/cb', 'https://a.example.com/cb', true]
  ] as const) t.equal(isRegistered(uri, [registered]), is, `${uri} for ${registered}`)
  t.equal(portless('http://[::1]:9/a?b'), 'http://[::1]/a?b')
  t.equal(portless('https://localhost:9/'), undefined)
  t.end()
})

t.test('sealed values', t => {
  let now = 1_000_000
  const one = { id: '1', secret: 'x'.repeat(32) }
  const two = { id: '2', secret: 'y'.repeat(32) }
  const seals = sealer([one], 'https://a.example.com', () => now)
  const sealed = seals.seal('code', { a: 'é' }, 60)
  t.match(sealed, /^1\.[\w-]+$/)
  t.strictSame(seals.open('code', sealed), { a: 'é' })
  t.not(seals.seal('code', { a: 'é' }, 60), sealed, 'never the same twice')
  for (const purpose of ['client', 'request', 'transaction', 'consent', 'refresh'] as Purpose[]) t.equal(seals.open(purpose, sealed), undefined, purpose)
  for (const [what, other] of [
    ['another issuer', sealer([one], 'https://b.example.com', () => now)], ['another secret under the id', sealer([{ ...two, id: '1' }], 'https://a.example.com', () => now)], ['an unknown id', sealer([two], 'https://a.example.com', () => now)]
  ] as const) t.equal(other.open('code', sealed), undefined, what)
  t.strictSame(sealer([two, one], 'https://a.example.com', () => now).open('code', sealed), { a: 'é' }, 'an older secret of the ring')
  const [id, encoded = ''] = sealed.split('.')
  const bytes = Buffer.from(encoded, 'base64url')
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes)
    changed[i]! ^= 1
    t.equal(seals.open('code', `${id}.${changed.toString('base64url')}`), undefined, `byte ${i}`)
  }
  for (const text of ['', '.', '1.', `${sealed}.`, `${sealed}=`, `${sealed} `, ` ${sealed}`, sealed.replace('.', '..'), `1.${encoded.slice(0, 30)}`, '__proto__.x', `1.${'A'.repeat(20_000)}`]) t.equal(seals.open('code', text), undefined, text.slice(0, 40))
  now += 59_999
  t.ok(seals.open('code', sealed))
  now += 1
  t.equal(seals.open('code', sealed), undefined, 'expired')
  const lasting = seals.seal('client', {})
  now += 1e12
  t.ok(seals.open('client', lasting), 'without a time it does not expire')
  t.end()
})

async function raises (t: Test, store: BrokerStore, prefix = ''): Promise<void> {
  const key = (name: string) => `${prefix}${name}`
  t.strictSame(await store.raise(key('a'), 1, 60), { raised: true })
  const before = Date.now()
  const again = await store.raise(key('a'), 1, 60)
  t.match(again, { raised: false, value: 1 })
  t.ok(!again.raised && Math.abs(again.since - before) < 60_000)
  t.match(await store.raise(key('a'), 0, 60), { raised: false, value: 1 })
  t.strictSame(await store.raise(key('a'), 5, 60), { raised: true })
  t.match(await store.raise(key('a'), 3, 60), { raised: false, value: 5 })
  t.strictSame(await store.raise(key('a'), 2 ** 31 - 1, 60), { raised: true })
  const answers = await Promise.all(Array.from({ length: 20 }, () => store.raise(key('b'), 1, 60)))
  t.equal(answers.filter(({ raised }) => raised).length, 1, 'one of many at the same time')
  t.strictSame(await store.raise(key('c'), 1, 1), { raised: true })
  for (let tries = 0; !(await store.raise(key('c'), 1, 1)).raised; tries++) {
    if (tries > 100) {
      t.fail('it is not forgotten')
      return
    }
    await sleep(50)
  }
}

t.test('the store of one process', async t => {
  await raises(t, memoryBrokerStore())
  let now = 0
  const store = memoryBrokerStore(() => now)
  for (let i = 0; i < 1000; i++) await store.raise(`code:${i}`, 1, 10)
  now = 60_000
  await store.raise('x', 1, 10)
  t.strictSame(await store.raise('code:1', 1, 10), { raised: true }, 'it was swept')
})

t.test('the store in a table', async t => {
  const { knex, close } = await embeddedDatabase()
  t.teardown(close)
  await createBrokerTable(knex)
  await createBrokerTable(knex, { table: 'other' })
  const store = knexBrokerStore(knex)
  await raises(t, store)
  t.strictSame(await knexBrokerStore(knex, { table: 'other' }).raise('a', 1, 60), { raised: true }, 'each table has its own')
  const { rows: [{ seconds }] } = await knex.raw("select extract(epoch from expires_at - now())::int as seconds from oauth_broker where key = 'a'")
  t.ok(seconds > 0 && seconds <= 60, 'kept as long as was said')
  await knex('oauth_broker').where({ key: 'b' }).update({ expires_at: knex.raw("now() - interval '1 second'") })
  await store.raise('d', 1, 60)
  t.equal((await knex('oauth_broker').where({ key: 'b' })).length, 1, 'not swept with every call')
  await knexBrokerStore(knex).raise('d', 1, 60)
  t.strictSame(await knex('oauth_broker').where({ key: 'b' }), [], 'swept')
})

const TEST_REDIS_URL = process.env['TEST_REDIS_URL']
t.test('the store in Redis', { skip: TEST_REDIS_URL === undefined && 'TEST_REDIS_URL is not set' }, async t => {
  const { Redis } = await import('ioredis')
  const redis = new Redis(TEST_REDIS_URL!)
  t.teardown(() => redis.disconnect())
  await raises(t, redisBrokerStore(redis, `test-${process.pid}-${Date.now()}:`))
})
