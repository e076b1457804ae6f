import { randomUUID } from 'node:crypto'
import { KNOWN_NETWORKS, type ApiKeyStore, type KeyNotice, type KeyUse } from '../keys/store.ts'
import { after, has, holds, minute, newKey, rotation, same, START, times, type Check } from './check.ts'

const HERE = '203.0.113.0/24'
const THERE = '198.51.100.0/24'

const WRITES =
  'touch sets lastUsedAt and lastUsedNetwork of every key in the list that is not revoked, unless lastUsedAt is ' +
  'at or after unlessAfter and no network is new.'
const NETWORKS =
  `Remember the last ${KNOWN_NETWORKS} networks of a key, the newest first, beside the one that records show.`
const ONCE =
  'Compare and write in one statement, and return only the uses that it wrote: however many replicas report ' +
  'one, one of them is told.'
const DUE = 'Write that a notice was given in the statement that takes it, and give none for keys that are revoked, ' +
  'expired or replaced. Days have 24 hours.'

const used = async (store: ApiKeyStore, id: string, at: Date, ...networks: string[]) =>
  store.touch([{ id, networks }], at, new Date(+at - 60_000))

export const USES: readonly Check[] = [
  {
    title: 'writes when and from where keys were used',
    mend: WRITES,
    run: async ({ store, inserted, listed }) => {
      const [one, other] = [await inserted(), await inserted()]
      await store.touch(
        [
          { id: one.id, networks: [HERE, THERE] },
          { id: other.id, networks: [] },
          { id: randomUUID(), networks: [HERE] }
        ],
        minute(1),
        START
      )
      has((await listed(one.ownerId)).keys[0], { lastUsedAt: minute(1), lastUsedNetwork: THERE }, 'a key that was used')
      has(
        (await listed(other.ownerId)).keys[0],
        { lastUsedAt: minute(1), lastUsedNetwork: null },
        'a key that was used from nobody knows where'
      )
    }
  },
  {
    title: 'writes a use again only after a while, or from a new network',
    mend: WRITES,
    run: async ({ store, inserted, listed }) => {
      const { id, ownerId } = await inserted()
      const shown = async () => {
        const [key] = (await listed(ownerId)).keys
        return [key?.lastUsedAt, key?.lastUsedNetwork]
      }
      await used(store, id, minute(1), HERE)
      await used(store, id, minute(2), HERE)
      same(await shown(), [minute(1), HERE], 'after a use that is too soon: lastUsedAt is not before unlessAfter')
      await used(store, id, minute(2.5), THERE)
      same(await shown(), [minute(2.5), THERE], 'from a new network it is never too soon')
      await used(store, id, minute(4))
      same(await shown(), [minute(4), THERE], 'from nowhere the network stays')
    }
  },
  {
    title: 'writes no use of a revoked key',
    mend: WRITES,
    run: async ({ store, inserted, listed }) => {
      const { id, ownerId } = await inserted()
      await store.revoke(ownerId, id, 'ada', START)
      same(await used(store, id, minute(1), HERE), [], 'what is returned')
      has((await listed(ownerId)).keys[0], { lastUsedAt: null, lastUsedNetwork: null }, 'the key')
    }
  },
  {
    title: 'a use changes nothing else of a key',
    mend: WRITES,
    run: async ({ store, inserted, listed }) => {
      const key = await inserted({ expiresAt: after(9) })
      await used(store, key.id, minute(1), HERE)
      const [record] = (await listed(key.ownerId)).keys
      const { fingerprint, hash, pepperId, ...rest } = key
      same(record, {
        ...rest,
        lastUsedAt: minute(1),
        lastUsedNetwork: HERE,
        revokedAt: null,
        replaces: null,
        replacedBy: null
      }, 'the key')
    }
  },
  {
    title: 'returns the first use of a key, and each network that is new to it, once',
    mend: NETWORKS,
    run: async ({ store, inserted }) => {
      const { id } = await inserted()
      const notable = async (n: number, ...networks: string[]) =>
        (await used(store, id, minute(n), ...networks)).map((
          { key, isFirst, newNetworks }
        ) => [key.id, key.lastUsedAt, isFirst, newNetworks])
      same(
        await notable(1, HERE),
        [[id, minute(1), true, []]],
        'the first use: no network was known that this one could differ from'
      )
      same(await notable(3, HERE), [], 'a known network')
      same(await notable(3.5, HERE, THERE), [[id, minute(3.5), false, [THERE]]], 'a new network')
      same(await notable(5, THERE, HERE), [], 'known networks')
    }
  },
  {
    title: `remembers ${KNOWN_NETWORKS} networks, and forgets the oldest`,
    mend: NETWORKS,
    run: async ({ store, inserted }) => {
      const { id } = await inserted()
      const many = times(KNOWN_NETWORKS, (n) => `10.0.${n}.0/24`)
      const fresh = async (n: number, ...networks: string[]) =>
        (await used(store, id, minute(n), ...networks)).flatMap(({ newNetworks }) => newNetworks)
      await fresh(1, HERE)
      same(await fresh(3, ...many), many, 'as many new ones')
      same(await fresh(5, HERE), [HERE], 'one that was forgotten')
      same(await fresh(7, many[0]!), [], 'the newest of them')
    }
  },
  {
    title: 'a first use from nowhere makes no later network new',
    mend: NETWORKS,
    run: async ({ store, inserted }) => {
      const { id } = await inserted()
      same(
        (await used(store, id, minute(1))).map(({ isFirst, newNetworks }) => [isFirst, newNetworks]),
        [[true, []]],
        'the first use'
      )
      same(await used(store, id, minute(3), HERE), [], 'the first network')
    }
  },
  {
    title: 'a successor knows the networks of the key that it replaces',
    mend: 'rotate copies the networks that are remembered, and no lastUsedAt.',
    run: async ({ store, inserted }) => {
      const { id, ownerId } = await inserted()
      await used(store, id, minute(1), HERE)
      const next = (await store.rotate(ownerId, id, START, () => rotation(ownerId)))!.key
      const notable = async (n: number, network: string) =>
        (await used(store, next.id, minute(n), network)).map(({ isFirst, newNetworks }) => [isFirst, newNetworks])
      same(
        [await notable(4, THERE), await notable(5, HERE)],
        [[[true, [THERE]]], []],
        'its first use, from elsewhere, and one from where the other was used'
      )
    }
  },
  {
    title: 'a use that ten report at once is returned once, in whichever order they name the keys',
    mend: `${ONCE} Lock rows in one order.`,
    run: async ({ replica, inserted }) => {
      const ids = (await Promise.all(times(5, async () => inserted()))).map(({ id }) => id)
      const report = async (network: string, at: Date) => {
        const uses: KeyUse[] = ids.map((id) => ({ id, networks: [network] }))
        return (await Promise.all(
          times(10, async (n) => replica(n).touch(n % 2 === 0 ? uses : uses.toReversed(), at, new Date(+at - 1)))
        )).flat().map(({ key }) => key.id).sort()
      }
      same(await report(HERE, minute(1)), ids.toSorted(), 'the first uses')
      same(await report(THERE, minute(2)), ids.toSorted(), 'the new networks')
    }
  },
  {
    title: 'networks that ten report at once are all remembered',
    mend: ONCE,
    run: async ({ replica, store, inserted }) => {
      const { id } = await inserted()
      await used(store, id, minute(1), HERE)
      const networks = times(10, (n) => `10.1.${n}.0/24`)
      const fresh = (await Promise.all(networks.map(async (network, n) => used(replica(n), id, minute(2), network))))
        .flat().flatMap(({ newNetworks }) => newNetworks)
      same(fresh.sort(), networks.toSorted(), 'the new networks')
      same(await store.touch([{ id, networks }], minute(2), minute(2)), [], 'all of them once more')
    }
  },
  {
    title: 'uses, a revocation and a rotation at once: none undoes another',
    mend: `${ONCE} A change writes its own columns only.`,
    run: async ({ replica, store, inserted, listed }) => {
      const [one, other] = [await inserted(), await inserted()]
      await Promise.all([
        ...times(
          6,
          async (n) =>
            replica(n).touch([one, other].map(({ id }) => ({ id, networks: [`10.2.${n}.0/24`] })), minute(1), START)
        ),
        replica(1).revoke(one.ownerId, one.id, 'ada', after(1)),
        replica(0).rotate(other.ownerId, other.id, START, () => rotation(other.ownerId))
      ])
      has(await store.find([one.fingerprint]), { revokedAt: after(1) }, 'the revoked key')
      const [replaced] = (await listed(other.ownerId)).keys.filter(({ id }) => id === other.id)
      same(
        [replaced?.expiresAt, replaced?.lastUsedAt, replaced?.replacedBy === null],
        [after(1), minute(1), false],
        'the rotated key'
      )
    }
  },
  {
    title: 'a key is told to expire at 30, 7 and 1 days, if it was created to live longer, and each once',
    mend: DUE,
    run: async ({ store, inserted }) => {
      const keys = {
        year: await inserted({ expiresAt: after(365) }),
        month: await inserted({ expiresAt: after(30) }),
        days: await inserted({ expiresAt: after(5) }),
        hours: await inserted({ expiresAt: after(0.5) }),
        ever: await inserted(),
        revoked: await inserted({ expiresAt: after(40) }),
        replaced: await inserted({ expiresAt: after(40) })
      }
      await store.revoke(keys.revoked.ownerId, keys.revoked.id, 'ada', START)
      await store.rotate(
        keys.replaced.ownerId,
        keys.replaced.id,
        START,
        ({ key }) => ({ ...rotation(key.ownerId), expiresAt: after(30) })
      )
      const nameOf = (id: string) => Object.entries(keys).find(([, key]) => key.id === id)?.[0]
      for (
        const [day, wanted] of [
          [0.1, []],
          [4, ['days 1']],
          [4, []],
          [22.9, []],
          [23, ['month 7']],
          [29, ['month 1']],
          [335, ['year 30']],
          [357.9, []],
          [364.5, ['year 1']],
          [364.6, []],
          [366, []]
        ] as const
      ) {
        const due = (await store.takeNotices(after(day), 1000)).filter(({ type, key }) =>
          type === 'expiring' && nameOf(key.id) !== undefined
        )
        same(due.map(({ key, days }) => `${nameOf(key.id)} ${days}`).sort(), wanted, `on day ${day}`)
      }
    }
  },
  {
    title: 'days have 24 hours, also in the week of a clock change',
    mend: DUE,
    run: async ({ store, inserted }) => {
      const end = Date.parse('2031-04-02T12:00:00Z')
      const { id } = await inserted({ createdAt: new Date('2031-01-01T00:00:00Z'), expiresAt: new Date(end) })
      for (const [early, wanted] of [[86_400_000, [30]], [60_000, []], [1, []], [0, [7]]] as const) {
        const due = (await store.takeNotices(new Date(end - 7 * 86_400_000 - early), 1000)).filter(({ key, type }) =>
          key.id === id && type === 'expiring'
        )
        same(due.map(({ days }) => days), wanted, `${early} ms before seven days`)
      }
    }
  },
  {
    title: 'a key is told to be unused after 90 days, and again after its next use',
    mend: DUE,
    run: async ({ store, inserted }) => {
      const { id, ownerId } = await inserted()
      const gone = await inserted({ expiresAt: after(80) })
      const unused = async (day: number) =>
        (await store.takeNotices(after(day), 1000)).filter(({ type, key }) =>
          type === 'unused' && [id, gone.id].includes(key.id)
        ).map(({ days, key }) => [days, key.id])
      const use = async (day: number) => store.touch([{ id, networks: [] }], after(day), after(day))
      same([await unused(89.9), await unused(90), await unused(200)], [[], [[90, id]], []], 'never used')
      await use(201)
      same([await unused(290), await unused(291)], [[], [[90, id]]], 'after a use on day 201')
      await use(300)
      await store.revoke(ownerId, id, 'ada', after(301))
      same(await unused(500), [], 'after its revocation')
    }
  },
  {
    title: 'notices that many look for at once are given once, and no more than the limit at once',
    mend: DUE,
    run: async ({ replica, store, inserted }) => {
      await store.takeNotices(after(10_000), 1000)
      const ids: string[] = []
      for (let n = 0; n < 5; n++) ids.push((await inserted({ createdAt: after(10_000), expiresAt: after(10_100) })).id)
      const looks = await Promise.all(times(8, async (n) => replica(n).takeNotices(after(10_095), 2)))
      const ofType = (type: KeyNotice['type'], notices: readonly KeyNotice[]) =>
        notices.filter((notice) => notice.type === type)
      for (const type of ['expiring', 'unused'] as const) {
        holds(looks.every((notices) => ofType(type, notices).length <= 2), `more than 2 of type ${type} at once`)
      }
      const taken = looks.flat()
      for (
        let rest = await store.takeNotices(after(10_095), 2);
        rest.length > 0;
        rest = await store.takeNotices(after(10_095), 2)
      ) {
        holds(taken.length < 100, 'notices never end')
        taken.push(...rest)
      }
      for (const type of ['expiring', 'unused'] as const) {
        same(ofType(type, taken).map(({ key }) => key.id).filter((id) => ids.includes(id)).sort(), ids.toSorted(), type)
      }
      const key = newKey({ createdAt: after(10_000) })
      await store.insert(key, 1)
      same(
        (await store.takeNotices(after(10_001), 9)).filter((notice) => notice.key.id === key.id),
        [],
        'of a key that is a day old'
      )
    }
  }
]
