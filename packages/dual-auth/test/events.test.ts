import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import Fastify from 'fastify'
import { DUAL_AUTH_KEY_REPLACED, DUAL_AUTH_STORE_UNAVAILABLE, memoryStore, type ApiKeyRecord, type ApiKeyStore, type KeyEvent } from '../src/index.ts'
import { createStoreCall } from '../src/keys/call-store.ts'
import { createEvents } from '../src/keys/events.ts'
import { mintKey } from '../src/keys/format.ts'
import { createNotices } from '../src/keys/notices.ts'
import { createRefusals } from '../src/keys/refusals.ts'
import { createWatch } from '../src/keys/watch.ts'
import { at, bearer, build, OTHER_SHOP, products, SHOP, type Harness } from './build.ts'
import { newKey, recordOf } from './sample-key.ts'

const PATH = `/shops/${SHOP}/api-keys/`
const HERE = '127.0.0.0/24'

/** A server whose host is told of events; closing it waits for all of them. */
async function watched (t: Test, settings: Parameters<typeof build>[1] = {}) {
  const events: KeyEvent[] = []
  const harness = await build(t, { ...settings, auth: { onKeyEvent: event => { events.push(event) }, ...settings.auth } })
  const manage = async (method: 'POST' | 'DELETE', url: string, payload?: object) =>
    (await harness.app.inject({ method, url, headers: bearer(harness.issuer.user()), ...(payload && { payload }) }))
  const call = async (key: string, url = products(), method: 'GET' | 'POST' = 'GET', remoteAddress = '127.0.0.1') =>
    (await harness.app.inject({ method, url, headers: bearer(key), remoteAddress })).statusCode
  return { ...harness, events, manage, call }
}

const shown = (event: KeyEvent) => ({ ...event, key: event.key?.id, ...('replaced' in event && { replaced: event.replaced.id }) })

t.test('the host is told of the life of a key, in order', async t => {
  const { app, issuer, events, manage, call, mint } = await watched(t)
  const { id, plaintext } = await mint()
  t.equal(await call(plaintext), 200)
  t.equal(await call(plaintext), 200)
  const next = (await manage('POST', `${PATH}${id}/rotate`, { grace: 0 })).json()
  t.equal(await call(plaintext), 401)
  t.equal(await call(next.plaintext), 200)
  // Writes the uses: those of a revoked key are not.
  await app.inject({ url: PATH, headers: bearer(issuer.user()) })
  for (let times = 0; times < 2; times++) await manage('DELETE', PATH + next.id)
  await app.close()
  // Uses are written behind the calls, so their events may come later than others.
  const uses = events.filter(({ type }) => type === 'first_used')
  t.strictSame(uses.map(shown), [{ type: 'first_used', key: id }, { type: 'first_used', key: next.id }])
  t.match(uses[0]?.key, { shopId: SHOP, name: 'test', lastUsedNetwork: HERE })
  t.strictSame(events.filter(({ type }) => type !== 'first_used').map(shown), [
    { type: 'created', key: id, by: 'user-1' },
    { type: 'rotated', key: next.id, replaced: id, by: 'user-1' },
    { type: 'refused', reason: 'revoked', key: id, network: HERE, count: 1 },
    { type: 'revoked', key: next.id, by: 'user-1' }
  ])
  for (const { key } of events) t.notMatch(JSON.stringify(key), plaintext.split('_')[3])
})

