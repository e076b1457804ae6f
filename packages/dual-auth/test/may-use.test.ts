import { setTimeout as wait } from 'node:timers/promises'
import { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import inject from 'light-my-request'
import dualAuth, {
  DUAL_AUTH_KEY_INACTIVE,
  DUAL_AUTH_MANAGEMENT_FORBIDDEN,
  memoryStore,
  type ApiKeyStore,
  type DualAuthOptions,
  type KeyEvent,
  type UsedKey
} from '../src/index.ts'
import { bearer, build, OTHER_OWNER, PEPPER, products, REFUSED, OWNER } from './build.ts'

const PATH = `/owners/${OWNER}/api-keys/`
const ADA = { sub: 'ada', username: 'ada' }
const BEN = { sub: 'ben', username: 'ben' }

/** A server that knows who has left; people manage keys in their own names. */
async function staffed (t: Test, settings: Parameters<typeof build>[1] = {}) {
  const left = new Set<string>()
  const asked: UsedKey[] = []
  const lines: string[] = []
  const stream = new Writable({
    write (chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    }
  })
  const harness = await build(t, {
    server: { logger: { stream } },
    ...settings,
    apiKeys: {
      mayUse: (key) => {
        asked.push(key)
        return !left.has(key.createdBy)
      },
      ...settings.apiKeys
    }
  })
  const { app, issuer } = harness
  const manage =
    (who: Record<string, unknown>) => async (method: 'GET' | 'POST' | 'DELETE', path = '', payload?: object) => {
      const response = await app.inject({
        method,
        url: PATH + path,
        headers: bearer(issuer.user(who)),
        ...payload && { payload }
      })
      return { status: response.statusCode, body: response.body === '' ? null : response.json() }
    }
  const call = async (key: string, url = products()) => (await app.inject({ url, headers: bearer(key) })).statusCode
  const make = async (who: Record<string, unknown>) => (await manage(who)('POST', '', { name: 'Agent' })).body
  return { ...harness, left, asked, lines, manage, call, make }
}

/** A call within the process that another one makes with its own credential. */
async function within (
  app: FastifyInstance,
  request: FastifyRequest,
  { method = 'GET', url }: { readonly method?: 'GET' | 'DELETE', readonly url: string }
) {
  return await inject((raw, response) => {
    Object.assign(raw, { [Symbol.for('mcp-from-routes.parentRequest')]: request })
    app.routing(raw, response)
  }, { method, url, headers: { authorization: request.headers.authorization! } })
}

t.test('a key is refused once its maker has left, and works again when they are back', async (t) => {
  const events: KeyEvent[] = []
  const { app, left, asked, lines, call, make } = await staffed(t, {
    auth: {
      onKeyEvent: (event) => {
        events.push(event)
      }
    }
  })
  const [hers, his] = [await make(ADA), await make(BEN)]
  t.strictSame([await call(hers.plaintext), await call(his.plaintext)], [200, 200])
  t.strictSame(asked[0], { id: hers.id, ownerId: OWNER, scopes: [], createdBy: 'ada' })
  t.ok(Object.isFrozen(asked[0]) && Object.isFrozen(asked[0]?.scopes))
  left.add('ada')
  const refused = await app.inject({ url: products(), headers: bearer(hers.plaintext) })
  t.strictSame([refused.statusCode, refused.json()], [401, REFUSED])
  t.match(refused.headers['www-authenticate'], /^Bearer error="invalid_token"/)
  t.equal(await call(his.plaintext), 200, 'another person keeps theirs')
  left.delete('ada')
  t.equal(await call(hers.plaintext), 200)
  await app.close()
  t.match(events.filter(({ type }) => type === 'refused'), [
    { reason: 'not_allowed', key: { id: hers.id, ownerId: OWNER }, network: '127.0.0.0/24', count: 1 }
  ])
  t.match(lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'credential refused'), [
    { level: 30, reason: `mayUse does not allow the API key ${hers.id}` }
  ])
})

