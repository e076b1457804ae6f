import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import type { ApiKeyStore, KeyUse, NewApiKey, Rotation } from '../src/index.ts'
import { newKey, recordOf } from './sample-key.ts'

const start = new Date('2030-01-01T00:00:00.000Z')
const after = (days: number) => new Date(+start + days * 86_400_000)
const HERE = '203.0.113.0/24'
const THERE = '198.51.100.0/24'

/** What every store must do with a key in the course of its life. */
export function lifeContract (t: Test, name: string, store: ApiKeyStore): void {
  const listed = async (shopId: string, at = start) => (await store.list(shopId, { at, skip: 0, limit: 100, filter: {}, sort: { field: 'created_at', descending: false } })).keys
  const inserted = async (change: Partial<NewApiKey> = {}) => {
    const key = newKey({ shopId: randomUUID(), createdAt: start, ...change })
    await store.insert(key, 100)
    return key
  }

  t.test(`${name}: a rotation reads the key and writes it and its successor`, async t => {
    const key = await inserted({ expiresAt: after(90) })
    await inserted({ shopId: key.shopId, createdAt: after(-20), expiresAt: after(-10) })
    const successor = newKey({ shopId: key.shopId, createdAt: after(1), createdBy: 'ada', expiresAt: after(91) })
    const told: unknown[] = []
    const rotated = await store.rotate(key.shopId, key.id, after(1), found => {
      t.strictSame(found, { key: recordOf(key), successor: null, working: 1 })
      return { successor, expiresAt: after(2), revokedAt: null }
    }, async rotated => { told.push(rotated) })
    const expected = { key: { ...recordOf(successor), replaces: key.id }, replaced: { ...recordOf(key), expiresAt: after(2), replacedBy: successor.id } }
    t.strictSame(rotated, expected)
    t.strictSame(told, [expected])
    t.strictSame((await listed(key.shopId)).slice(1), [expected.replaced, expected.key])
    t.match(await store.find([successor.fingerprint]), { id: successor.id, pepperId: successor.pepperId, expiresAt: after(91), revokedAt: null })
    t.match(await store.find([key.fingerprint]), { id: key.id, expiresAt: after(2), revokedAt: null })

    // Once more, at once, after the successor was lost.
    await store.revoke(key.shopId, successor.id, 'ada', after(1))
    const next = newKey({ shopId: key.shopId, createdAt: after(1), createdBy: 'ben' })
    await store.rotate(key.shopId, key.id, after(1), found => {
      t.strictSame(found, { key: expected.replaced, successor: { ...expected.key, revokedAt: after(1) }, working: 1 })
      return { successor: next, expiresAt: after(2), revokedAt: after(1) }
    })
    t.match(await store.find([key.fingerprint]), { expiresAt: after(2), revokedAt: after(1) })
    t.equal((await listed(key.shopId)).find(({ id }) => id === key.id)?.replacedBy, next.id)
  })

  t.test(`${name}: the successor of a key is the last in the line that works, or else the last`, async t => {
    const line = [await inserted(), newKey(), newKey(), newKey()].map(key => ({ ...key, createdAt: start }))
    const { shopId, id } = line[0]!
    for (const [index, successor] of line.slice(1).entries()) {
      await store.rotate(shopId, line[index]!.id, start, () => ({ successor: { ...successor, shopId }, expiresAt: after(9), revokedAt: null }))
    }
    const stop = new RangeError('only looking')
    const successorAt = async (at: Date) => {
      let found: string | undefined
      await t.rejects(store.rotate(shopId, id, at, ({ successor }) => { found = successor?.id; throw stop }), stop)
      return found
    }
    t.equal(await successorAt(after(1)), line[3]!.id)
    await store.revoke(shopId, line[3]!.id, 'ada', start)
    t.equal(await successorAt(after(1)), line[2]!.id, 'the last one is revoked')
    t.equal(await successorAt(after(9)), line[3]!.id, 'the others have expired')
  })

  t.test(`${name}: a rotation that fails leaves nothing, whoever fails`, async t => {
    const key = await inserted()
    const plan = (): Rotation => ({ successor: newKey({ shopId: key.shopId }), expiresAt: after(1), revokedAt: null })
    const before = await listed(key.shopId)
    await t.rejects(store.rotate(key.shopId, key.id, start, () => { throw new RangeError('not this one') }), { message: 'not this one' })
    await t.rejects(store.rotate(key.shopId, key.id, start, plan, async () => { throw new RangeError('not told') }), { message: 'not told' })
    t.strictSame(await listed(key.shopId), before)
    for (const [shopId, id] of [[randomUUID(), key.id], [key.shopId, randomUUID()]] as const) {
      t.equal(await store.rotate(shopId, id, start, plan, async () => { t.fail('told') }), null)
    }
    t.strictSame(await listed(key.shopId), before)
  })

  t.test(`${name}: a revocation during a rotation that fails is not undone with it`, async t => {
    const key = await inserted()
    let fail = () => {}
    let told = () => {}
    const isTold = new Promise<void>(resolve => { told = resolve })
    const failing = new Promise<void>((_resolve, reject) => { fail = () => reject(new RangeError('not told')) })
    const rotation = t.rejects(store.rotate(key.shopId, key.id, start, () => ({ successor: newKey({ shopId: key.shopId }), expiresAt: after(1), revokedAt: null }), async () => { told(); await failing }), { message: 'not told' })
    await isTold
    // On one connection it waits for the transaction to begin at all.
    const revocation = store.revoke(key.shopId, key.id, 'ada', after(1))
    fail()
    await rotation
    t.equal(await revocation, true)
    t.strictSame(await listed(key.shopId), [{ ...recordOf(key), revokedAt: after(1) }])
  })

  t.test(`${name}: keys that are replaced make room for their successors, and no more than twice the limit work`, async t => {
    const shopId = randomUUID()
    const insert = async () => store.insert(newKey({ shopId, createdAt: start }), 2)
    const keys = [newKey({ shopId, createdAt: start }), newKey({ shopId, createdAt: start })]
    for (const key of keys) await store.insert(key, 2)
    t.equal(await insert(), false)
    for (const [n, key] of keys.entries()) {
      const successor = newKey({ shopId, createdAt: start })
      await store.rotate(shopId, key.id, start, ({ working }) => {
        t.equal(working, 2 + n)
        return { successor, expiresAt: after(1), revokedAt: null }
      })
      t.equal(await insert(), false)
      await store.revoke(shopId, successor.id, 'ada', start)
      // The old key works, but somebody meant to replace it: it leaves room.
      t.equal(await insert(), true)
    }
    t.equal(await insert(), false, 'four work')
    const [one, other] = (await listed(shopId)).filter(({ replacedBy, revokedAt }) => replacedBy === null && revokedAt === null)
    await store.revoke(shopId, one!.id, 'ada', start)
    await store.rotate(shopId, other!.id, start, () => ({ successor: newKey({ shopId, createdAt: start }), expiresAt: after(1), revokedAt: null }))
    t.equal(await insert(), false, 'four work, of which only one was not replaced')
  })

  t.test(`${name}: remembers the networks of a key, and returns its first use and new networks once`, async t => {
    const key = await inserted()
    const touch = async (minute: number, ...networks: string[]) => {
      const at = new Date(+start + minute * 60_000)
      return store.touch([{ id: key.id, networks }, { id: randomUUID(), networks }], at, new Date(+at - 60_000))
    }
    const shown = async () => {
      const [record] = await listed(key.shopId)
      return [record?.lastUsedAt && (+record.lastUsedAt - +start) / 60_000, record?.lastUsedNetwork]
    }
    t.match(await touch(1, HERE), [{ key: { id: key.id, lastUsedNetwork: HERE, lastUsedAt: new Date(+start + 60_000) }, isFirst: true, newNetworks: [] }])
    t.strictSame(await shown(), [1, HERE])
    for (const minute of [1.5, 2]) t.strictSame(await touch(minute, HERE), [], 'too soon')
    t.strictSame(await shown(), [1, HERE])
    t.match(await touch(2.5, HERE, THERE), [{ key: { lastUsedNetwork: THERE }, isFirst: false, newNetworks: [THERE] }], 'never too soon')
    t.strictSame(await shown(), [2.5, THERE])
    t.strictSame(await touch(4, HERE), [], 'known')
    t.strictSame(await shown(), [4, HERE])
    t.strictSame(await touch(5.5), [], 'a use from nobody knows where')
    t.strictSame(await shown(), [5.5, HERE])
    const many = Array.from({ length: 32 }, (_, n) => `10.0.${n}.0/24`)
    t.match(await touch(7, ...many), [{ newNetworks: many }])
    t.match(await touch(8, THERE, HERE), [{ newNetworks: [THERE, HERE] }], 'forgotten for newer ones')
    t.strictSame(await touch(9.5, many[0]!), [])
    await store.revoke(key.shopId, key.id, 'ada', start)
    t.strictSame(await touch(10, '10.1.0.0/24'), [])
    t.strictSame(await shown(), [9.5, many[0]])
  })

  t.test(`${name}: a first use from nowhere makes no later network new, and a successor knows the networks of its key`, async t => {
    const key = await inserted()
    const touch = async (id: string, minute: number, ...networks: string[]) => store.touch([{ id, networks }], new Date(+start + minute * 60_000), new Date(+start + (minute - 1) * 60_000))
    t.match(await touch(key.id, 0), [{ isFirst: true, newNetworks: [] }])
    t.strictSame(await touch(key.id, 2, HERE), [])
    const successor = newKey({ shopId: key.shopId })
    await store.rotate(key.shopId, key.id, start, () => ({ successor, expiresAt: after(1), revokedAt: null }))
    t.match(await touch(successor.id, 4, HERE), [{ key: { id: successor.id }, isFirst: true, newNetworks: [] }])
    t.match(await touch(successor.id, 5, THERE), [{ isFirst: false, newNetworks: [THERE] }])
    const next = newKey({ shopId: key.shopId })
    await store.rotate(key.shopId, successor.id, start, () => ({ successor: next, expiresAt: after(1), revokedAt: null }))
    t.match(await touch(next.id, 6, '192.0.2.0/24'), [{ key: { id: next.id }, isFirst: true, newNetworks: ['192.0.2.0/24'] }], 'also on its first use')
  })

  t.test(`${name}: a use that many report at once is returned once`, async t => {
    const keys = await Promise.all(Array.from({ length: 5 }, async () => inserted()))
    const report = async (uses: readonly KeyUse[]) => store.touch(uses, start, after(-1))
    const uses = keys.map(({ id }) => ({ id, networks: [HERE] }))
    const returned = (await Promise.all(Array.from({ length: 10 }, (_, n) => report(n % 2 === 0 ? uses : uses.toReversed())))).flat()
    t.strictSame(returned.map(({ key }) => key.id).toSorted(), keys.map(({ id }) => id).toSorted())
    const next = (await Promise.all(Array.from({ length: 10 }, () => report(keys.map(({ id }) => ({ id, networks: [THERE] })))))).flat()
    t.equal(next.length, keys.length)
    t.ok(next.every(({ newNetworks }) => newNetworks.join() === THERE))
  })

  t.test(`${name}: a key is told to expire at 30, 7 and 1 days, if it was created to live longer, and each once`, async t => {
    const keys = {
      year: await inserted({ expiresAt: after(365) }),
      month: await inserted({ expiresAt: after(30) }),
      days: await inserted({ expiresAt: after(5) }),
      hours: await inserted({ expiresAt: after(0.5) }),
      ever: await inserted(),
      revoked: await inserted({ expiresAt: after(40) }),
      replaced: await inserted({ expiresAt: after(40) })
    }
    await store.revoke(keys.revoked.shopId, keys.revoked.id, 'ada', start)
    await store.rotate(keys.replaced.shopId, keys.replaced.id, start, ({ key }) => ({ successor: newKey({ shopId: key.shopId }), expiresAt: after(30), revokedAt: null }))
    const nameOf = (id: string) => Object.entries(keys).find(([, key]) => key.id === id)?.[0]
    const due = async (day: number) => (await store.takeNotices(after(day), 1000)).filter(({ type, key }) => type === 'expiring' && nameOf(key.id) !== undefined)
      .map(({ key, days }) => `${nameOf(key.id)} ${days}`).toSorted()
    t.strictSame(await due(0.1), [])
    t.strictSame(await due(4), ['days 1'])
    t.strictSame(await due(4), [])
    t.strictSame(await due(22.9), [])
    t.strictSame(await due(23), ['month 7'])
    t.strictSame(await due(29), ['month 1'])
    t.strictSame(await due(335), ['year 30'])
    t.strictSame(await due(357.9), [])
    t.strictSame(await due(364.5), ['year 1'], 'only the last one that is due')
    t.strictSame(await due(364.6), [])
    t.strictSame(await due(366), [])
  })

  t.test(`${name}: days have 24 hours, also in the week of a clock change`, async t => {
    const end = Date.parse('2031-04-02T12:00:00Z')
    const { id } = await inserted({ createdAt: new Date('2031-01-01T00:00:00Z'), expiresAt: new Date(end) })
    const week = 7 * 86_400_000
    const due = async (early: number) => (await store.takeNotices(new Date(end - week - early), 1000)).filter(({ key }) => key.id === id).map(({ days }) => days)
    t.strictSame([await due(86_400_000), await due(60_000), await due(0)], [[30], [], [7]])
  })

  t.test(`${name}: a key is told to be unused after 90 days, and again after its next use`, async t => {
    const key = await inserted()
    const gone = await inserted({ expiresAt: after(80) })
    const due = async (day: number) => (await store.takeNotices(after(day), 1000)).filter(notice => [key.id, gone.id].includes(notice.key.id)).map(({ type, days, key }) => [type, days, key.id])
    const use = async (day: number) => store.touch([{ id: key.id, networks: [] }], after(day), after(day))
    t.strictSame((await due(89.9)).filter(([type]) => type === 'unused'), [])
    t.strictSame(await due(90), [['unused', 90, key.id]])
    t.strictSame(await due(200), [])
    await use(201)
    t.strictSame(await due(290), [])
    t.strictSame(await due(291), [['unused', 90, key.id]])
    await use(300)
    await store.revoke(key.shopId, key.id, 'ada', after(301))
    t.strictSame(await due(500), [])
  })

  t.test(`${name}: notices that many look for at once are given to one, and no more than the limit at once`, async t => {
    await store.takeNotices(after(10_000), 1000)
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push((await inserted({ createdAt: after(10_000), expiresAt: after(10_100) })).id)
    const looks = await Promise.all(Array.from({ length: 8 }, () => store.takeNotices(after(10_095), 2)))
    for (const type of ['expiring', 'unused']) {
      t.ok(looks.every(notices => notices.filter(notice => notice.type === type).length <= 2))
    }
    const taken = looks.flat()
    for (let rest = await store.takeNotices(after(10_095), 2); rest.length > 0; rest = await store.takeNotices(after(10_095), 2)) taken.push(...rest)
    for (const type of ['expiring', 'unused']) t.strictSame(taken.filter(notice => notice.type === type).map(({ key }) => key.id).toSorted(), ids.toSorted(), type)
  })
}