t.test('the host is told why a key was refused, at once the first time, and how often at the end', async t => {
  const store = memoryStore()
  const { app, events, manage, call, mint } = await watched(t, { store })
  const scoped = await mint(SHOP, { name: 'x', scopes: ['read'] })
  const revoked = await mint()
  await manage('DELETE', PATH + revoked.id)
  const expiring = await mint(SHOP, { name: 'x', expires_at: new Date(Date.now() + 3_600_000).toISOString() })
  events.length = 0
  for (let times = 0; times < 3; times++) {
    t.equal(await call(mintKey('shop_test').plaintext, products(), 'GET', `203.0.113.${times}`), 401)
    t.equal(await call(revoked.plaintext), 401)
    t.equal(await at(Date.now() + 3_600_001, () => call(expiring.plaintext)), 401)
    t.equal(await call(scoped.plaintext, products(OTHER_SHOP)), 403)
    t.equal(await call(scoped.plaintext, products(), 'POST'), 403)
  }
  t.equal(await call('shop_test_malformed'), 401, 'what is no key of this server')
  t.equal(await call(scoped.plaintext, '/orders'), 401, 'and what is not looked up')
  const refusals = (count: number) => [
    { type: 'refused', reason: 'unknown', key: null, network: '203.0.113.0/24', count },
    { type: 'refused', reason: 'revoked', key: { id: revoked.id, shopId: SHOP }, network: HERE, count },
    { type: 'refused', reason: 'expired', key: { id: expiring.id, shopId: SHOP }, network: HERE, count },
    { type: 'refused', reason: 'wrong_shop', key: { id: scoped.id, shopId: SHOP }, network: HERE, count },
    { type: 'refused', reason: 'scope', key: { id: scoped.id, shopId: SHOP }, network: HERE, count }
  ]
  await setImmediate()
  const told = () => events.filter(({ type }) => type === 'refused')
  t.strictSame(told(), refusals(1))
  await app.close()
  t.strictSame(told(), [...refusals(1), ...refusals(2)])
})

t.test('a flood of refusals is one event at once and one for each interval', t => {
  const events: KeyEvent[] = []
  const { report, flush } = createRefusals(event => events.push(event))
  const key = { id: 'a', shopId: 's', hash: 'secret' }
  for (let n = 0; n < 100_000; n++) report('unknown', null, `203.0.${n % 256}.7`)
  report('revoked', key, undefined)
  t.strictSame(events.splice(0), [
    { type: 'refused', reason: 'unknown', key: null, network: '203.0.0.0/24', count: 1 },
    { type: 'refused', reason: 'revoked', key: { id: 'a', shopId: 's' }, network: null, count: 1 }
  ], 'and nothing of the row but who it is')
  flush()
  t.strictSame(events.splice(0), [{ type: 'refused', reason: 'unknown', key: null, network: '203.0.159.0/24', count: 99_999 }])
  report('unknown', null, undefined)
  report('revoked', key, undefined)
  t.match(events.splice(0), [{ reason: 'revoked', count: 1 }], 'the quiet one is told at once again')
  flush()
  t.match(events.splice(0), [{ reason: 'unknown', network: null, count: 1 }])
  flush()
  flush()
  t.strictSame(events, [])
  t.end()
})

t.test('a use from a new network is told, and one from a known network is not', async t => {
  const { app, issuer, events, call, mint } = await watched(t)
  const { id, plaintext } = await mint()
  for (const address of ['203.0.113.7', '198.51.100.1', '203.0.113.9', '2001:db8:1::1', '198.51.100.9']) {
    t.equal(await call(plaintext, products(), 'GET', address), 200)
    // Uses of one moment are written together, and a first use is told alone.
    await app.inject({ url: PATH, headers: bearer(issuer.user()) })
  }
  await app.close()
  t.strictSame(events.filter(({ type }) => type === 'new_network').map(shown), [
    { type: 'new_network', key: id, network: '198.51.100.0/24' }, { type: 'new_network', key: id, network: '2001:db8:1::/48' }
  ])
})

for (const [what, onKeyEvent] of [
  ['throws', () => { throw new Error('the host is broken') }],
  ['rejects', async () => { throw new Error('the host is broken') }]
] as const) {
  t.test(`a host that ${what} on an event changes nothing but the log`, async t => {
    const lines: string[] = []
    const { app, call, mint } = await watched(t, { auth: { onKeyEvent }, server: { logger: { level: 'error', stream: { write: (line: string) => { lines.push(line) } } } } })
    const { id, plaintext } = await mint()
    t.equal(await call(plaintext), 200)
    t.equal(await call(mintKey('shop_test').plaintext), 401)
    await app.close()
    t.strictSame(lines.map(line => JSON.parse(line)).map(({ msg, event, keyId, err }) => [msg, event, keyId, err.message]).toSorted(),
      [['created', id], ['first_used', id], ['refused', undefined]].map(([event, keyId]) => ['onKeyEvent failed', event, keyId, 'the host is broken']))
  })
}