t.test('a refused call is no use of its key, and a bad key asks nothing', async (t) => {
  const { left, asked, manage, call, make } = await staffed(t)
  const { id, plaintext } = await make(ADA)
  left.add('ada')
  t.equal(await call(plaintext), 401)
  t.match((await manage(BEN)('GET')).body, [{ id, last_used_at: null }])
  const { length } = asked
  t.equal(await call(`${plaintext.slice(0, -1)}${plaintext.endsWith('x') ? 'y' : 'x'}`), 401)
  await manage(BEN)('DELETE', id)
  t.equal(await call(plaintext), 401)
  t.equal(await call(plaintext, '/orders'), 401, 'a route that accepts no keys')
  t.equal(asked.length, length)
})

t.test('the successor of a key belongs to who rotated it: each works while its maker is there', async (t) => {
  const { left, manage, call, make } = await staffed(t)
  const old = await make(ADA)
  const next = (await manage(BEN)('POST', `${old.id}/rotate`, {})).body
  t.strictSame([await call(old.plaintext), await call(next.plaintext)], [200, 200])
  left.add('ben')
  t.strictSame([await call(old.plaintext), await call(next.plaintext)], [200, 401], 'who has seen it has left')
  left.add('ada').delete('ben')
  t.strictSame([await call(old.plaintext), await call(next.plaintext)], [401, 200], 'also in its grace')
})

for (
  const [what, mayUse] of [
    ['throws', () => {
      throw new Error('no directory')
    }],
    ['rejects', async () => {
      throw Object.assign(new Error('no directory'), { statusCode: 403 })
    }],
    ['throws what is an answer in onKeyChange', () => {
      throw new DUAL_AUTH_MANAGEMENT_FORBIDDEN()
    }],
    ['throws what is an answer of a store', async () => {
      throw new DUAL_AUTH_KEY_INACTIVE('expired')
    }],
    ['never settles', async () => new Promise<boolean>(() => {})],
    ['returns nothing', () => undefined as never],
    ['returns what is not boolean', async () => 'yes' as never]
  ] as const
) {
  t.test(`a key is neither good nor bad if mayUse ${what}: 503, and the log says so`, async (t) => {
    const { app, lines, make } = await staffed(t, { apiKeys: { mayUse, mayUseCacheTime: 1000, storeTimeout: 50 } })
    const { plaintext } = await make(ADA)
    for (let times = 0; times < 2; times++) {
      const { statusCode, headers, body } = await app.inject({ url: products(), headers: bearer(plaintext) })
      t.match([statusCode, headers['retry-after'], JSON.parse(body)], [503, '5', {
        code: 'DUAL_AUTH_STORE_UNAVAILABLE',
        message: 'API keys cannot be verified at the moment'
      }])
    }
    t.match(lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 50), [{ msg: 'mayUse failed' }, {}])
  })
}

t.test('mayUse may look at the request: nothing is kept from one call to the next', async (t) => {
  const { app, make } = await staffed(t, {
    apiKeys: { mayUse: (_key, request) => request.ip === '127.0.0.1' && request.url === products() }
  })
  const { plaintext } = await make(ADA)
  const from = async (remoteAddress: string, url = products()) =>
    (await app.inject({ url, headers: bearer(plaintext), remoteAddress })).statusCode
  t.strictSame([await from('127.0.0.1'), await from('203.0.113.7'), await from('127.0.0.1')], [200, 401, 200])
  t.equal(await from('127.0.0.1', `${products()}?page=2`), 401)
})

for (const mayUseCacheTime of [0, 100]) {
  t.test(`what a call calls within the process asks too, with mayUseCacheTime ${mayUseCacheTime}`, async (t) => {
    let clock = 10_000
    t.intercept(performance, 'now', { value: () => clock })
    const left = new Set<string>()
    const { app, make } = await staffed(t, {
      apiKeys: {
        mayUse: ({ createdBy }, { method }) => !left.has(createdBy) && (mayUseCacheTime > 0 || method !== 'DELETE'),
        mayUseCacheTime
      },
      routes: (app) => {
        app.post('/owners/:owner_id/products/outer', async (request) => {
          const inner = async (method: 'GET' | 'DELETE') =>
            (await within(app, request, { method, url: products() })).statusCode
          const before = [await inner('GET'), await inner('DELETE')]
          left.add('ada')
          clock += mayUseCacheTime
          return [...before, await inner('GET')]
        })
      }
    })
    const { plaintext } = await make(ADA)
    const outer = await app.inject({ method: 'POST', url: `${products()}/outer`, headers: bearer(plaintext) })
    t.strictSame(outer.json(), [200, mayUseCacheTime === 0 ? 401 : 200, 401])
  })
}

