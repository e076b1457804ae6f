import type { Knex } from 'knex'
import t, { type Test } from 'tap'
import { randomBytes, randomUUID } from 'node:crypto'
import { memoryStore, type ApiKeyRecord, type ApiKeyStore, type OnStored } from '../src/index.ts'
import { createApiKeysTable, knexStore } from '../src/keys/knex.ts'
import { SHOP } from './build.ts'
import { embeddedDatabase, serverDatabase, SERVER_URL } from './databases.ts'
import { newKey, recordOf } from './sample-key.ts'

const embedded = await embeddedDatabase()
t.teardown(() => embedded.close())
await createApiKeysTable(embedded.knex)
const server = SERVER_URL === undefined ? null : await serverDatabase()
t.teardown(() => server?.close())
// Five replicas that start at once, and once more later.
if (server !== null) await Promise.all(Array.from({ length: 5 }, () => createApiKeysTable(server.knex)))
if (server !== null) await createApiKeysTable(server.knex)

const ALL = { at: new Date('2030-01-01T00:00:30Z'), skip: 0, limit: 100, filter: {}, sort: null }
const NONE = { active: 0, expired: 0, revoked: 0 }

/** What every store must do, whatever it keeps keys in. */
function contract (name: string, store: ApiKeyStore) {
  t.test(`${name}: finds a key by any of the fingerprints, with what verification needs`, async t => {
    const key = newKey({ expiresAt: new Date('2040-01-01T00:00:00.123Z') })
    t.equal(await store.insert(key, 100), true)
    const found = await store.find([randomBytes(32), key.fingerprint])
    t.match(found, { id: key.id, shopId: SHOP, scopes: key.scopes, pepperId: 'p1', expiresAt: key.expiresAt, revokedAt: null })
    t.ok(found?.hash.equals(key.hash))
    t.ok(found?.fingerprint.equals(key.fingerprint))
    t.equal(await store.find([randomBytes(32)]), null)
    t.equal(await store.find([key.hash.subarray(0, 32)]), null)
  })

  t.test(`${name}: a key that ends at this moment is no longer one of the active keys`, async t => {
    const shopId = randomUUID()
    const end = new Date('2030-01-01T00:00:00Z')
    await store.insert(newKey({ shopId, createdAt: new Date(+end - 2), expiresAt: end }), 1)
    t.equal(await store.insert(newKey({ shopId, createdAt: new Date(+end - 1) }), 1), false)
    t.equal(await store.insert(newKey({ shopId, createdAt: end }), 1), true)
  })

  t.test(`${name}: lists the keys of one shop, newest first, without anything secret`, async t => {
    const shopId = randomUUID()
    const old = newKey({ shopId, createdAt: new Date('2030-01-01T00:00:00.001Z') })
    const young = newKey({ shopId, createdAt: new Date('2030-01-01T00:00:00.002Z'), scopes: [] })
    await store.insert(young, 100)
    await store.insert(old, 100)
    await store.insert(newKey({ shopId: randomUUID() }), 100)
    const counts = { ...NONE, active: 2 }
    t.strictSame(await store.list(shopId, ALL), { keys: [young, old].map(recordOf), count: 2, counts })
    t.strictSame(await store.list(randomUUID(), ALL), { keys: [], count: 0, counts: NONE })
    for (const [skip, limit, keys] of [[0, 1, [young]], [1, 1, [old]], [1, 5, [old]], [2, 5, []], [9, 1, []]] as const) {
      t.strictSame(await store.list(shopId, { ...ALL, skip, limit }), { keys: keys.map(recordOf), count: 2, counts }, `${skip} ${limit}`)
    }
  })

  t.test(`${name}: lists active keys before the others, filters by every field and sorts by those of one value`, async t => {
    const shopId = randomUUID()
    const at = (n: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, n, 5))
    const keys = [
      newKey({ shopId, name: 'Printer', prefix: 'ccc1', scopes: [], createdAt: at(1) }),
      newKey({ shopId, name: 'Till 100%', prefix: 'bbb2', scopes: ['read'], createdAt: at(2), expiresAt: at(50) }),
      newKey({ shopId, name: 'Robot', prefix: 'aaa3', scopes: ['write', 'read'], createdAt: at(3), createdBy: 'robot' }),
      newKey({ shopId, name: 'Printer', prefix: 'ddd4', scopes: ['list_tags'], createdAt: at(4), expiresAt: at(40) })
    ]
    for (const key of keys) await store.insert(key, 100)
    await store.touch([{ id: keys[0]!.id, networks: ['203.0.113.0/24'] }], at(20), at(19))
    await store.revoke(shopId, keys[2]!.id, 'ada', at(30))
    await store.revoke(shopId, keys[3]!.id, 'ada', at(31))
    const found = async (query: Partial<Parameters<ApiKeyStore['list']>[1]>) => {
      const { keys: page, count, counts } = await store.list(shopId, { ...ALL, ...query })
      t.equal(count, page.length)
      t.strictSame(counts, query.at === undefined || query.at < at(50) ? { active: 2, expired: 0, revoked: 2 } : { active: 1, expired: 1, revoked: 2 }, 'of the whole shop')
      return page.map(({ prefix }) => prefix.at(-1)).join('')
    }
    const ids = keys.map(({ id }) => id)
    t.equal(await found({}), '2143', 'active first, then the newest first')
    t.equal(await found({ at: at(49) }), '2143')
    t.equal(await found({ at: at(50) }), '1432', 'an expired key is not active')
    for (const [status, before, after] of [['active', '21', '1'], ['expired', '', '2'], ['revoked', '43', '43']] as const) {
      t.equal(await found({ filter: { status } }), before, status)
      t.equal(await found({ filter: { status }, at: at(50) }), after, status)
    }
    for (const [filter, wanted] of [
      [{ revoked: false }, '21'], [{ revoked: true }, '43'], [{ id: [ids[3]!, ids[0]!] }, '14'], [{ id: [randomUUID()] }, ''],
      [{ name: ['Printer'] }, '14'], [{ prefix: ['aaa3', 'bbb2'] }, '23'], [{ created_at: [at(2).toISOString()] }, '2'],
      [{ last_used_at: [at(20).toISOString()] }, '1'], [{ last_used_at: [null] }, '243'], [{ expires_at: [null, at(40).toISOString()] }, '143'],
      [{ revoked_at: [at(30).toISOString()] }, '3'], [{ created_by: ['robot'] }, '3'], [{ last_used_network: ['203.0.113.0/24'] }, '1'], [{ replaces: [null] }, '2143'], [{ replaced_by: [randomUUID()] }, ''], [{ scopes: ['read'] }, '23'], [{ scopes: ['list_tags', 'write'] }, '43'],
      [{ q: 'pRINT' }, '14'], [{ q: '%' }, '2'], [{ q: '_' }, ''], [{ q: 'BB' }, '2'], [{ q: 'r', revoked: false, name: ['Printer', 'Robot'] }, '1']
    ] as const) t.equal(await found({ filter }), wanted, JSON.stringify(filter))
    for (const [field, ascending, descending] of [
      ['prefix', '3214', '4123'], ['created_at', '1234', '4321'], ['revoked_at', '34', '43'], ['expires_at', '42', '24'], ['last_used_at', '1', '1']
    ] as const) {
      t.equal((await found({ sort: { field, descending: false } })).slice(0, ascending.length), ascending, field)
      t.equal((await found({ sort: { field, descending: true } })).slice(0, descending.length), descending, `-${field}`)
    }
    const otherShop = randomUUID()
    const twins = [1, 2].map(() => newKey({ shopId: otherShop, createdAt: at(1) }))
    for (const key of twins) await store.insert(key, 100)
    t.strictSame((await store.list(otherShop, ALL)).keys.map(({ id }) => id), twins.map(({ id }) => id).toSorted().reverse(), 'of the same moment, by their ids')
    const byName = await found({ sort: { field: 'name', descending: false } })
    t.equal(byName, [...(await found({ sort: { field: 'name', descending: true } }))].reverse().join(''), 'ties in the direction of the field')
    t.strictSame((await store.list(shopId, { ...ALL, sort: { field: 'id', descending: false } })).keys.map(({ id }) => id), ids.toSorted())
  })

  t.test(`${name}: revokes once, for the right shop only`, async t => {
    const shopId = randomUUID()
    const key = newKey({ shopId })
    await store.insert(key, 100)
    t.equal(await store.revoke(randomUUID(), key.id, 'eve', new Date()), false)
    t.equal(await store.revoke(shopId, randomUUID(), 'eve', new Date()), false)
    t.equal((await store.find([key.fingerprint]))?.revokedAt, null)
    const at = new Date('2031-01-01T00:00:00.000Z')
    t.equal(await store.revoke(shopId, key.id, 'ada', at), true)
    t.equal(await store.revoke(shopId, key.id, 'eve', new Date('2032-01-01')), true)
    t.strictSame((await store.find([key.fingerprint]))?.revokedAt, at)
    t.strictSame((await store.list(shopId, ALL)).keys[0]?.revokedAt, at)
  })

  t.test(`${name}: tells of a key that is made or revoked, once, and undoes it if that fails`, async t => {
    const shopId = randomUUID()
    const key = newKey({ shopId })
    const record = recordOf(key)
    const at = new Date('2030-01-01T00:00:00.000Z')
    const told: ApiKeyRecord[] = []
    const tell: OnStored = async record => { told.push(record) }
    const fail: OnStored = async () => { throw new RangeError('not told') }

    await t.rejects(store.insert(key, 1, fail), { message: 'not told' })
    t.strictSame(await store.list(shopId, ALL), { keys: [], count: 0, counts: NONE })
    t.equal(await store.insert(key, 1, tell), true)
    t.equal(await store.insert(newKey({ shopId }), 1, tell), false)
    await t.rejects(store.revoke(shopId, key.id, 'ada', at, fail), { message: 'not told' })
    t.strictSame((await store.list(shopId, ALL)).keys, [record])
    t.equal(await store.revoke(randomUUID(), key.id, 'ada', at, tell), false)
    t.equal(await store.revoke(shopId, key.id, 'ada', at, tell), true)
    t.equal(await store.revoke(shopId, key.id, 'ben', new Date(), tell), true)
    t.strictSame(told, [record, { ...record, revokedAt: at }])
  })

  t.test(`${name}: a shop has at most so many keys that are neither revoked nor expired`, async t => {
    const shopId = randomUUID()
    const first = newKey({ shopId })
    t.equal(await store.insert(first, 2), true)
    t.equal(await store.insert(newKey({ shopId, createdAt: new Date(Date.now() - 2000), expiresAt: new Date(Date.now() - 1000) }), 2), true)
    t.equal(await store.insert(newKey({ shopId }), 2), true)
    t.equal(await store.insert(newKey({ shopId }), 2), false)
    await store.revoke(shopId, first.id, 'ada', new Date())
    t.equal(await store.insert(newKey({ shopId }), 2), true)
  })

  t.test(`${name}: ten creations at once do not pass the limit`, async t => {
    const shopId = randomUUID()
    const results = await Promise.all(Array.from({ length: 10 }, () => store.insert(newKey({ shopId }), 3)))
    t.equal(results.filter(Boolean).length, 3)
    t.equal((await store.list(shopId, ALL)).count, 3)
  })

  t.test(`${name}: replaces the derived values unless somebody was faster`, async t => {
    const key = newKey()
    await store.insert(key, 1000)
    const next = { fingerprint: randomBytes(32), pepperId: 'p2', hash: randomBytes(96) }
    await store.rehash(key.id, randomBytes(96), next)
    t.equal(await store.find([next.fingerprint]), null)
    await store.rehash(key.id, key.hash, next)
    t.equal(await store.find([key.fingerprint]), null)
    const found = await store.find([next.fingerprint])
    t.match(found, { id: key.id, pepperId: 'p2' })
    t.ok(found?.hash.equals(next.hash))
  })

  t.test(`${name}: notes the use of keys, not of revoked ones, and not too often`, async t => {
    const shopId = randomUUID()
    const [a, b, revoked] = [newKey({ shopId }), newKey({ shopId }), newKey({ shopId })] as const
    for (const key of [a, b, revoked]) await store.insert(key, 100)
    await store.revoke(shopId, revoked.id, 'ada', new Date())
    const used = async () => Object.fromEntries((await store.list(shopId, ALL)).keys.map(({ id, lastUsedAt }) => [id, lastUsedAt]))
    const minute = (n: number) => new Date(Date.UTC(2030, 0, 1, 0, n))
    const touch = async (ids: string[], at: Date, unlessAfter: Date) => store.touch(ids.map(id => ({ id, networks: [] })), at, unlessAfter)
    await touch([a.id, revoked.id], minute(1), minute(0))
    t.strictSame(await used(), { [a.id]: minute(1), [b.id]: null, [revoked.id]: null })
    await touch([a.id, b.id], minute(2), minute(1))
    t.strictSame(await used(), { [a.id]: minute(1), [b.id]: minute(2), [revoked.id]: null })
    await touch([a.id, b.id], minute(3), minute(2))
    t.strictSame(await used(), { [a.id]: minute(3), [b.id]: minute(2), [revoked.id]: null })
  })
}

