import t, { type Test } from 'tap'
import { randomBytes, randomUUID } from 'node:crypto'
import createKnex, { type Knex } from 'knex'
import { memoryStore, tableStore, type ApiKeyStore, type OnStored } from '../src/index.ts'
import { rowFromNewKey } from '../src/keys/key-row.ts'
import { createApiKeysTable, knexStore } from '../src/keys/knex.ts'
import { testStore } from '../src/testing/index.ts'
import { OWNER } from './build.ts'
import {
  embeddedDatabase,
  FOREIGN_MYSQL,
  mysqlDatabase,
  MARIADB_URL,
  serverDatabase,
  SERVER_URL,
  sqliteDatabase,
  type Database
} from '../../../test/databases.ts'
import { newKey } from './sample-key.ts'

const ALL = { at: new Date('2030-01-01T00:00:30Z'), skip: 0, limit: 100, filter: {}, sort: null }
const NONE = { active: 0, expired: 0, revoked: 0 }

// Its clocks change, which no time may depend on.
const embedded = await embeddedDatabase({}, { TimeZone: 'Europe/Zurich' })
t.teardown(() => embedded.close())
await createApiKeysTable(embedded.knex)

/**
 * The table in a database of a server, made by five replicas that start at once, and once more later; and two of them.
 */
async function onServer (database: Required<Database>): Promise<readonly ApiKeyStore[]> {
  t.teardown(() => database.close())
  await Promise.all(Array.from({ length: 5 }, () => createApiKeysTable(database.knex)))
  await createApiKeysTable(database.knex)
  const replica = createKnex({ ...database.knex.client.config, connection: database.url })
  t.teardown(() => replica.destroy())
  const stores = [knexStore(database.knex), knexStore(replica)]
  for (const store of stores) await store.ready?.()
  return stores
}

const sqlite = sqliteDatabase()
t.teardown(() => sqlite.close())
await createApiKeysTable(sqlite.knex)

const UNTESTED = {
  PostgreSQL: SERVER_URL === undefined && 'TEST_DATABASE_URL is not set: the store was tested on PGlite only',
  MariaDB: MARIADB_URL === undefined && 'TEST_MARIADB_URL is not set: the store was tested on SQLite only'
}
for (
  const [name, store] of [
    ['memory', memoryStore()],
    ['PGlite', knexStore(embedded.knex)],
    ['SQLite', knexStore(sqlite.knex)],
    ...UNTESTED.PostgreSQL === false ? [['PostgreSQL', await onServer(await serverDatabase())] as const] : [],
    ...UNTESTED.MariaDB === false
      ? [
        ['MariaDB', await onServer(await mysqlDatabase())] as const,
        ['MariaDB with foreign settings', await onServer(await mysqlDatabase({ settings: FOREIGN_MYSQL }))] as const
      ]
      : []
  ] as const
) {
  t.test(name, async (t) => {
    testStore((title, check) => t.test(title, check), store)
  })
}
for (const [name, skip] of Object.entries(UNTESTED)) if (skip !== false) t.test(name, { skip }, async () => {})

/** The table in a database of its own, for a test that changes its columns. */
async function tableOfItsOwn (t: Test): Promise<Knex> {
  const { knex, close } = await embeddedDatabase()
  t.teardown(close)
  await createApiKeysTable(knex)
  return knex
}