t.test('a yes is kept for its key alone, for the time of the option, from when it was asked', async (t) => {
  let clock = 10_000
  t.intercept(performance, 'now', { value: () => clock })
  const { left, asked, call, make } = await staffed(t, { apiKeys: { mayUseCacheTime: 1000 } })
  const [hers, his] = [await make(ADA), await make(BEN)]
  const calls = async () => [await call(hers.plaintext), await call(his.plaintext)]
  t.strictSame(await calls(), [200, 200])
  t.strictSame(await calls(), [200, 200])
  t.equal(asked.length, 2)
  left.add('ada')
  clock += 999
  t.strictSame(await calls(), [200, 200], 'the last moment')
  clock += 1
  t.strictSame(await calls(), [401, 200])
  left.delete('ada')
  t.strictSame(await calls(), [200, 200], 'a no is not kept')
})

t.test('a slow yes is kept from when it was asked, and calls of that time share it', async (t) => {
  let clock = 10_000
  t.intercept(performance, 'now', { value: () => clock })
  const answers: Array<(answer: boolean) => void> = []
  const kept = memoryStore()
  const seen = { finds: 0 }
  const find: ApiKeyStore['find'] = async (fingerprints) => {
    const row = await kept.find(fingerprints)
    seen.finds++
    return row
  }
  const { call, make } = await staffed(t, {
    store: { ...kept, find },
    apiKeys: {
      mayUseCacheTime: 1000,
      mayUse: async () =>
        new Promise<boolean>((resolve) => {
          answers.push(resolve)
        })
    }
  })
  const { plaintext } = await make(ADA)
  const until = async (count: number) => {
    while (answers.length < count) await wait(1)
  }
  const first = call(plaintext)
  await until(1)
  clock += 600
  const second = call(plaintext)
  while (seen.finds < 2) await wait(1)
  // It asks soon after.
  await wait(50)
  clock += 500
  const third = call(plaintext)
  await until(2)
  answers[1]!(false)
  t.equal(await third, 401, 'it began after the answer was too old')
  answers[0]!(true)
  t.strictSame([await first, await second], [200, 200])
  const fourth = call(plaintext)
  await until(3)
  answers[2]!(true)
  t.equal(await fourth, 200, 'the old yes was not kept')
})

t.test('what a store keeps of a key may change: a yes for one maker is none for the next', async (t) => {
  const kept = memoryStore()
  const now: { createdBy?: string } = {}
  const store: ApiKeyStore = {
    ...kept,
    async find (fingerprints) {
      const found = await kept.find(fingerprints)
      return found && { ...found, ...now }
    }
  }
  const { left, call, make } = await staffed(t, { store, apiKeys: { mayUseCacheTime: 1000 } })
  const { plaintext } = await make(ADA)
  left.add('ben')
  t.equal(await call(plaintext), 200)
  now.createdBy = 'ben'
  t.equal(await call(plaintext), 401)
})