contract('memory', memoryStore())
contract('PGlite', knexStore(embedded.knex))
if (server === null) t.test('PostgreSQL', { skip: 'TEST_DATABASE_URL is not set: the store was tested on PGlite only' }, async () => {})
else contract('PostgreSQL', knexStore(server.knex))

/** The table in a database of its own, for a test that changes its columns. */
async function tableOfItsOwn (t: Test): Promise<Knex> {
  const { knex, close } = await embeddedDatabase()
  t.teardown(close)
  await createApiKeysTable(knex)
  return knex
}

t.test('the shop ids of the table may become those of your own table', async t => {
  const knex = await tableOfItsOwn(t)
  await knex.raw('create table shops (id uuid primary key)')
  await knex.raw('alter table api_keys alter shop_id type uuid using shop_id::uuid')
  await knex.raw('alter table api_keys add foreign key (shop_id) references shops on delete cascade')
  const store = knexStore(knex)
  await knex('shops').insert({ id: SHOP })
  const key = newKey()
  t.equal(await store.insert(key, 1), true)
  for (const shopId of [SHOP, SHOP.toUpperCase()]) t.equal(await store.insert(newKey({ shopId }), 1), false, 'the limit counts on')
  t.match(await store.list(SHOP, ALL), { keys: [{ id: key.id, shopId: SHOP }], count: 1 })
  t.match(await store.find([key.fingerprint]), { shopId: SHOP })
  t.equal(await store.revoke(SHOP, key.id, 'ada', new Date()), true)
  await createApiKeysTable(knex)
  for (const shopId of [randomUUID(), 'nope']) await t.rejects(store.insert(newKey({ shopId }), 1), { code: 'DUAL_AUTH_SHOP_UNKNOWN' }, shopId)
  t.strictSame(await store.list('nope', ALL), { keys: [], count: 0, counts: NONE })
  t.equal(await store.revoke('nope', key.id, 'ada', new Date()), false)
  await knex('shops').delete()
  t.equal(await store.find([key.fingerprint]), null, 'the keys of a shop go with it')
})

