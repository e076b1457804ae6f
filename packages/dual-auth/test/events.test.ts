import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import Fastify from 'fastify'
import { memoryStore, type ApiKeyRecord, type ApiKeyStore, type KeyEvent } from '../src/index.ts'
import { createStoreCall } from '../src/keys/call-store.ts'
import { mintKey } from '../src/keys/format.ts'
import { createNotices } from '../src/keys/notices.ts'
import { at, bearer, build, OTHER_OWNER, products, OWNER } from './build.ts'
import { newKey } from './sample-key.ts'

const PATH = `/owners/${OWNER}/api-keys/`
const HERE = '127.0.0.0/24'

/** A server whose host is told of events; closing it waits for all of them. */
async function watched (t: Test, settings: Parameters<typeof build>[1] = {}) {
  const events: KeyEvent[] = []
  const harness = await build(t, {
    ...settings,
    auth: {
      onKeyEvent: (event) => {
        events.push(event)
      },
      ...settings.auth
    }
  })
  const manage = async (
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    payload?: object
  ) => (await harness.app.inject({ method, url, headers: bearer(harness.issuer.user()), ...(payload && { payload }) }))
  const call = async (key: string, url = products(), method: 'GET' | 'POST' = 'GET', remoteAddress = '127.0.0.1') =>
    (await harness.app.inject({ method, url, headers: bearer(key), remoteAddress })).statusCode
  return { ...harness, events, manage, call }
}

const shown = (event: KeyEvent) => ({
  ...event,
  key: event.key?.id,
  ...('replaced' in event && { replaced: event.replaced.id })
})

t.test('the host is told of the life of a key, in order', async (t) => {
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
  t.match(uses[0]?.key, { ownerId: OWNER, name: 'test', lastUsedNetwork: HERE })
  t.strictSame(events.filter(({ type }) => type !== 'first_used').map(shown), [
    { type: 'created', key: id, by: 'user-1' },
    { type: 'rotated', key: next.id, replaced: id, by: 'user-1' },
    { type: 'refused', reason: 'revoked', key: id, network: HERE, count: 1 },
    { type: 'revoked', key: next.id, by: 'user-1' }
  ])
  for (const { key } of events) t.notMatch(JSON.stringify(key), plaintext.split('_')[3])
})

t.test('the host is told why a key was refused, at once the first time, and how often at the end', async (t) => {
  const store = memoryStore()
  const { app, events, manage, call, mint } = await watched(t, { store })
  const scoped = await mint(OWNER, { name: 'x', scopes: ['read'] })
  const revoked = await mint()
  await manage('DELETE', PATH + revoked.id)
  const expiring = await mint(OWNER, { name: 'x', expires_at: new Date(Date.now() + 3_600_000).toISOString() })
  events.length = 0
  for (let times = 0; times < 3; times++) {
    t.equal(await call(mintKey('shop_test').plaintext, products(), 'GET', `203.0.${times}.7`), 401)
    t.equal(await call(revoked.plaintext), 401)
    t.equal(await at(Date.now() + 3_600_001, () => call(expiring.plaintext)), 401)
    t.equal(await call(scoped.plaintext, products(OTHER_OWNER)), 403)
    t.equal(await call(scoped.plaintext, products(), 'POST'), 403)
  }
  t.equal(await call('shop_test_malformed'), 401, 'what is no key of this server')
  t.equal(await call(scoped.plaintext, '/orders'), 401, 'and what is not looked up')
  const refusals = (count: number, network: string) => [
    { type: 'refused', reason: 'unknown', key: null, network, count },
    { type: 'refused', reason: 'revoked', key: { id: revoked.id, ownerId: OWNER }, network: HERE, count },
    { type: 'refused', reason: 'expired', key: { id: expiring.id, ownerId: OWNER }, network: HERE, count },
    { type: 'refused', reason: 'wrong_owner', key: { id: scoped.id, ownerId: OWNER }, network: HERE, count },
    { type: 'refused', reason: 'scope', key: { id: scoped.id, ownerId: OWNER }, network: HERE, count }
  ]
  await setImmediate()
  const told = () => events.filter(({ type }) => type === 'refused')
  t.strictSame(told(), refusals(1, '203.0.0.0/24'))
  await app.close()
  t.strictSame(
    told(),
    [...refusals(1, '203.0.0.0/24'), ...refusals(2, '203.0.2.0/24')],
    'the network is that of the last one'
  )
})

t.test('a request whose key is refused names the key, and no other request does', async (t) => {
  const named: unknown[] = []
  const { issuer, manage, call, mint } = await watched(t, {
    routes: (app) => {
      app.addHook('onSend', async ({ refusedKey }) => {
        named.push(refusedKey)
      })
    }
  })
  const [good, revoked] = [await mint(OWNER, { name: 'x', scopes: ['read'] }), await mint()]
  await manage('DELETE', PATH + revoked.id)
  named.length = 0
  const key = ({ id }: { readonly id: string }): object => ({ id, ownerId: OWNER })
  const cases: ReadonlyArray<readonly [string, string, number, object | null]> = [
    [good.plaintext, products(), 200, null],
    [good.plaintext, products(OTHER_OWNER), 403, key(good)],
    [revoked.plaintext, products(), 401, key(revoked)],
    [mintKey('shop_test').plaintext, products(), 401, null],
    [revoked.plaintext, '/nowhere', 404, null],
    [issuer.user(), products(), 200, null]
  ]
  for (const [credential, url, status] of cases) t.equal(await call(credential, url), status, url)
  t.strictSame(named, cases.map(([, , , expected]) => expected))
})