t.test('a host that never finishes delays no call, and the end only for as long as the store', async t => {
  const { app, call, mint } = await watched(t, { auth: { onKeyEvent: () => new Promise(() => {}) }, apiKeys: { storeTimeout: 100 } })
  const { plaintext } = await mint()
  for (let times = 0; times < 3; times++) t.equal(await call(plaintext), 200)
  await app.close()
})

t.test('an event is told after the work that it is about, and awaited at the end', async t => {
  const order: string[] = []
  let finish = () => {}
  const { emit, settled } = createEvents(async ({ type }) => {
    order.push(type)
    await new Promise<void>(resolve => { finish = resolve })
    order.push('finished')
  }, Fastify().log)
  emit({ type: 'first_used', key: recordOf(newKey()) })
  order.push('the work goes on')
  await setImmediate()
  const end = settled(60_000).then(() => order.push('settled'))
  await setImmediate()
  finish()
  await end
  t.strictSame(order, ['the work goes on', 'first_used', 'finished', 'settled'])
})

t.test('keys that expire soon or are not used are told at startup, once for all replicas', async t => {
  const store = memoryStore()
  const day = 86_400_000
  const keys = [newKey({ createdAt: new Date(Date.now() - 100 * day), expiresAt: new Date(Date.now() + 6 * day) }), newKey()]
  for (const key of keys) await store.insert(key, 10)
  const replicas = [await watched(t, { store }), await watched(t, { store })]
  for (const { app } of replicas) await app.close()
  t.strictSame(replicas.flatMap(({ events }) => events).map(shown).toSorted((a, b) => a.type < b.type ? -1 : 1), [
    { type: 'expiring', key: keys[0]!.id, days: 7 }, { type: 'unused', key: keys[0]!.id, days: 90 }
  ])
})

const { log } = Fastify()
const key = { id: 'a' } as ApiKeyRecord

/** Waits for what timers do, without waiting for a time. */
async function until (condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 1))
}

t.test('keys are looked through again and again, after a failure too, until the server stops', async t => {
  const events: KeyEvent[] = []
  let looks = 0
  const store: ApiKeyStore = {
    ...memoryStore(),
    takeNotices: async (_at, limit) => {
      t.equal(limit, 100)
      if (++looks === 2) throw new Error('down')
      return looks === 3 ? [{ key, type: 'unused', days: 90 }] : []
    }
  }
  const notices = createNotices(store, createStoreCall(60_000, log), event => events.push(event), 1)
  notices.start()
  await until(() => looks > 4)
  await notices.stop()
  const last = looks
  t.strictSame(events, [{ key, type: 'unused', days: 90 }])
  await new Promise(resolve => setTimeout(resolve, 20))
  t.equal(looks, last)
})

t.test('the end waits for a look that is under way, which starts no other', async t => {
  const events: KeyEvent[] = []
  let answer = () => {}
  const store: ApiKeyStore = { ...memoryStore(), takeNotices: () => new Promise(resolve => { answer = () => resolve([{ key, type: 'unused', days: 90 }]) }) }
  const notices = createNotices(store, createStoreCall(60_000, log), event => events.push(event), 1)
  notices.start()
  const end = notices.stop()
  answer()
  await end
  t.equal(events.length, 1)
})