t.test('what else a table of your own refuses is a failure, and not a shop that is not there', async t => {
  const knex = await tableOfItsOwn(t)
  await knex.raw('create table people (id uuid primary key)')
  await knex.raw('alter table api_keys alter created_by type uuid using created_by::uuid, add foreign key (created_by) references people')
  const store = knexStore(knex)
  await t.rejects(store.insert(newKey({ createdBy: 'user-1' }), 1), { code: '22P02' })
  await t.rejects(store.insert(newKey({ createdBy: SHOP }), 1), { code: '23503' })
})

t.test('a key of several columns to your shops, and ids that are numbers', async t => {
  const knex = await tableOfItsOwn(t)
  await knex.raw('create table shops (tenant text, id integer, primary key (tenant, id))')
  await knex.raw("alter table api_keys alter shop_id type integer using shop_id::integer, add tenant text default 'a', add foreign key (tenant, shop_id) references shops")
  await knex('shops').insert({ tenant: 'a', id: 7 })
  const store = knexStore(knex)
  t.equal(await store.insert(newKey({ shopId: '7' }), 1), true)
  for (const shopId of ['8', 'seven', '99999999999']) {
    await t.rejects(store.insert(newKey({ shopId }), 1), { code: 'DUAL_AUTH_SHOP_UNKNOWN' }, shopId)
    t.strictSame(await store.list(shopId, ALL), { keys: [], count: 0, counts: NONE }, shopId)
  }
})