t.test('the owner ids of the table may become those of your own table', async (t) => {
  const knex = await tableOfItsOwn(t)
  await knex.raw('create table owners (id uuid primary key)')
  await knex.raw('alter table api_keys alter owner_id type uuid using owner_id::uuid')
  await knex.raw('alter table api_keys add foreign key (owner_id) references owners on delete cascade')
  const store = knexStore(knex)
  await knex('owners').insert({ id: OWNER })
  const key = newKey()
  t.equal(await store.insert(key, 1), true)
  for (const ownerId of [OWNER, OWNER.toUpperCase()]) {
    t.equal(await store.insert(newKey({ ownerId }), 1), false, 'the limit counts on')
  }
  t.match(await store.list(OWNER, ALL), { keys: [{ id: key.id, ownerId: OWNER }], count: 1 })
  t.match(await store.find([key.fingerprint]), { ownerId: OWNER })
  const told: string[] = []
  const spelled = OWNER.toUpperCase()
  const tell: OnStored = async ({ ownerId }) => {
    told.push(ownerId)
  }
  const other = newKey({ ownerId: spelled })
  t.equal(await store.insert(other, 2, tell), true)
  const successor = newKey({ ownerId: spelled })
  await store.rotate(
    spelled,
    other.id,
    new Date(),
    () => ({ successor, expiresAt: null, revokedAt: null }),
    async ({ key, replaced }) => {
      told.push(key.ownerId, replaced.ownerId)
    }
  )
  t.equal(await store.revoke(spelled, key.id, 'ada', new Date(), tell), true)
  t.strictSame(told, Array(4).fill(OWNER), 'the host is told the spelling that is stored')
  await createApiKeysTable(knex)
  for (const ownerId of [randomUUID(), 'nope']) {
    await t.rejects(store.insert(newKey({ ownerId }), 1), { code: 'DUAL_AUTH_OWNER_UNKNOWN' }, ownerId)
  }
  t.strictSame(await store.list('nope', ALL), { keys: [], count: 0, counts: NONE })
  t.equal(await store.revoke('nope', key.id, 'ada', new Date()), false)
  t.equal(await store.rotate('nope', key.id, new Date(), () => t.fail('planned') as never), null)
  await knex('owners').delete()
  t.equal(await store.find([key.fingerprint]), null, 'the keys of an owner go with it')
})

t.test('what else a table of your own refuses is a failure, and not an owner that is not there', async (t) => {
  const knex = await tableOfItsOwn(t)
  await knex.raw('create table people (id uuid primary key)')
  await knex.raw(
    'alter table api_keys alter created_by type uuid using created_by::uuid, add foreign key (created_by) ' +
      'references people'
  )
  const store = knexStore(knex)
  await t.rejects(store.insert(newKey({ createdBy: 'user-1' }), 1), { code: '22P02' })
  await t.rejects(store.insert(newKey({ createdBy: OWNER }), 1), { code: '23503' })
})

t.test('a key of several columns to your owners, and ids that are numbers', async (t) => {
  const knex = await tableOfItsOwn(t)
  await knex.raw('create table owners (tenant text, id integer, primary key (tenant, id))')
  await knex.raw(
    "alter table api_keys alter owner_id type integer using owner_id::integer, add tenant text default 'a', add " +
      'foreign key (tenant, owner_id) references owners'
  )
  await knex('owners').insert({ tenant: 'a', id: 7 })
  const store = knexStore(knex)
  t.equal(await store.insert(newKey({ ownerId: '7' }), 1), true)
  for (const ownerId of ['8', 'seven', '99999999999']) {
    await t.rejects(store.insert(newKey({ ownerId }), 1), { code: 'DUAL_AUTH_OWNER_UNKNOWN' }, ownerId)
    t.strictSame(await store.list(ownerId, ALL), { keys: [], count: 0, counts: NONE }, ownerId)
  }
})

t.test('creations at once that spell one owner in several ways do not pass the limit', {
  skip: SERVER_URL === undefined && 'TEST_DATABASE_URL is not set: needs connections at once'
}, async (t) => {
  const { knex, close } = await serverDatabase()
  t.teardown(close)
  await createApiKeysTable(knex)
  await knex.raw('alter table api_keys alter owner_id type uuid using owner_id::uuid')
  const spellings = [OWNER, OWNER.toUpperCase(), `{${OWNER}}`, OWNER.replaceAll('-', '')]
  const store = knexStore(knex)
  const results = await Promise.all(
    Array.from({ length: 16 }, (_, i) => store.insert(newKey({ ownerId: String(spellings[i % 4]) }), 3))
  )
  t.equal(results.filter(Boolean).length, 3)
})

