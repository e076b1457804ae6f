import t, { type Test } from 'tap'
import Fastify, { type FastifyInstance } from 'fastify'
import knex from 'knex'
import { memoryStore, type ApiKeyStore, type KeyEvent } from '../src/index.ts'
import { createApiKeysTable, knexStore } from '../src/keys/knex.ts'
import { serverDatabase, SERVER_URL } from '../../../test/databases.ts'
import { authenticate, at, bearer, build, PEPPER, products, OWNER } from './build.ts'
import { startIssuer, type Issuer } from './issuer.ts'
import { newKey } from './sample-key.ts'

const options = {
  skip: SERVER_URL === undefined && 'TEST_DATABASE_URL is not set: two replicas need a real PostgreSQL'
}
const PATH = `/owners/${OWNER}/api-keys/`

interface Replicas {
  readonly apps: readonly [FastifyInstance, FastifyInstance]
  readonly issuer: Issuer
  readonly events: readonly KeyEvent[]
}

/** Two servers, each with its own pool, on one database. */
async function replicas (t: Test): Promise<Replicas> {
  const database = await serverDatabase()
  t.teardown(() => database.close())
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  await createApiKeysTable(database.knex)
  const events: KeyEvent[] = []
  const start = async () => {
    const db = knex({ client: 'pg', connection: database.url })
    const app = Fastify()
    await authenticate(app, {
      apiKeys: {
        marker: 'shop_test',
        peppers: [PEPPER],
        store: knexStore(db),
        ownerIdFromParam: (id) => id,
        maxPerOwner: 1000,
        storeTimeout: 60_000
      },
      jwt: { issuer: issuer.url, userClients: ['web-app'] },
      management: { canManage: () => true },
      onKeyEvent: (event) => {
        events.push(event)
      }
    })
    app.get('/owners/:owner_id/products', { config: { auth: 'dual' } }, async () => [])
    t.teardown(async () => {
      await app.close()
      await db.destroy()
    })
    await app.ready()
    return app
  }
  return { apps: [await start(), await start()], issuer, events }
}

function callers ({ apps, issuer }: Replicas) {
  const headers = bearer(issuer.user())
  return {
    create: async (replica = 0) =>
      (await apps[replica]!.inject({ method: 'POST', url: PATH, headers, payload: { name: 'x' } })).json() as {
        id: string,
        plaintext: string
      },
    rotate: async (replica: number, id: string, grace = 3600) =>
      apps[replica]!.inject({ method: 'POST', url: `${PATH}${id}/rotate`, headers, payload: { grace } }),
    revoke: async (replica: number, id: string) =>
      (await apps[replica]!.inject({ method: 'DELETE', url: PATH + id, headers })).statusCode,
    list: async (replica = 0) =>
      (await apps[replica]!.inject({ url: `${PATH}?limit=1000`, headers })).json() as Array<
        { id: string, status: string, replaces: string | null, replaced_by: string | null }
      >,
    use: async (replica: number, key: string) =>
      (await apps[replica]!.inject({ url: products(), headers: bearer(key) })).statusCode
  }
}

/** Calls with a key on both replicas without a pause, and notes what began after `ended` was called. */
function hammer (use: (replica: number, key: string) => Promise<number>, key: string) {
  const state = { isEnded: false, isOver: false }
  const late: number[] = []
  const early: number[] = []
  const workers = [0, 1, 0, 1].map(async (replica) => {
    while (!state.isOver) {
      const statuses = state.isEnded ? late : early
      statuses.push(await use(replica, key))
    }
  })
  const began = async (statuses: readonly number[], count: number) => {
    while (statuses.length < count) await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    early,
    late,
    warm: () => began(early, 8),
    /** The end is acknowledged now. */
    ended: () => {
      state.isEnded = true
    },
    async stop () {
      await began(late, 16)
      state.isOver = true
      await Promise.all(workers)
    }
  }
}