t.test('creations at once that spell one shop in several ways do not pass the limit', { skip: server === null && 'TEST_DATABASE_URL is not set: needs connections at once' }, async t => {
  const { knex, close } = await serverDatabase()
  t.teardown(close)
  await createApiKeysTable(knex)
  await knex.raw('alter table api_keys alter shop_id type uuid using shop_id::uuid')
  const spellings = [SHOP, SHOP.toUpperCase(), `{${SHOP}}`, SHOP.replaceAll('-', '')]
  const store = knexStore(knex)
  const results = await Promise.all(Array.from({ length: 16 }, (_, i) => store.insert(newKey({ shopId: String(spellings[i % 4]) }), 3)))
  t.equal(results.filter(Boolean).length, 3)
})

t.test('what is written on being told is kept if and only if the key is', async t => {
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
  await t.rejects(store.revoke(SHOP, key.id, 'ada', new Date(), tell(new RangeError('too late'))), { message: 'too late' })
  await store.revoke(SHOP, key.id, 'ada', new Date(), tell())
  t.strictSame(await knex('audit'), [{ key_id: key.id, revoked: false }, { key_id: key.id, revoked: true }])
})

t.test('the check at startup reads no keys', async t => {
  const store = knexStore(embedded.knex)
  await store.insert(newKey(), 1000)
  const read: number[] = []
  const note = (rows: readonly unknown[]): void => { read.push(rows.length) }
  embedded.knex.on('query-response', note)
  await store.ready?.()
  embedded.knex.off('query-response', note)
  t.strictSame(read, [0])
})

t.test('the table can be created again, also inside a migration', async t => {
  await createApiKeysTable(embedded.knex)
  await embedded.knex.transaction(async trx => { await createApiKeysTable(trx) })
  t.equal(await embedded.knex.schema.hasTable('api_keys'), true)
})

t.test('the database refuses a fingerprint of another length and a second key with the same one', async t => {
  const store = knexStore(embedded.knex)
  const key = newKey()
  await store.insert(key, 1000)
  await t.rejects(store.insert(newKey({ fingerprint: randomBytes(31) }), 1000), { code: '23514' })
  await t.rejects(store.insert(newKey({ fingerprint: key.fingerprint }), 1000), { code: '23505' })
  await t.rejects(store.insert(newKey({ prefix: key.prefix }), 1000), { code: '23505' })
})