t.test('what is written on being told is kept if and only if the key is', async (t) => {
  const { knex, close } = await embeddedDatabase()
  t.teardown(close)
  await createApiKeysTable(knex)
  await knex.raw('create table audit (key_id uuid not null, revoked boolean not null)')
  const store = knexStore(knex)
  const key = newKey()
  const tell = (error?: Error): OnStored => async ({ id, revokedAt }, transaction) => {
    await (transaction as Knex.Transaction)('audit').insert({ key_id: id, revoked: revokedAt !== null })
    if (error !== undefined) throw error
  }
  await t.rejects(store.insert(key, 1, tell(new RangeError('too late'))), { message: 'too late' })
  t.strictSame(await knex('audit'), [])
  await store.insert(key, 1, tell())
  await t.rejects(store.revoke(OWNER, key.id, 'ada', new Date(), tell(new RangeError('too late'))), {
    message: 'too late'
  })
  await store.revoke(OWNER, key.id, 'ada', new Date(), tell())
  t.strictSame(await knex('audit'), [{ key_id: key.id, revoked: false }, { key_id: key.id, revoked: true }])
})

t.test('a key with an infinite time can be revoked, and takes no notice or use of others with it', async (t) => {
  const knex = await tableOfItsOwn(t)
  const store = knexStore(knex)
  const [now, past] = [new Date(), new Date(Date.now() - 100 * 86_400_000)]
  // Days without an end, and moments that no `Date` has.
  const odd = [['expires_at', 'infinity', 1], ['expires_at', '290000-01-01', 1], ['expires_at', '-infinity', 0], [
    'created_at',
    '-infinity',
    1
  ], ['last_used_at', '-infinity', 1]] as const
  for (const [column, value, unused] of odd) {
    const names = {
      bad: newKey({ name: 'bad', createdAt: past }),
      good: newKey({ name: 'good', createdAt: past }),
      due: newKey({ name: 'due', createdAt: past, expiresAt: new Date(now.getTime() + 86_400_000) })
    }
    for (const key of Object.values(names)) await store.insert(key, 100)
    await knex('api_keys').where({ id: names.bad.id }).update({ [column]: value })
    t.strictSame((await store.takeNotices(now, 100)).map(({ type, key }) => `${type} ${key.name}`).sort(), [
      'expiring due',
      ...unused === 0 ? [] : ['unused bad'],
      'unused due',
      'unused good'
    ], `${column} ${value}`)
    const uses = [names.bad, names.good].map(({ id }) => ({ id, networks: [] }))
    t.strictSame((await store.touch(uses, now, past)).map(({ key }) => key.name).sort(), [
      ...column === 'last_used_at' ? [] : ['bad'],
      'good'
    ], `${column} ${value}`)
    const told: unknown[] = []
    t.equal(
      await store.revoke(names.bad.ownerId, names.bad.id, 'ada', now, async (key) => {
        told.push([key.id, key.revokedAt])
      }),
      true
    )
    t.strictSame(told, [[names.bad.id, now]])
    t.not((await knex('api_keys').where({ id: names.bad.id }).first('revoked_at')).revoked_at, null)
  }
})

for (const [engine, { knex }] of [['PostgreSQL', embedded], ['SQLite', sqlite]] as const) {
  t.test(`of an owner's keys, a creation and a rotation read those that work, on ${engine}`, async (t) => {
    const store = knexStore(knex)
    const ownerId = randomUUID()
    const [now, past] = [new Date(), new Date(Date.now() - 1000)]
    for (let n = 0; n < 20; n++) {
      const key = newKey({ ownerId, createdAt: past, ...n % 2 === 0 && { expiresAt: now } })
      await store.insert(key, 100)
      if (n % 2 === 1) await store.revoke(ownerId, key.id, 'ada', now)
    }
    const good = newKey({ ownerId })
    await store.insert(good, 100)
    let read = 0
    const note = (rows: unknown): void => {
      const list: unknown = Array.isArray(rows) ? rows : (rows as { rows?: unknown }).rows
      if (Array.isArray(list)) read += list.length
    }
    knex.on('query-response', note)
    await store.insert(newKey({ ownerId }), 100)
    await store.rotate(
      ownerId,
      good.id,
      now,
      () => ({ successor: newKey({ ownerId }), expiresAt: null, revokedAt: null })
    )
    knex.off('query-response', note)
    t.ok(read > 0 && read < 10, `${read} rows`)
  })
}

