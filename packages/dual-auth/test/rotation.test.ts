import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { memoryStore, type ApiKeyStore, type KeyChange } from '../src/index.ts'
import { at, bearer, build, MISSING, OTHER_OWNER, products, REFUSED, OWNER, type Harness } from './build.ts'
import { newKey } from './sample-key.ts'

const PATH = `/owners/${OWNER}/api-keys/`
const DAY = 86_400_000

const as = ({ app, issuer }: Harness) => (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
  app.inject({ method, url, headers: bearer(issuer.user()), ...(payload && { payload }) })

t.test('a rotated key works beside its successor until the grace is over', async (t) => {
  const harness = await build(t)
  const call = as(harness)
  const { id, plaintext: old } = await harness.mint(OWNER, { name: 'Label printer', scopes: ['read'] })
  const response = await call('POST', `${PATH}${id}/rotate`, { grace: 1800 })
  t.equal(response.statusCode, 201)
  t.equal(response.headers['cache-control'], 'no-store')
  const { plaintext, warnings, replaced, ...key } = response.json()
  t.match(key, {
    name: 'Label printer',
    status: 'active',
    scopes: ['read'],
    created_by: 'user-1',
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
    replaces: id,
    replaced_by: null
  })
  t.match(replaced, { id, status: 'active', revoked_at: null, replaces: null, replaced_by: key.id })
  t.equal(Date.parse(replaced.expires_at) - Date.parse(key.created_at), 1_800_000)
  t.strictSame(warnings, ['This key has no expires_at: it works until somebody revokes it.'])
  t.match(plaintext, new RegExp(`^shop_test_${key.prefix}_[0-9A-Za-z]{49}$`))

  const listed = (await call('GET', PATH)).json()
  t.strictSame(
    listed,
    [key, replaced].sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || (a.id < b.id ? 1 : -1))
  )
  const statuses = async (time: number) =>
    at(
      time,
      async () =>
        Promise.all([old, plaintext].map(async (key) =>
          (await harness.app.inject({ url: products(), headers: bearer(key) })).statusCode
        ))
    )
  const end = Date.parse(replaced.expires_at)
  t.strictSame(await statuses(end - 1), [200, 200])
  t.strictSame(await statuses(end), [401, 200])
  const { headers } = await at(end, async () => call('GET', PATH))
  t.equal(headers['key-counts'], 'active=1, expired=1, revoked=0')
})

t.test('without a body the grace is a day, and with 0 the old key is revoked', async (t) => {
  const harness = await build(t)
  const call = as(harness)
  for (
    const [body, headers] of [
      [undefined, {}],
      ['', { 'content-type': 'application/json' }],
      ['{}', { 'content-type': 'application/json' }]
    ] as const
  ) {
    const { id } = await harness.mint()
    const response = await harness.app.inject({
      method: 'POST',
      url: `${PATH}${id}/rotate`,
      headers: { ...bearer(harness.issuer.user()), ...headers },
      ...(body !== undefined && { payload: body })
    })
    t.equal(response.statusCode, 201, String(body))
    const { created_at: createdAt, replaced } = response.json()
    t.equal(Date.parse(replaced.expires_at) - Date.parse(createdAt), DAY)
  }
  const { id, plaintext } = await harness.mint()
  const { replaced, ...key } = (await call('POST', `${PATH}${id}/rotate`, { grace: 0 })).json()
  t.match(replaced, { id, status: 'revoked', expires_at: null, revoked_at: key.created_at, replaced_by: key.id })
  t.strictSame((await harness.app.inject({ url: products(), headers: bearer(plaintext) })).json(), REFUSED)
  t.equal((await harness.app.inject({ url: products(), headers: bearer(key.plaintext) })).statusCode, 200)
})

t.test('a successor lives as long as the key was created to live, unless the request says until when', async (t) => {
  const harness = await build(t)
  const call = as(harness)
  const start = Date.now()
  const { id } = await harness.mint(OWNER, { name: 'x', expires_at: new Date(start + 30 * DAY).toISOString() })
  const first = (await call('POST', `${PATH}${id}/rotate`, {})).json()
  t.ok(
    Math.abs(Date.parse(first.expires_at) - Date.parse(first.created_at) - 30 * DAY) < 60_000,
    'thirty days, less the moment between'
  )
  const expiry = new Date(start + DAY).toISOString()
  const second = (await call('POST', `${PATH}${first.id}/rotate`, { expires_at: expiry })).json()
  t.match(second, { expires_at: expiry })
  t.match(
    (await call('POST', `${PATH}${second.id}/rotate`, { expires_at: null })).json(),
    { expires_at: null },
    'null is no expiry'
  )
})

