import t from 'tap'
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { setImmediate, setTimeout } from 'node:timers/promises'
import knex from 'knex'
import { createApiKey, memoryStore, type ApiKeyStore } from '../src/index.ts'
import { createApiKeysTable, knexStore } from '../src/keys/knex.ts'
import { serverDatabase, SERVER_URL } from '../../../test/databases.ts'
import { bearer, build, PEPPER, products, REFUSED, OWNER } from './build.ts'

const UNAVAILABLE = {
  statusCode: 503,
  code: 'DUAL_AUTH_STORE_UNAVAILABLE',
  error: 'Service Unavailable',
  message: 'API keys cannot be verified at the moment'
}

/** A store that fails or hangs when told to. */
function faulty (): { store: ApiKeyStore, state: { fault: 'none' | 'reject' | 'throw' | 'hang' } } {
  const inner = memoryStore()
  const state: { fault: 'none' | 'reject' | 'throw' | 'hang' } = { fault: 'none' }
  const through = <A extends unknown[], T>(method: (...args: A) => Promise<T>) => (...args: A): Promise<T> => {
    if (state.fault === 'reject') return Promise.reject(new Error('connection refused to postgres://user:secret@db'))
    if (state.fault === 'throw') throw new TypeError('broken')
    if (state.fault === 'hang') return new Promise(() => {})
    return method(...args)
  }
  const store = {
    find: through(inner.find),
    insert: through(inner.insert),
    list: through(inner.list),
    revoke: through(inner.revoke),
    rotate: through(inner.rotate),
    rehash: through(inner.rehash),
    touch: through(inner.touch),
    takeNotices: through(inner.takeNotices)
  }
  return { store, state }
}

