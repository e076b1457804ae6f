import { randomUUID } from 'node:crypto'
import type { ApiKeyStore, KeyField, KeyQuery } from '../keys/store.ts'
import { after, has, newKey, recordOf, same, START, times, type Check, type Use } from './check.ts'

const ORDER = 'Order by the id last, in the direction of the sort, so that no key is on two pages or on none.'
const FILTER =
  'All conditions of a filter must hold; a list of values matches any of them, and null keys without a value. ' +
  'Compare strings exactly.'
const SEARCH =
  'q is part of the name or prefix, in either case of every alphabet, and no pattern: where the database cannot ' +
  'do that, search in JavaScript.'

const second = (n: number): Date => new Date(+START + n * 1000 + 5)

/** Four keys: 1 was used and never ends, 2 ends at second 50, 3 is revoked at 30, 4 ends at 40 and is revoked at 31. */
async function fourKeys (
  { store, inserted }: Use
): Promise<{ ownerId: string, ids: string[], found(query: Partial<KeyQuery>): Promise<string> }> {
  const ownerId = randomUUID()
  const keys = [
    await inserted({
      ownerId,
      name: 'Printer',
      prefix: `ccc${ownerId.slice(0, 8)}1`,
      scopes: [],
      createdAt: second(1)
    }),
    await inserted({
      ownerId,
      name: 'Till 100%',
      prefix: `bbb${ownerId.slice(0, 8)}2`,
      scopes: ['read'],
      createdAt: second(2),
      expiresAt: second(50)
    }),
    await inserted({
      ownerId,
      name: 'Robot',
      prefix: `aaa${ownerId.slice(0, 8)}3`,
      scopes: ['write', 'read'],
      createdAt: second(3),
      createdBy: 'robot'
    }),
    await inserted({
      ownerId,
      name: 'Printer',
      prefix: `ddd${ownerId.slice(0, 8)}4`,
      scopes: ['list_tags'],
      createdAt: second(4),
      expiresAt: second(40)
    })
  ]
  await store.touch([{ id: keys[0]!.id, networks: ['203.0.113.0/24'] }], second(20), second(19))
  await store.revoke(ownerId, keys[2]!.id, 'ada', second(30))
  await store.revoke(ownerId, keys[3]!.id, 'ada', second(31))
  return {
    ownerId,
    ids: keys.map(({ id }) => id),
    async found (query) {
      const page = await store.list(ownerId, { at: second(35), skip: 0, limit: 100, filter: {}, sort: null, ...query })
      same(page.count, page.keys.length, 'count')
      return page.keys.map(({ prefix }) => prefix.at(-1)).join('')
    }
  }
}

async function names (
  store: ApiKeyStore,
  inserted: Use['inserted'],
  all: readonly string[]
): Promise<(q: string) => Promise<string[]>> {
  const ownerId = randomUUID()
  for (const name of all) await inserted({ ownerId, name })
  return async (q) =>
    (await store.list(ownerId, { at: START, skip: 0, limit: 100, filter: { q }, sort: null })).keys.map(({ name }) =>
      name
    ).sort()
}