t.test('what cannot be rotated is told why, and nothing changes', async (t) => {
  const harness = await build(t, { apiKeys: { maxPerOwner: 3 } })
  const call = as(harness)
  const [revoked, expired, replaced] = [
    await harness.mint(),
    await harness.mint(OWNER, { name: 'x', expires_at: new Date(Date.now() + DAY).toISOString() }),
    await harness.mint()
  ]
  await call('DELETE', PATH + revoked.id)
  const { id: successor } = (await call('POST', `${PATH}${replaced.id}/rotate`)).json()
  const other = await harness.mint(OTHER_OWNER)
  const list = async () => (await call('GET', `${PATH}?sort=id`)).json()
  const before = await list()
  const refused = async (id: string, statusCode: number, code: string, message: string) => {
    t.strictSame((await call('POST', `${PATH}${id}/rotate`)).json(), {
      statusCode,
      code,
      error: statusCode === 404 ? 'Not Found' : 'Conflict',
      message
    })
  }
  await refused(revoked.id, 409, 'DUAL_AUTH_KEY_INACTIVE', 'The API key is revoked: create a new one')
  await refused(
    replaced.id,
    409,
    'DUAL_AUTH_KEY_REPLACED',
    `The API key was replaced by ${successor}: rotate that one, or revoke it first`
  )
  for (const id of [other.id, '00000000-0000-4000-8000-000000000000']) {
    await refused(id, 404, 'DUAL_AUTH_KEY_NOT_FOUND', 'There is no such API key')
  }
  for (
    const body of [
      { grace: -1 },
      { grace: 2_592_001 },
      { grace: '60' },
      { grace: 1.5 },
      { grace: null },
      { name: 'y' },
      { expires_at: 'tomorrow' },
      [],
      'x'
    ]
  ) {
    t.equal(
      (await call('POST', `${PATH}${expired.id}/rotate`, body as object)).statusCode,
      typeof body === 'string' ? 415 : 400,
      JSON.stringify(body)
    )
  }
  t.match((await call('POST', `${PATH}${expired.id}/rotate`, { expires_at: '2020-01-01T00:00:00Z' })).json(), {
    statusCode: 400,
    code: 'DUAL_AUTH_EXPIRY_PAST'
  })
  t.equal((await call('POST', `${PATH}not-a-uuid/rotate`)).statusCode, 400)
  t.strictSame(await list(), before)
  t.match((await call('GET', `/owners/${OTHER_OWNER}/api-keys/`)).json(), [{ id: other.id, replaced_by: null }])
})

t.test('an expired key cannot be rotated', async (t) => {
  const store = memoryStore()
  const key = newKey({ createdAt: new Date(Date.now() - DAY), expiresAt: new Date(Date.now() - 1) })
  await store.insert(key, 10)
  const response = await as(await build(t, { store }))('POST', `${PATH}${key.id}/rotate`)
  t.strictSame(response.json(), {
    statusCode: 409,
    code: 'DUAL_AUTH_KEY_INACTIVE',
    error: 'Conflict',
    message: 'The API key is expired: create a new one'
  })
})

t.test('only tokens that may manage the owner rotate keys', async (t) => {
  const { app, issuer, mint } = await build(t, { auth: { policy: () => 'any-key' } })
  const { id, plaintext } = await mint()
  const rotate = async (headers: Record<string, string>, owner = OWNER) =>
    (await app.inject({ method: 'POST', url: `/owners/${owner}/api-keys/${id}/rotate`, headers })).json()
  t.strictSame(await rotate({}), MISSING)
  t.strictSame(await rotate({ 'x-api-key': plaintext }), MISSING, 'not even the key itself')
  t.strictSame(await rotate(bearer(plaintext)), REFUSED)
  t.match(await rotate(bearer(issuer.machine())), { code: 'DUAL_AUTH_MANAGEMENT_FORBIDDEN' })
  t.match(await rotate(bearer(issuer.user()), 'unknown'), { code: 'DUAL_AUTH_MANAGEMENT_FORBIDDEN' })
})