t.test('a store that does not return who made a key gives 503 with mayUse, and works without', async (t) => {
  const kept = memoryStore()
  const store: ApiKeyStore = {
    ...kept,
    async find (fingerprints) {
      const { createdBy: _, ...found } = (await kept.find(fingerprints))!
      return found as never
    }
  }
  const { lines, call, make } = await staffed(t, { store })
  const { plaintext } = await make(ADA)
  t.equal(await call(plaintext), 503)
  t.match(lines.join(''), /createdBy is not a string/)
  const plain = await build(t, { store })
  t.equal((await plain.app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
})

t.test('two replicas ask for themselves, and two people are told apart at once', async (t) => {
  const store = memoryStore()
  const [one, other] = [await staffed(t, { store }), await staffed(t, { store })]
  const [hers, his] = [await one.make(ADA), await one.make(BEN)]
  for (const { left } of [one, other]) left.add('ada')
  const both = [one, other].flatMap(({ call }) => [hers, his].map(async ({ plaintext }) => call(plaintext)))
  t.strictSame(await Promise.all(both), [401, 200, 401, 200])
})

t.test('a call under way whose maker leaves: what it calls within the process is refused after a second', async (t) => {
  const state: { release?: () => void } = {}
  const left = new Set<string>()
  let clock = 10_000
  t.intercept(performance, 'now', { value: () => clock })
  const { app, make } = await staffed(t, {
    apiKeys: { mayUse: ({ createdBy }) => !left.has(createdBy), mayUseCacheTime: 1000 },
    routes: (app) => {
      app.get('/owners/:owner_id/products/slow', async (request) => {
        const inner = async () => (await within(app, request, { url: products() })).statusCode
        const before = await inner()
        await new Promise<void>((resolve) => {
          state.release = resolve
        })
        return [before, await inner()]
      })
    }
  })
  const { plaintext } = await make(ADA)
  await app.inject({ url: products(), headers: bearer(plaintext) })
  clock += 900
  const slow = app.inject({ url: `${products()}/slow`, headers: bearer(plaintext) })
  slow.catch(() => {})
  while (state.release === undefined) await wait(1)
  left.add('ada')
  clock += 100
  state.release()
  t.strictSame((await slow).json(), [200, 401], 'a second after mayUse was asked, not after the call began')
})

t.test('wrong options stop the start', async (t) => {
  const MAY_USE_CACHE_TIME = 'apiKeys.mayUseCacheTime must be an integer of milliseconds from 0 to 1000'
  for (
    const [apiKeys, message] of [
      [{ mayUse: 'no' }, "apiKeys.mayUse must be a function (got 'no')"],
      [{ mayUse: null }, 'apiKeys.mayUse must be a function (got null)'],
      [{ mayUse: () => true, mayUseCacheTime: 1001 }, MAY_USE_CACHE_TIME + ' (got 1001)'],
      [{ mayUse: () => true, mayUseCacheTime: -1 }, MAY_USE_CACHE_TIME + ' (got -1)'],
      [{ mayUseCacheTime: 500 }, 'apiKeys.mayUseCacheTime is for apiKeys.mayUse, which is not set']
    ] as const
  ) {
    const options = {
      apiKeys: { marker: 'acme', peppers: [PEPPER], store: memoryStore(), ...apiKeys },
      jwt: false
    } as unknown as DualAuthOptions
    await t.rejects(async () => await Fastify().register(dualAuth, options), {
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: `dual-auth: ${message}`
    })
  }
})

t.test('a host vetoes a change of a caller who left meanwhile: 403, and nothing is changed', async (t) => {
  const left = new Set<string>()
  const { manage, call, make } = await staffed(t, {
    auth: {
      management: {
        canManage: (request, owner) => request.identity?.kind === 'user' && [OWNER, OTHER_OWNER].includes(owner),
        onKeyChange: (_change, { identity }) => {
          if (identity?.kind === 'user' && left.has(identity.subject)) throw new DUAL_AUTH_MANAGEMENT_FORBIDDEN()
        }
      }
    }
  })
  const { id, plaintext } = await make(ADA)
  left.add('ada')
  for (
    const [method, path, body] of [['POST', `${id}/rotate`, {}], ['POST', '', { name: 'x' }], ['DELETE', id]] as const
  ) {
    const answer = await manage(ADA)(method, path, body)
    t.match(answer, { status: 403, body: { code: 'DUAL_AUTH_MANAGEMENT_FORBIDDEN' } }, `${method} ${path}`)
  }
  t.match((await manage(BEN)('GET')).body, [{ id, replaced_by: null, expires_at: null, status: 'active' }])
  t.equal(await call(plaintext), 200)
})