t.test('behind a proxy that is trusted, uses and refusals have the network of the client', async (t) => {
  const { app, events, manage, mint } = await watched(t, { server: { trustProxy: true } })
  const [used, revoked] = [await mint(), await mint()]
  await manage('DELETE', PATH + revoked.id)
  for (const { plaintext } of [used, revoked]) {
    await app.inject({ url: products(), headers: { ...bearer(plaintext), 'x-forwarded-for': '203.0.113.7' } })
  }
  t.match((await manage('GET', PATH)).json().find(({ id }: { id: string }) => id === used.id), {
    last_used_network: '203.0.113.0/24'
  })
  await app.close()
  t.match(events.filter(({ type }) => type === 'refused'), [{ key: { id: revoked.id }, network: '203.0.113.0/24' }])
})

t.test('a refused call is no use of its key', async (t) => {
  const { manage, call, mint } = await watched(t)
  const soon = await mint(OWNER, { name: 'x', expires_at: new Date(Date.now() + 3_600_000).toISOString() })
  const revoked = await mint()
  await manage('DELETE', PATH + revoked.id)
  t.equal(await call(revoked.plaintext), 401)
  t.equal(await at(Date.now() + 3_600_000, () => call(soon.plaintext)), 401)
  for (const key of (await manage('GET', PATH)).json()) t.match(key, { last_used_at: null, last_used_network: null })
})

t.test('a use from a new network is told, and one from a known network is not', async (t) => {
  const { app, issuer, events, call, mint } = await watched(t)
  const { id, plaintext } = await mint()
  for (const address of ['203.0.113.7', '198.51.100.1', '203.0.113.9', '2001:db8:1::1', '198.51.100.9']) {
    t.equal(await call(plaintext, products(), 'GET', address), 200)
    // Uses of one moment are written together, and a first use is told alone.
    await app.inject({ url: PATH, headers: bearer(issuer.user()) })
  }
  await app.close()
  t.strictSame(events.filter(({ type }) => type === 'new_network').map(shown), [
    { type: 'new_network', key: id, network: '198.51.100.0/24' },
    { type: 'new_network', key: id, network: '2001:db8:1::/48' }
  ])
})

for (
  const [what, onKeyEvent] of [
    ['throws', () => {
      throw new Error('the host is broken')
    }],
    ['rejects', async () => {
      throw new Error('the host is broken')
    }]
  ] as const
) {
  t.test(`a host that ${what} on an event changes nothing but the log`, async (t) => {
    const lines: string[] = []
    const { app, call, mint } = await watched(t, {
      auth: { onKeyEvent },
      server: {
        logger: {
          level: 'error',
          stream: {
            write: (line: string) => {
              lines.push(line)
            }
          }
        }
      }
    })
    const { id, plaintext } = await mint()
    t.equal(await call(plaintext), 200)
    t.equal(await call(mintKey('shop_test').plaintext), 401)
    await app.close()
    t.strictSame(
      lines.map((line) => JSON.parse(line)).map(({ msg, event, keyId, err }) => [msg, event, keyId, err.message])
        .toSorted(),
      [['created', id], ['first_used', id], ['refused', undefined]].map((
        [event, keyId]
      ) => ['onKeyEvent failed', event, keyId, 'the host is broken'])
    )
  })
}

t.test('a host that never finishes delays no call, and the end only for as long as the store', async (t) => {
  const { app, call, mint } = await watched(t, {
    auth: { onKeyEvent: () => new Promise(() => {}) },
    apiKeys: { storeTimeout: 100 }
  })
  const { plaintext } = await mint()
  for (let times = 0; times < 3; times++) t.equal(await call(plaintext), 200)
  await app.close()
})

t.test('keys that expire soon or are not used are told at startup, once for all replicas', async (t) => {
  const store = memoryStore()
  const day = 86_400_000
  const keys = [
    newKey({ createdAt: new Date(Date.now() - 100 * day), expiresAt: new Date(Date.now() + 6 * day) }),
    newKey()
  ]
  for (const key of keys) await store.insert(key, 10)
  const replicas = [await watched(t, { store }), await watched(t, { store })]
  for (const { app } of replicas) await app.close()
  t.strictSame(replicas.flatMap(({ events }) => events).map(shown).toSorted((a, b) => a.type < b.type ? -1 : 1), [
    { type: 'expiring', key: keys[0]!.id, days: 7 },
    { type: 'unused', key: keys[0]!.id, days: 90 }
  ])
})

const { log } = Fastify()
const key = { id: 'a' } as ApiKeyRecord

/** Waits for what timers do, without waiting for a time. */
async function until (condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1))
}

t.test('keys are looked through again and again, after a failure too, until the server stops', async (t) => {
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
  const notices = createNotices(store, createStoreCall(60_000, log), (event) => events.push(event), 1)
  notices.start()
  await until(() => looks > 4)
  await notices.stop()
  const last = looks
  t.strictSame(events, [{ key, type: 'unused', days: 90 }])
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(looks, last)
})

t.test('a revocation that the store finishes after its deadline is told too', async (t) => {
  const inner = memoryStore()
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const store: ApiKeyStore = {
    ...inner,
    revoke: async (...args) => {
      const found = await inner.revoke(...args)
      await finished
      return found
    }
  }
  const { app, issuer, events, mint } = await watched(t, { store, apiKeys: { storeTimeout: 100 } })
  const { id } = await mint()
  const { statusCode } = await app.inject({ method: 'DELETE', url: PATH + id, headers: bearer(issuer.user()) })
  t.equal(statusCode, 503)
  finish()
  await app.close()
  t.match(events.filter(({ type }) => type === 'revoked').map(shown), [{ type: 'revoked', key: id }])
})
