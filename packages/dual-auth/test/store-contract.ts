import type { Test } from 'tap'
import { randomBytes, randomUUID } from 'node:crypto'
import type { ApiKeyRecord, ApiKeyStore, OnStored } from '../src/index.ts'
import { SHOP } from './build.ts'
import { newKey, recordOf } from './sample-key.ts'

export const ALL = { at: new Date('2030-01-01T00:00:30Z'), skip: 0, limit: 100, filter: {}, sort: null }
export const NONE = { active: 0, expired: 0, revoked: 0 }

/** What every store must do, whatever it keeps keys in, and whatever its sessions are set to. */
export function storeContract (t: Test, name: string, store: ApiKeyStore): void {
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

  t.test(`${name}: q finds letters of every alphabet in either case, and takes signs for themselves`, async t => {
    const shopId = randomUUID()
    const names = ['Élan', 'ΚΛΕΙΔΊ', 'Ключ', 'Straße', 'ŁÓDŹ', 'a.b*c', 'a^b$c|d', 'x[y]-z\\d', '(1+1){2}?', '***:100%_!', '\u{10428}\u{1F511}', 'äx']
    for (const name of names) await store.insert(newKey({ shopId, name }), 100)
    const found = async (q: string) => (await store.list(shopId, { ...ALL, filter: { q } })).keys.map(({ name }) => name).sort()
    for (const whole of names) {
      for (const q of [whole, whole.toLowerCase(), [...whole].slice(1).join(''), [...whole].slice(0, 2).join('')]) t.ok((await found(q)).includes(whole), `${q} finds ${whole}`)
    }
    for (const [q, wanted] of [['ÉLAN', 'Élan'], ['éL', 'Élan'], ['κλειδί', 'ΚΛΕΙΔΊ'], ['КЛЮЧ', 'Ключ'], ['łódź', 'ŁÓDŹ'], ['Ä', 'äx'], ['\u{10400}', '\u{10428}\u{1F511}']] as const) t.strictSame(await found(q), [wanted], q)
    for (const q of ['elan', 'a?b', 'a.*c', '^a', '[a-z]', '\\w', '.', '(?i)É'].filter(q => !names.some(name => name.includes(q)))) t.strictSame(await found(q), [], q)
  })

  t.test(`${name}: q finds names that were stored in another spelling, and what shows nothing does not find everything`, async t => {
    const shopId = randomUUID()
    const names = ['old\u00a0key', 'new key', 'Cafe\u0301 1', 'Caf\u00e9 2', '\u0130stanbul', 'D\u0131\u015f', 'x\u200by|z']
    for (const name of names) await store.insert(newKey({ shopId, name }), 100)
    const found = async (q: string) => (await store.list(shopId, { ...ALL, filter: { q } })).keys.map(({ name }) => name).sort()
    for (const [q, wanted] of [
      ['OLD\u00a0k', ['old\u00a0key']], ['new\u00a0k', ['new key']], ['cafe\u0301', ['Cafe\u0301 1', 'Caf\u00e9 2']], ['caf\u00e9', ['Caf\u00e9 2']],
      ['istanbul', ['\u0130stanbul']], ['\u0130STANBUL', ['\u0130stanbul']], ['DI\u015e', ['D\u0131\u015f']], ['di\u015f', ['D\u0131\u015f']],
      ['\u200b', ['x\u200by|z']], ['\u00ad', []], ['y|z', ['x\u200by|z']], ['', [...names].sort()]
    ] as const) t.strictSame(await found(q), wanted, encodeURIComponent(q))
  })
}