export const LISTS: readonly Check[] = [
  {
    title: 'lists the keys of one owner, and nothing secret',
    mend: 'A record has exactly the properties of ApiKeyRecord: no hash, no fingerprint.',
    run: async ({ inserted, listed }) => {
      const [key] = [await inserted(), await inserted()]
      same(
        await listed(key.ownerId),
        { keys: [recordOf(key)], count: 1, counts: { active: 1, expired: 0, revoked: 0 } },
        'the list'
      )
      same(
        await listed(randomUUID()),
        { keys: [], count: 0, counts: { active: 0, expired: 0, revoked: 0 } },
        'the list of nobody'
      )
    }
  },
  {
    title: 'lists active keys first, then the newest first',
    mend: 'With sort null, order by whether the key is active at `at`, then createdAt and id, both descending.',
    run: async (use) => {
      const { found } = await fourKeys(use)
      same(
        [await found({ at: second(49) }), await found({ at: second(50) })],
        ['2143', '1432'],
        'before and after key 2 ends'
      )
    }
  },
  {
    title: 'revoked_at is the moment since which a key is refused, in filters and in the order',
    mend: 'For revoked_at, take the earlier of revokedAt and of an expiresAt that is at or before `at`.',
    run: async (use) => {
      const { found } = await fourKeys(use)
      const by = async (at: Date, descending: boolean) => found({ at, sort: { field: 'revoked_at', descending } })
      const at = [second(35), second(50)] as const
      const first = (await by(at[0], false)).slice(0, 2)
      same([first, await by(at[1], false), await by(at[1], true)], ['34', '3421', '2431'], 'the order')
      const since = async (value: Date | null) => {
        return found({ at: at[1], filter: { revoked_at: [value?.toISOString() ?? null] } })
      }
      same([await since(null), await since(second(50)), await since(second(31))], ['1', '2', '4'], 'the filter')
    }
  },
  {
    title: 'pages have each key once, also where all keys are equal',
    mend: ORDER,
    run: async ({ store, inserted }) => {
      const ownerId = randomUUID()
      const ids = (await Promise.all(times(10, async () => inserted({ ownerId, name: 'same' })))).map(({ id }) => id)
        .sort()
      const fields = ['name', 'created_at', 'created_by', 'expires_at', 'last_used_at', 'replaces'] as const
      for (
        const sort of [null, ...fields.flatMap((field) => [{ field, descending: false }, { field, descending: true }])]
      ) {
        const pages = await Promise.all(
          [0, 3, 6, 9, 12].map(async (skip) => store.list(ownerId, { at: START, skip, limit: 3, filter: {}, sort }))
        )
        same(pages.map(({ count }) => count), [10, 10, 10, 10, 10], 'count of each page, the empty one too')
        same(
          pages.flatMap(({ keys }) => keys.map(({ id }) => id)),
          sort?.descending === false ? ids : ids.toReversed(),
          `the ids by ${sort === null ? 'default' : `${sort.field} ${sort.descending ? 'descending' : 'ascending'}`}`
        )
      }
    }
  },
  {
    title: 'pages stay where they are while keys are used',
    mend: ORDER,
    run: async ({ store, inserted }) => {
      const ownerId = randomUUID()
      const ids: string[] = []
      for (let n = 0; n < 9; n++) ids.unshift((await inserted({ ownerId, createdAt: second(n) })).id)
      const seen: string[] = []
      for (let skip = 0; skip < 9; skip += 3) {
        const { keys } = await store.list(ownerId, { at: second(60), skip, limit: 3, filter: {}, sort: null })
        seen.push(...keys.map(({ id }) => id))
        await store.touch(ids.slice(5).map((id) => ({ id, networks: [] })), second(60 + skip), second(60 + skip))
      }
      same(seen, ids, 'the ids of three pages')
    }
  },
  {
    title: 'sorts by every field with one value, those without a value last',
    mend: 'Put null last in both directions: MySQL and SQLite put it first where the order ascends.',
    run: async (use) => {
      const { found, ids, ownerId } = await fourKeys(use)
      for (
        const [field, ascending, descending] of [
          ['prefix', '3214', '4123'],
          ['created_at', '1234', '4321'],
          ['revoked_at', '34', '43'],
          ['expires_at', '42', '24'],
          ['last_used_at', '1', '1'],
          ['last_used_network', '1', '1']
        ] as ReadonlyArray<[KeyField, string, string]>
      ) {
        same((await found({ sort: { field, descending: false } })).slice(0, ascending.length), ascending, field)
        same(
          (await found({ sort: { field, descending: true } })).slice(0, descending.length),
          descending,
          `${field}, descending`
        )
      }
      const { keys } = await use.store.list(ownerId, {
        at: START,
        skip: 0,
        limit: 9,
        filter: {},
        sort: { field: 'id', descending: false }
      })
      same(keys.map(({ id }) => id), ids.toSorted(), 'by id')
    }
  },
  {
    title: 'filters by every field, all conditions at once',
    mend: FILTER,
    run: async (use) => {
      const { found, ids } = await fourKeys(use)
      for (
        const [filter, wanted] of [
          [{ id: [ids[3]!, ids[0]!] }, '14'],
          [{ id: [randomUUID()] }, ''],
          [{ name: ['Printer'] }, '14'],
          [{ created_at: [second(2).toISOString()] }, '2'],
          [{ created_by: ['robot'] }, '3'],
          [{ last_used_at: [second(20).toISOString()] }, '1'],
          [{ last_used_at: [null] }, '243'],
          [{ last_used_network: ['203.0.113.0/24'] }, '1'],
          [{ expires_at: [null, second(40).toISOString()] }, '143'],
          [{ revoked_at: [second(30).toISOString()] }, '3'],
          [{ replaces: [null] }, '2143'],
          [{ replaced_by: [randomUUID()] }, ''],
          [{ scopes: ['read'] }, '23'],
          [{ scopes: ['list_tags', 'write'] }, '43'],
          [{ scopes: ['all'] }, '1'],
          [{ scopes: ['all', 'write'] }, '13'],
          [{ q: 'r', revoked: false, name: ['Printer', 'Robot'] }, '1']
        ] as const
      ) same(await found({ filter }), wanted, JSON.stringify(filter))
    }
  },
  {
    title: 'filters by exact strings: neither in another case nor with other accents or spaces',
    mend: FILTER,
    run: async (use) => {
      const { found } = await fourKeys(use)
      for (const name of ['printer', 'PRINTER', 'Printer ', 'Prínter', 'Print%', 'Print_r']) {
        same(await found({ filter: { name: [name] } }), '', `the name ${name}`)
      }
    }
  },
  {
    title: 'lists and finds what one person made: a successor is of who rotated',
    mend: 'created_by is of each key: rotate writes that of the successor, not that of the old key. find returns it.',
    run: async ({ store, inserted }) => {
      const ownerId = randomUUID()
      const hers = await inserted({ ownerId, createdBy: 'ada' })
      const his = await inserted({ ownerId, createdBy: 'Ada' })
      const successor = newKey({ ownerId, createdBy: 'ben' })
      await store.rotate(ownerId, hers.id, START, () => ({ successor, expiresAt: after(1), revokedAt: null }))
      await store.revoke(ownerId, his.id, 'ada', START)
      for (const [maker, key] of [['ada', hers], ['Ada', his], ['ben', successor]] as const) {
        const { keys, count } = await store.list(ownerId, {
          at: START,
          skip: 0,
          limit: 9,
          filter: { created_by: [maker] },
          sort: null
        })
        same([keys.map(({ id, createdBy }) => [id, createdBy]), count], [[[key.id, maker]], 1], `the keys of ${maker}`)
        has(await store.find([key.fingerprint]), { createdBy: maker }, `the key of ${maker}`)
      }
    }
  },
  {
    title: 'filters by status, at the moment of the question',
    mend: 'active, expired and revoked are of `at`, not of now: a key that ends at `at` has expired, and a revoked ' +
      'one is revoked whether it has expired or not.',
    run: async (use) => {
      const { found } = await fourKeys(use)
      for (
        const [status, before, later] of [['active', '21', '1'], ['expired', '', '2'], ['revoked', '43', '43']] as const
      ) {
        same(
          [await found({ filter: { status }, at: second(49) }), await found({ filter: { status }, at: second(50) })],
          [before, later],
          status
        )
      }
      same(
        [await found({ filter: { revoked: false } }), await found({ filter: { revoked: true } })],
        ['21', '43'],
        'revoked'
      )
    }
  },
  {
    title: 'counts what matches, and all keys of the owner by their status',
    mend: 'count is that of the filter, on an empty page too; counts are of the owner, whatever the filter.',
    run: async (use) => {
      const { ownerId } = await fourKeys(use)
      const query = { at: second(50), skip: 9, limit: 1, filter: { name: ['Printer'] }, sort: null }
      has(
        await use.store.list(ownerId, query),
        { keys: [], count: 2, counts: { active: 1, expired: 1, revoked: 2 } },
        'an empty page'
      )
    }
  },
  {
    title: 'q finds letters of every alphabet in either case',
    mend: SEARCH,
    run: async ({ store, inserted }) => {
      const found = await names(store, inserted, ['Élan', 'ΚΛΕΙΔΊ', 'Ключ', 'ŁÓDŹ', '\u{10428}\u{1F511}', 'Straße'])
      for (
        const [q, wanted] of [
          ['ÉLAN', 'Élan'],
          ['éL', 'Élan'],
          ['κλειδί', 'ΚΛΕΙΔΊ'],
          ['КЛЮЧ', 'Ключ'],
          ['łódź', 'ŁÓDŹ'],
          ['\u{10400}', '\u{10428}\u{1F511}'],
          ['STRAß', 'Straße']
        ] as const
      ) same(await found(q), [wanted], q)
      same(await found('elan'), [], 'an accent is not its letter')
    }
  },
  {
    title: 'q takes signs for themselves',
    mend: SEARCH,
    run: async ({ store, inserted }) => {
      const all = ['a.b*c', 'a^b$c|d', 'x[y]-z\\d', '(1+1){2}?', '100%_!', 'it\'s "q"']
      const found = await names(store, inserted, all)
      for (const name of all) {
        for (const q of [name, name.slice(1), name.slice(2, 4)]) {
          same(
            await found(q),
            all.filter((other) => other.includes(q)).sort(),
            q
          )
        }
      }
      for (const q of ['a?b', 'a.*c', '[a-z]', '\\w', '(?i)A', '%%', '__']) same(await found(q), [], q)
    }
  },
  {
    title: 'q finds names that were stored in another spelling',
    mend: `${SEARCH} Look for it as it is, and in Unicode's form NFC with one kind of space.`,
    run: async ({ store, inserted }) => {
      const all = [
        'old\u00a0key',
        'new key',
        'Cafe\u0301 1',
        'Caf\u00e9 2',
        '\u0130stanbul',
        'D\u0131\u015f',
        'x\u200by|z'
      ]
      const found = await names(store, inserted, all)
      for (
        const [q, wanted] of [
          ['OLD\u00a0k', ['old\u00a0key']],
          ['new\u00a0k', ['new key']],
          ['cafe\u0301', ['Cafe\u0301 1', 'Caf\u00e9 2']],
          ['caf\u00e9', ['Caf\u00e9 2']],
          ['istanbul', ['\u0130stanbul']],
          ['\u0130STANBUL', ['\u0130stanbul']],
          ['DI\u015e', ['D\u0131\u015f']],
          ['\u200b', ['x\u200by|z']],
          ['\u00ad', []],
          ['', all.toSorted()]
        ] as const
      ) same(await found(q), wanted, encodeURIComponent(q))
    }
  },
  {
    title: 'q searches the prefix too',
    mend: SEARCH,
    run: async ({ store }) => {
      const key = newKey({ name: 'x' })
      await store.insert(key, 9)
      const page = await store.list(key.ownerId, {
        at: START,
        skip: 0,
        limit: 9,
        filter: { q: key.prefix.slice(2, 9).toUpperCase() },
        sort: null
      })
      same(page.keys.map(({ id }) => id), [key.id], 'by part of the prefix')
    }
  }
]