t.test('an owner at its limit can rotate, and gains no room for more keys by it', async (t) => {
  const harness = await build(t, { apiKeys: { maxPerOwner: 2 } })
  const call = as(harness)
  const keys = [await harness.mint(), await harness.mint()]
  const rotate = async (id: string) => (await call('POST', `${PATH}${id}/rotate`)).json()
  const successors = [await rotate(keys[0]!.id), await rotate(keys[1]!.id)]
  t.match(successors, [{ replaces: keys[0]!.id }, { replaces: keys[1]!.id }])
  t.match((await call('POST', PATH, { name: 'third' })).json(), {
    code: 'DUAL_AUTH_KEY_LIMIT',
    message: '2 API keys are active already: revoke one first'
  })
  t.match(await rotate(successors[0].id), {
    code: 'DUAL_AUTH_KEY_LIMIT',
    message: '4 API keys are active already: revoke one first'
  })
  await call('DELETE', PATH + keys[0]!.id)
  t.match(await rotate(successors[0].id), { replaces: successors[0].id })

  // Whose successors are revoked, they are replaced no more; they work on, and still there is an end.
  for (const { id, status } of (await call('GET', PATH)).json()) {
    if (status === 'active' && id !== keys[1]!.id && id !== successors[0].id) await call('DELETE', PATH + id)
  }
  for (let n = 0; n < 2; n++) {
    const { id } = await harness.mint()
    await call('DELETE', PATH + (await rotate(id)).id)
  }
  t.match((await call('POST', PATH, { name: 'fifth' })).json(), { code: 'DUAL_AUTH_KEY_LIMIT' })
  t.equal((await call('GET', PATH)).headers['key-counts']?.toString().split(',')[0], 'active=4')
})

t.test('a key whose successor was lost can be rotated again', async (t) => {
  const harness = await build(t)
  const call = as(harness)
  const { id } = await harness.mint()
  const lost = (await call('POST', `${PATH}${id}/rotate`, { grace: 3600 })).json()
  await call('DELETE', PATH + lost.id)
  const next = (await call('POST', `${PATH}${id}/rotate`, { grace: 7200 })).json()
  t.match(next, {
    replaces: id,
    expires_at: null,
    replaced: { replaced_by: next.id, expires_at: lost.replaced.expires_at }
  }, 'and the grace goes on')
})

t.test('ten who rotate at once make one successor', async (t) => {
  const harness = await build(t)
  const { id } = await harness.mint()
  const responses = await Promise.all(Array.from({ length: 10 }, () => as(harness)('POST', `${PATH}${id}/rotate`)))
  t.strictSame(responses.map(({ statusCode }) => statusCode).toSorted(), [201, ...Array(9).fill(409)])
  t.equal((await as(harness)('GET', PATH)).json().length, 2)
})

t.test('the host is told of a rotation with both keys, and can refuse it', async (t) => {
  const told: KeyChange[] = []
  let broken = false
  const harness = await build(t, {
    auth: {
      management: {
        canManage: () => true,
        onKeyChange: (change) => {
          if (broken) throw new Error('the audit is away')
          told.push(change)
        }
      }
    }
  })
  const call = as(harness)
  const { id } = await harness.mint(OWNER, { name: 'x', scopes: ['read'] })
  broken = true
  t.equal((await call('POST', `${PATH}${id}/rotate`)).json().code, 'DUAL_AUTH_STORE_UNAVAILABLE')
  t.match((await call('GET', PATH)).json(), [{ id, replaced_by: null, expires_at: null }])
  t.equal((await call('GET', PATH)).json().length, 1)
  broken = false
  const next = (await call('POST', `${PATH}${id}/rotate`, { grace: 0 })).json()
  t.match(told[1], {
    action: 'rotate',
    key: { id: next.id, name: 'x', scopes: ['read'], replaces: id },
    replaced: { id, replacedBy: next.id, revokedAt: new Date(next.created_at) }
  })
  t.equal(told.length, 2)
})

/** A store whose rotations wait, before or after its transaction, until they are let go. */
function slow (when: 'before' | 'after') {
  const inner = memoryStore()
  let open = () => {}
  let finish = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const done = new Promise<void>((resolve) => {
    finish = resolve
  })
  const store: ApiKeyStore = {
    ...inner,
    async rotate (...args) {
      try {
        if (when === 'before') await gate
        const rotated = await inner.rotate(...args)
        if (when === 'after') await gate
        return rotated
      } finally {
        finish()
      }
    }
  }
  return { store, open: () => open(), done }
}