t.test('PostgreSQL: uses of many keys are written by one statement', async (t) => {
  const store = knexStore(embedded.knex)
  const keys = Array.from({ length: 20 }, () => newKey({ ownerId: randomUUID() }))
  for (const key of keys) await store.insert(key, 1)
  const sent: string[] = []
  const note = ({ sql }: { sql: string }): void => {
    if (/\bupdate "/.test(sql)) sent.push(sql)
  }
  embedded.knex.on('query', note)
  const now = new Date()
  t.equal((await store.touch(keys.map(({ id }) => ({ id, networks: ['10.0.0.0/24'] })), now, now)).length, 20)
  embedded.knex.off('query', note)
  t.equal(sent.length, 1)
})

for (
  const [engine, skip, open] of [
    ['PostgreSQL', UNTESTED.PostgreSQL, serverDatabase],
    ['MariaDB', UNTESTED.MariaDB, mysqlDatabase]
  ] as const
) {
  t.test(`${engine}: a revocation does not wait while the host is told of another key`, { skip }, async (t) => {
    const { knex, close } = await open()
    t.teardown(close)
    await createApiKeysTable(knex)
    const store = knexStore(knex)
    const key = newKey()
    await store.insert(key, 10)
    const isRevoked = await new Promise<boolean>((resolve, reject) => {
      store.insert(newKey(), 10, async () => {
        resolve(await store.revoke(OWNER, key.id, 'ada', new Date()))
      }).catch(reject)
    })
    t.equal(isRevoked, true)
  })
}

t.test('the check at startup reads no keys', async (t) => {
  const store = knexStore(embedded.knex)
  await store.insert(newKey(), 1000)
  const read: number[] = []
  const note = (rows: readonly unknown[], { sql }: { sql: string }): void => {
    if (sql.includes('api_keys')) read.push(rows.length)
  }
  embedded.knex.on('query-response', note)
  await store.ready?.()
  embedded.knex.off('query-response', note)
  t.strictSame(read, [0])
})

t.test('the table can be created again, also inside a migration', async (t) => {
  await createApiKeysTable(embedded.knex)
  await embedded.knex.transaction(async (trx) => {
    await createApiKeysTable(trx)
  })
  t.equal(await embedded.knex.schema.hasTable('api_keys'), true)
})

t.test('the database refuses a fingerprint of another length and a second key with the same one', async (t) => {
  const store = knexStore(embedded.knex)
  const key = newKey()
  await store.insert(key, 1000)
  await t.rejects(store.insert(newKey({ fingerprint: randomBytes(31) }), 1000), { code: '23514' })
  await t.rejects(store.insert(newKey({ fingerprint: key.fingerprint }), 1000), { code: '23505' })
  await t.rejects(store.insert(newKey({ prefix: key.prefix }), 1000), { code: '23505' })
})

t.test('a table that lacks a function, or says that all is due, is an error and no endless loop', async (t) => {
  t.throws(() => tableStore({} as never), /transaction must be a function/)
  const endless = {
    transaction: async () => false,
    find: async () => [],
    insert: async () => {},
    update: async () => true,
    due: async () => [{ ...rowFromNewKey(newKey()), noticeAt: null }]
  }
  await t.rejects(
    tableStore(endless as never).takeNotices(new Date(), 10),
    /due of the table must return rows whose noticeAt is at or before the time, not null/
  )
})