t.test('a call that begins after a key was revoked is 401 on both replicas', options, async (t) => {
  const both = await replicas(t)
  const { create, revoke, use } = callers(both)
  for (let round = 0; round < 6; round++) {
    const { id, plaintext } = await create(round % 2)
    const calls = hammer(use, plaintext)
    await calls.warm()
    t.equal(await revoke(round % 2, id), 204)
    calls.ended()
    await calls.stop()
    t.ok(calls.early.every((status) => status === 200 || status === 401), `${calls.early}`)
    t.ok(calls.late.every((status) => status === 401), `${calls.late}`)
  }
})

t.test(
  'two revocations at once, on two replicas: a call that begins after the first is acknowledged is 401',
  options,
  async (t) => {
    const both = await replicas(t)
    const { create, revoke, use } = callers(both)
    for (let round = 0; round < 6; round++) {
      const { id, plaintext } = await create()
      const calls = hammer(use, plaintext)
      await calls.warm()
      const revocations = [revoke(0, id), revoke(1, id)]
      t.equal(await Promise.race(revocations), 204)
      calls.ended()
      await calls.stop()
      t.strictSame(await Promise.all(revocations), [204, 204])
      t.ok(calls.late.every((status) => status === 401), `${calls.late}`)
    }
    for (const app of both.apps) await app.close()
    t.equal(both.events.filter(({ type }) => type === 'revoked').length, 6, 'each is told once')
  }
)

t.test(
  'a revocation and a rotation at once: the old key is dead, and a successor exists if and only if its caller got it',
  options,
  async (t) => {
    const both = await replicas(t)
    const { create, rotate, revoke, list, use } = callers(both)
    for (let round = 0; round < 10; round++) {
      const { id, plaintext } = await create()
      const calls = hammer(use, plaintext)
      await calls.warm()
      const [rotated, revoked] = await Promise.all([rotate(0, id), revoke(1, id)])
      calls.ended()
      await calls.stop()
      t.equal(revoked, 204)
      t.ok(calls.late.every((status) => status === 401), `${calls.late}`)
      const successors = (await list()).filter(({ replaces }) => replaces === id)
      if (rotated.statusCode === 201) {
        t.strictSame(successors.map(({ id, status }) => [id, status]), [[rotated.json().id, 'active']])
        t.strictSame([await use(0, rotated.json().plaintext), await use(1, rotated.json().plaintext)], [200, 200])
      } else {
        t.equal(rotated.json().code, 'DUAL_AUTH_KEY_INACTIVE')
        t.strictSame(successors, [])
      }
    }
  }
)

t.test('rotations at once on two replicas make one successor, and only its key works', options, async (t) => {
  const both = await replicas(t)
  const { create, rotate, list, use } = callers(both)
  for (let round = 0; round < 6; round++) {
    const { id, plaintext } = await create()
    const responses = await Promise.all(Array.from({ length: 8 }, (_, n) => rotate(n % 2, id)))
    const [won, ...others] = responses.filter(({ statusCode }) => statusCode === 201)
    t.strictSame(others, [])
    t.strictSame(
      [...new Set(responses.filter((response) => response !== won).map((response) => response.json().code))],
      ['DUAL_AUTH_KEY_REPLACED']
    )
    const successor = won!.json()
    const keys = await list(1)
    t.strictSame(keys.filter(({ replaces }) => replaces === id).map(({ id }) => id), [successor.id])
    t.equal(keys.find((key) => key.id === id)?.replaced_by, successor.id)
    t.strictSame(
      await Promise.all([
        use(0, plaintext),
        use(1, plaintext),
        use(0, successor.plaintext),
        use(1, successor.plaintext)
      ]),
      [200, 200, 200, 200]
    )
  }
  for (const app of both.apps) await app.close()
  t.equal(both.events.filter(({ type }) => type === 'rotated').length, 6, 'each is told once')
  t.equal(both.events.filter(({ type }) => type === 'first_used').length, 12, 'so is a first use on both')
})