t.test('further refusals are told every 15 minutes, and keys looked through every hour, until the server stops', async t => {
  const { setInterval, setTimeout, clearInterval } = globalThis
  t.teardown(() => Object.assign(globalThis, { setInterval, setTimeout, clearInterval }))
  let tick = () => {}
  let timer: unknown
  const waits: unknown[] = []
  const cleared: unknown[] = []
  Object.assign(globalThis, {
    setInterval (work: () => void, wait: number) {
      waits.push(wait)
      tick = work
      return (timer = setInterval(work, wait))
    },
    setTimeout: Object.assign((...args: Parameters<typeof setTimeout>) => {
      if (args[1] === 3_600_000) waits.push(args[1])
      return setTimeout(...args)
    }, setTimeout),
    clearInterval (timer: NodeJS.Timeout) { cleared.push(timer); clearInterval(timer) }
  })
  const told: unknown[] = []
  const watch = createWatch(event => { told.push(event.type === 'refused' && event.count) }, memoryStore(), createStoreCall(1000, log), 1000, log)
  watch.start()
  while (waits.length < 2) await setImmediate()
  t.strictSame(waits, [900_000, 3_600_000])
  for (let times = 0; times < 3; times++) watch.report('unknown', null, undefined)
  tick()
  await setImmediate()
  await setImmediate()
  t.strictSame(told, [1, 2])
  await watch.stop()
  t.strictSame([cleared, told], [[timer], [1, 2]])
})

t.test('neither what is done nor a server that only waits keeps the process running', async t => {
  const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = timers()
  await createStoreCall(60_000, log)(async () => '')
  t.equal(timers(), before, 'a call of the store')
  await createEvents(() => {}, log).settled(60_000)
  t.equal(timers(), before, 'the end of a server')
  const { app } = await watched(t)
  // Its first look for notices sets the timer of the next.
  while (process.getActiveResourcesInfo().includes('Immediate')) await setImmediate()
  t.equal(timers(), before, 'a server')
  await app.close()
  t.equal(timers(), before, 'a server that was stopped')
})

t.test('a store that fails or is silent is one 503 that says why, and its own answers pass', async t => {
  const callStore = createStoreCall(20, log)
  const [down, own, answer] = [new Error('down'), new DUAL_AUTH_STORE_UNAVAILABLE(), new DUAL_AUTH_KEY_REPLACED('x')]
  const failure = (call: () => Promise<unknown>) => callStore(call).then(() => undefined, error => error)
  for (const [call, cause] of [[async () => { throw down }, down], [() => { throw down }, down], [() => new Promise<never>(() => {}), 'no answer in 20 ms']] as const) {
    const error = await failure(call)
    t.equal(error.code, 'DUAL_AUTH_STORE_UNAVAILABLE')
    t.equal(error.cause, cause)
  }
  for (const error of [own, answer]) t.equal(await failure(async () => { throw error }), error)
})

t.test('without a host to tell, the store is not asked for notices', async t => {
  const store: ApiKeyStore = { ...memoryStore(), takeNotices: () => t.fail('asked') as never }
  const watch = createWatch(undefined, store, createStoreCall(1000, log), 1000, log)
  watch.start()
  watch.report('unknown', null, undefined)
  watch.emit({ type: 'first_used', key })
  await watch.stop()
  const { app, mint }: Harness = await build(t, { store })
  t.equal((await app.inject({ url: products(), headers: bearer((await mint()).plaintext) })).statusCode, 200)
})

t.test('a revocation that the store finishes after its deadline is told too', async t => {
  const inner = memoryStore()
  let finish = () => {}
  const finished = new Promise<void>(resolve => { finish = resolve })
  const store: ApiKeyStore = { ...inner, revoke: async (...args) => { const found = await inner.revoke(...args); await finished; return found } }
  const { app, issuer, events, mint } = await watched(t, { store, apiKeys: { storeTimeout: 100 } })
  const { id } = await mint()
  const { statusCode } = await app.inject({ method: 'DELETE', url: PATH + id, headers: bearer(issuer.user()) })
  t.equal(statusCode, 503)
  finish()
  await app.close()
  t.match(events.filter(({ type }) => type === 'revoked').map(shown), [{ type: 'revoked', key: id }])
})