t.test('a rotation that comes too late is undone: the old key goes on as before', async (t) => {
  const { store, open, done } = slow('before')
  const told: string[] = []
  const harness = await build(t, {
    store,
    apiKeys: { storeTimeout: 100 },
    auth: {
      management: {
        canManage: () => true,
        onKeyChange: async ({ action }) => {
          told.push(action)
        }
      }
    }
  })
  const { id, plaintext } = await harness.mint()
  t.equal((await as(harness)('POST', `${PATH}${id}/rotate`, { grace: 0 })).statusCode, 503)
  open()
  await done
  await setImmediate()
  t.match((await as(harness)('GET', PATH)).json(), [{ id, status: 'active', expires_at: null, replaced_by: null }])
  t.equal((await as(harness)('GET', PATH)).json().length, 1)
  t.strictSame(told, ['create'], 'and nobody is told of it')
  t.equal((await harness.app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
})

t.test('a successor that its store stored too late is revoked, and the key can be rotated again', async (t) => {
  const { store, open, done } = slow('after')
  const lines: string[] = []
  const harness = await build(t, {
    store,
    apiKeys: { storeTimeout: 100 },
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
  const { id, plaintext } = await harness.mint()
  t.equal((await as(harness)('POST', `${PATH}${id}/rotate`, { grace: 3600 })).statusCode, 503)
  open()
  await done
  await setImmediate()
  const keys: Array<{ id: string, status: string }> = (await as(harness)('GET', PATH)).json()
  const lost = keys.find((key) => key.id !== id)
  t.match(keys.find((key) => key.id === id), { status: 'active', replaced_by: lost?.id })
  t.match(lost, { status: 'revoked' })
  t.match(lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 40), [{
    keyId: lost?.id,
    msg: 'an API key was stored after its request timed out, and was revoked'
  }])
  t.notMatch(lines.join(''), 'shop_test_')
  t.equal((await harness.app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
  t.equal((await as(harness)('POST', `${PATH}${id}/rotate`)).statusCode, 201)
})

t.test('a key whose successor was rotated has a successor that works, and cannot be rotated', async (t) => {
  const harness = await build(t)
  const call = as(harness)
  const { id } = await harness.mint(OWNER, { name: 'x', expires_at: new Date(Date.now() + 30 * DAY).toISOString() })
  const rotate = async (id: string, grace: number) => (await call('POST', `${PATH}${id}/rotate`, { grace })).json()
  const replacedBy = async (id: string, successor: string) =>
    t.match(await rotate(id, 60), {
      code: 'DUAL_AUTH_KEY_REPLACED',
      message: `The API key was replaced by ${successor}: rotate that one, or revoke it first`
    })
  const second = await rotate(id, 3600)
  const third = await rotate(second.id, 0)
  await replacedBy(id, third.id)
  const fourth = await rotate(third.id, 60)
  await replacedBy(id, fourth.id)
  await call('DELETE', PATH + fourth.id)
  await replacedBy(id, third.id)
  await call('DELETE', PATH + third.id)
  const next = await rotate(id, 60)
  t.match(next, { replaces: id })
  t.ok(
    Math.abs(Date.parse(next.expires_at) - Date.parse(next.created_at) - 30 * DAY) < 60_000,
    'and lives as long as the last one was to live, not as long as its grace'
  )
})

t.test('a rotation whose audit takes too long is undone, also at once', async (t) => {
  let audited = () => {}
  const audit = new Promise<void>((resolve) => {
    audited = resolve
  })
  const harness = await build(t, {
    apiKeys: { storeTimeout: 100 },
    auth: {
      management: {
        canManage: () => true,
        onKeyChange: async ({ action }) => {
          if (action === 'rotate') await audit
        }
      }
    }
  })
  const { id, plaintext } = await harness.mint()
  t.equal((await as(harness)('POST', `${PATH}${id}/rotate`, { grace: 0 })).statusCode, 503)
  audited()
  await setImmediate()
  t.match((await as(harness)('GET', PATH)).json(), [{ id, status: 'active', replaced_by: null }])
  t.equal((await harness.app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
})