t.test(
  'a rotation without a grace: a call with the old key that begins after it is 401 on both replicas',
  options,
  async (t) => {
    const both = await replicas(t)
    const { create, rotate, use } = callers(both)
    for (let round = 0; round < 6; round++) {
      const { id, plaintext } = await create()
      const calls = hammer(use, plaintext)
      await calls.warm()
      const { statusCode } = await rotate(round % 2, id, 0)
      calls.ended()
      await calls.stop()
      t.equal(statusCode, 201)
      t.ok(calls.late.every((status) => status === 401), `${calls.late}`)
    }
  }
)

t.test('creations and rotations at once do not pass twice the limit', options, async (t) => {
  const database = await serverDatabase()
  t.teardown(() => database.close())
  await createApiKeysTable(database.knex)
  const { app, issuer } = await build(t, {
    store: knexStore(database.knex),
    apiKeys: { maxPerOwner: 3, storeTimeout: 60_000 }
  })
  const headers = bearer(issuer.user())
  const post = async (url: string) =>
    app.inject({ method: 'POST', url, headers, payload: url === PATH ? { name: 'x' } : {} })
  for (let round = 0; round < 4; round++) {
    const ids: string[] = (await app.inject({ url: PATH, headers })).json().map(({ id }: { id: string }) => id)
    await Promise.all([...Array(6).fill(PATH), ...ids.map((id) => `${PATH}${id}/rotate`)].map(post))
  }
  const keys: Array<{ status: string, replaced_by: string | null }> = (await app.inject({ url: PATH, headers })).json()
  t.equal(keys.length, 6)
  t.equal(keys.filter((key) => key.replaced_by === null).length, 3)
})

t.test('a revocation that is about to be committed wins over a rotation that began before', options, async (t) => {
  const { knex: db, close } = await serverDatabase()
  t.teardown(close)
  await createApiKeysTable(db)
  const store = knexStore(db)
  const key = newKey()
  await store.insert(key, 10)
  let commit = () => {}
  let begun = () => {}
  const isRevoked = new Promise<void>((resolve) => {
    commit = resolve
  })
  const revoking = new Promise<void>((resolve) => {
    begun = resolve
  })
  const revocation = store.revoke(key.ownerId, key.id, 'ada', new Date(), async () => {
    begun()
    await isRevoked
  })
  await revoking
  let planned = 0
  const rotation = store.rotate(key.ownerId, key.id, new Date(), ({ key: found }) => {
    planned++
    t.equal(found.revokedAt, null, 'not committed yet')
    return { successor: newKey(), expiresAt: null, revokedAt: null }
  }, async () => {
    t.fail('told')
  })
  const refused = t.rejects(rotation, { code: 'DUAL_AUTH_KEY_INACTIVE' })
  // Until the rotation waits for the revocation.
  const waiting = async () =>
    (await db.raw("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")).rows
      .length
  while (await waiting() === 0) await new Promise((resolve) => setImmediate(resolve))
  commit()
  t.equal(await revocation, true)
  await refused
  t.equal(planned, 1)
  const { keys } = await store.list(key.ownerId, { at: new Date(), skip: 0, limit: 10, filter: {}, sort: null })
  t.match(keys, [{ id: key.id, replacedBy: null }])
  t.equal(keys.length, 1)
  t.not(keys[0]?.revokedAt, null)
})