for (const fault of ['reject', 'throw', 'hang'] as const) {
  t.test(`the store does ${fault}: 503 with Retry-After for keys and management, until it recovers`, async (t) => {
    const { store, state } = faulty()
    const { app, issuer, mint } = await build(t, { store, apiKeys: { storeTimeout: 1000 } })
    const { id, plaintext } = await mint()
    const path = `/owners/${OWNER}/api-keys/`
    const user = bearer(issuer.user())
    state.fault = fault
    const requests = [
      { url: products(), headers: bearer(plaintext) },
      { url: products(), headers: { 'x-api-key': plaintext } },
      { url: path, headers: user },
      { method: 'POST' as const, url: path, headers: user, payload: { name: 'x' } },
      { method: 'POST' as const, url: `${path}${id}/rotate`, headers: user },
      { method: 'DELETE' as const, url: `${path}${id}`, headers: user }
    ]
    for (const request of requests) {
      const response = await app.inject(request)
      t.equal(response.statusCode, 503)
      t.strictSame(response.json(), UNAVAILABLE)
      t.equal(response.headers['retry-after'], '5')
    }
    t.equal((await app.inject({ url: products(), headers: user })).statusCode, 200, 'tokens need no store')
    const malformed = await app.inject({ url: products(), headers: bearer('shop_test_bad') })
    t.strictSame(malformed.json(), REFUSED, 'nor does a malformed key')
    state.fault = 'none'
    t.equal((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
  })
}

t.test('what a store returns and nobody can read is 503; null alone means that a key never ends', async (t) => {
  const inner = memoryStore()
  let change: Record<string, unknown> = {}
  const store: ApiKeyStore = {
    ...inner,
    async find (fingerprints) {
      const found = await inner.find(fingerprints)
      return found && { ...found, ...change }
    }
  }
  const logged: string[] = []
  const { app, mint } = await build(t, {
    store,
    server: {
      logger: {
        level: 'error',
        stream: {
          write: (line: string) => {
            logged.push(line)
          }
        }
      }
    }
  })
  const { id, plaintext } = await mint()
  const call = async () => app.inject({ url: products(), headers: bearer(plaintext) })
  t.equal((await call()).statusCode, 200)
  for (
    const [what, wrongs] of [
      ['expiresAt is neither a date nor null', [{ expiresAt: undefined }, { expiresAt: new Date(NaN) }, {
        expiresAt: '2020-01-01T00:00:00Z'
      }, { expiresAt: 0 }]],
      ['revokedAt is neither a date nor null', [{ revokedAt: undefined }, { revokedAt: new Date('gestern') }]],
      ['scopes are not a list of strings', [{ scopes: '' }, { scopes: null }, { scopes: [undefined] }]],
      ['ownerId is not a string', [{ ownerId: undefined }, { ownerId: 7 }]],
      ['id is not a string', [{ id: '' }]],
      ['hash is not a Buffer', [{ hash: null }]]
    ] as const
  ) {
    for (const wrong of wrongs) {
      change = wrong
      const response = await call()
      t.equal(response.statusCode, 503, JSON.stringify(wrong))
      t.strictSame(response.json(), UNAVAILABLE)
      t.match(
        JSON.parse(logged.find((line) => line.includes('the API key store failed')) ?? '{}').err.message,
        `the store returned an API key (id ${'id' in wrong ? '' : id}) whose ${what}`
      )
      logged.length = 0
    }
  }
  change = {}
  t.equal((await call()).statusCode, 200)
})

t.test('a key that is stored after its deadline is revoked, and does not count', async (t) => {
  const inner = memoryStore()
  let landed = Promise.resolve(false)
  let slow = true
  const store: ApiKeyStore = {
    ...inner,
    insert (...args) {
      if (slow) landed = setTimeout(1500).then(() => inner.insert(...args))
      return slow ? landed : inner.insert(...args)
    }
  }
  const lines: string[] = []
  const { app, issuer } = await build(t, {
    store,
    apiKeys: { storeTimeout: 1000, maxPerOwner: 1 },
    server: {
      logger: {
        level: 'warn',
        stream: {
          write: (line: string) => {
            lines.push(line)
          }
        }
      }
    }
  })
  const path = `/owners/${OWNER}/api-keys/`
  const headers = bearer(issuer.user())
  const post = () => app.inject({ method: 'POST', url: path, headers, payload: { name: 'x' } })
  const late = await post()
  t.equal(late.statusCode, 503)
  t.strictSame(late.json(), UNAVAILABLE)
  t.equal(await landed, true)
  await setImmediate()
  const [key, ...others] = (await app.inject({ url: path, headers })).json()
  t.strictSame(others, [])
  t.type(key.revoked_at, 'string')
  const logged = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 40)
  t.match(logged, [{ keyId: key.id, msg: 'an API key was stored after its request timed out, and was revoked' }])
  t.notMatch(lines.join(''), 'shop_test_')
  slow = false
  t.equal((await post()).statusCode, 201)
})

t.test('a key that is stored too late and cannot be revoked either is named in the log', async (t) => {
  const inner = memoryStore()
  let landed = Promise.resolve()
  const store: ApiKeyStore = {
    ...inner,
    insert: async (...args) => {
      await (landed = setTimeout(300))
      return inner.insert(...args)
    },
    revoke: async () => {
      throw new Error('gone')
    }
  }
  const warnings: object[] = []
  const { app, issuer } = await build(t, {
    store,
    apiKeys: { storeTimeout: 100 },
    server: {
      logger: {
        level: 'warn',
        stream: {
          write: (line: string) => {
            if (JSON.parse(line).level === 40) warnings.push(JSON.parse(line))
          }
        }
      }
    }
  })
  const path = `/owners/${OWNER}/api-keys/`
  t.equal(
    (await app.inject({ method: 'POST', url: path, headers: bearer(issuer.user()), payload: { name: 'x' } }))
      .statusCode,
    503
  )
  await landed
  await setImmediate()
  const [{ id }] = (await app.inject({ url: path, headers: bearer(issuer.user()) })).json()
  t.match(warnings, [{
    keyId: id,
    err: { code: 'DUAL_AUTH_STORE_UNAVAILABLE' },
    msg: 'an API key was stored after its request timed out, and could not be revoked'
  }])
})

for (const slow of ['touch', 'rehash'] as const) {
  t.test(`a server that ends waits for a ${slow} of its store`, async (t) => {
    const inner = memoryStore()
    let isDone = false
    const store: ApiKeyStore = {
      ...inner,
      [slow]: async () => {
        await setTimeout(100)
        isDone = true
        return []
      }
    }
    const { plaintext } = await createApiKey({ marker: 'shop_test', peppers: [PEPPER], store, logN: 4 }, {
      ownerId: OWNER,
      name: 'x',
      scopes: 'all',
      createdBy: 'ada'
    })
    const { app } = await build(t, { store, apiKeys: { logN: 5 } })
    t.equal((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
    await app.close()
    t.equal(isDone, true)
  })
}

t.test('a use that could not be noted is noted by the next', async (t) => {
  const inner = memoryStore()
  let broken = true
  const store: ApiKeyStore = {
    ...inner,
    touch: async (...args) => broken ? Promise.reject(new Error('down')) : inner.touch(...args)
  }
  const { app, issuer, mint } = await build(t, { store })
  const { plaintext } = await mint()
  const lastUsed = async () =>
    (await app.inject({ url: `/owners/${OWNER}/api-keys/`, headers: bearer(issuer.user()) })).json()[0].last_used_at
  t.equal((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
  t.equal(await lastUsed(), null)
  broken = false
  t.equal((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
  t.type(await lastUsed(), 'string')
})

/** A TCP relay in front of a port, which can be shut and opened again: a database that goes away. */
async function relayTo (host: string, port: number) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const upstream = connect(port, host)
    for (const end of [socket, upstream]) {
      sockets.add(end)
      end.on('error', () => {}).on('close', () => {
        sockets.delete(end)
        socket.destroy()
        upstream.destroy()
      })
    }
    socket.pipe(upstream).pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const relayPort = (server.address() as AddressInfo).port
  return {
    port: relayPort,
    async shut () {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
    async open () {
      server.listen(relayPort, '127.0.0.1')
      await once(server, 'listening')
    }
  }
}

t.test('PostgreSQL goes away and comes back: 503, then 200', {
  skip: SERVER_URL === undefined && 'TEST_DATABASE_URL is not set: needs a real PostgreSQL'
}, async (t) => {
  const database = await serverDatabase()
  const url = new URL(database.url)
  const relay = await relayTo(url.hostname, Number(url.port || 5432))
  url.hostname = '127.0.0.1'
  url.port = String(relay.port)
  const db = knex({ client: 'pg', connection: url.href, acquireConnectionTimeout: 1000 })
  t.teardown(async () => {
    await db.destroy()
    await relay.shut().catch(() => {})
    await database.close()
  })
  await createApiKeysTable(db)
  const { app, mint } = await build(t, { store: knexStore(db) })
  const { plaintext } = await mint()
  const call = () => app.inject({ url: products(), headers: bearer(plaintext) })
  t.equal((await call()).statusCode, 200)
  await relay.shut()
  for (let i = 0; i < 3; i++) {
    const response = await call()
    t.equal(response.statusCode, 503)
    t.strictSame(response.json(), UNAVAILABLE)
  }
  await relay.open()
  t.equal((await call()).statusCode, 200)
})