t.test('a rotation and the deletion of its owner at once do not wait for each other', options, async (t) => {
  const { knex: db, close } = await serverDatabase()
  t.teardown(close)
  await createApiKeysTable(db)
  await db.raw(
    'create table owners (id text primary key); alter table api_keys add foreign key (owner_id) references owners ' +
      'on delete cascade'
  )
  const store = knexStore(db)
  const outcomes: string[] = []
  for (let round = 0; round < 40; round++) {
    const key = newKey({ ownerId: `owner ${round}` })
    await db('owners').insert({ id: key.ownerId })
    await store.insert(key, 10)
    const rotation = store.rotate(
      key.ownerId,
      key.id,
      key.createdAt,
      () => ({ successor: newKey({ ownerId: key.ownerId }), expiresAt: null, revokedAt: null })
    )
    const [rotated] = await Promise.all([
      rotation.then((rotated) => rotated === null ? 'no such key' : 'rotated', ({ code }) => String(code)),
      db('owners').delete()
    ])
    outcomes.push(rotated)
  }
  t.strictSame(
    outcomes.filter((outcome) =>
      !['rotated', 'no such key', 'DUAL_AUTH_OWNER_UNKNOWN', 'DUAL_AUTH_KEY_INACTIVE'].includes(outcome)
    ),
    []
  )
  t.strictSame(await db('api_keys').select('id'), [])
})

/** A small generator of numbers, so that a failure can be repeated. */
function random (seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor(state / 2 ** 32 * below)
  }
}

const RUNS = Number(process.env.LIFE_RUNS ?? 10)

/** Lives of keys in which anything may follow anything, by a model of which of them work. */
async function live (t: Test, store: ApiKeyStore, runs: number): Promise<void> {
  const { app, issuer } = await build(t, { store, apiKeys: { maxPerOwner: 4, storeTimeout: 60_000 } })
  // The clock of a life goes on for hours.
  const headers = bearer(issuer.user({ exp: Math.floor(Date.now() / 1000) + 30 * 86_400 }))
  let rotations = 0
  for (let seed = 1; seed <= runs; seed++) {
    const pick = random(seed)
    const owner = '1d1f7a0e-0c43-4d2e-8f0b-7a1f3d0e2b02'
    const path = `/owners/${owner}/api-keys/`
    const keys: Array<{ id: string, plaintext: string, end: number }> = []
    let now = Date.now()
    for (let step = 0; step < 12; step++) {
      // Clocks of the store's rows and of the calls are this one.
      now += pick(3) * 1800_000
      await at(now, async () => {
        const key = keys[pick(keys.length)]
        const action = key === undefined ? 'create' : (['create', 'rotate', 'rotate', 'revoke'] as const)[pick(4)]!
        if (action === 'create') {
          const response = await app.inject({ method: 'POST', url: path, headers, payload: { name: 'x' } })
          if (response.statusCode === 201) keys.push({ ...response.json(), end: Infinity })
        } else if (action === 'rotate') {
          const grace = [0, 1800, 3600, 7200][pick(4)]!
          const response = await app.inject({
            method: 'POST',
            url: `${path}${key!.id}/rotate`,
            headers,
            payload: { grace }
          })
          if (response.statusCode === 201) {
            rotations++
            const { replaced, ...next } = response.json()
            key!.end = grace === 0 ? -Infinity : Math.min(key!.end, Date.parse(replaced.expires_at))
            keys.push({ ...next, end: next.expires_at === null ? Infinity : Date.parse(next.expires_at) })
          }
        } else if ((await app.inject({ method: 'DELETE', url: path + key!.id, headers })).statusCode === 204) {
          key!.end = -Infinity
        }
        for (const { plaintext, end } of keys) {
          const { statusCode } = await app.inject({ url: products(owner), headers: bearer(plaintext) })
          if (statusCode !== (end > now ? 200 : 401)) {
            t.fail(`seed ${seed}, step ${step}: ${statusCode} at ${end - now} ms before its end`)
          }
        }
      })
    }
    for (const { id } of keys) await app.inject({ method: 'DELETE', url: path + id, headers })
  }
  t.ok(rotations > runs, `${rotations} rotations in ${runs} lives`)
}

t.test('whatever happens to keys, one works until it is revoked or its grace is over, and never after', async (t) =>
  live(t, memoryStore(), RUNS))

t.test('the same in PostgreSQL', options, async (t) => {
  const database = await serverDatabase()
  t.teardown(() => database.close())
  await createApiKeysTable(database.knex)
  await live(t, knexStore(database.knex), Math.ceil(RUNS / 10))
})
