import t from 'tap'
import { randomUUID } from 'node:crypto'
import type { Account, AccountLimits, AccountQuery, AccountStore, RunStore } from '../src/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { whereListed } from '../src/lists/listed.ts'
import { guardedAccounts } from '../src/store/accounts.ts'
import { guardedRuns } from '../src/store/runs.ts'
import { engines, pglite } from './database.ts'
import { build } from './world.ts'

const refused = { statusCode: 500, code: 'PAY_RECONCILE_STORE_FAILED' }
const page = { skip: 0, limit: 10, filter: {}, sort: null }
const origin = { actor: 'user-1', requestId: null, runId: null, providerRequestId: null }
const account: Account = { id: '1', shopId: '7', shopName: 'Shop A', name: 'Ada', hashName: null, details: {} }

t.test('a condition that the store of tables does not know is an error in every list', async (t) => {
  const knex = await pglite.connect(t)
  const [accounts, runs] = [knexAccountStore(knex), knexRunStore(knex)]
  const filter = { shoe_size: ['38'] } as object
  const run = {
    id: randomUUID(),
    mode: 'check',
    dryRun: true,
    shopId: null,
    actor: 'user-1',
    requestId: null,
    selection: {},
    scheduledFor: null
  } as const
  await runs.start(run, [], null)
  for (
    const [name, list] of Object.entries<() => Promise<unknown>>({
      accounts: () => accounts.list({ ...page, filter, sort: [{ field: 'id', descending: false }] }),
      audit: () => accounts.audit({ ...page, filter }),
      runs: () => runs.list({ ...page, filter }),
      items: () => runs.items(run.id, { ...page, filter })
    })
  ) await t.rejects(list(), { name: 'TypeError', message: 'the list has no shoe_size' }, name)
  for (
    const [name, list] of Object.entries<() => Promise<unknown>>({
      accounts: () => accounts.list({ ...page, sort: [{ field: 'shoe_size' as 'id', descending: false }] }),
      audit: () => accounts.audit({ ...page, sort: { field: 'at_lte' as 'at', descending: false } }),
      runs: () => runs.list({ ...page, sort: { field: 'constructor' as 'id', descending: false } })
    })
  ) await t.rejects(list(), { name: 'TypeError' }, `sorting ${name}`)
  for (const only of [filter, { constructor: true } as object]) {
    await t.rejects(accounts.shops(undefined, only), { name: 'TypeError', message: /^there is no limit / })
    await t.rejects(accounts.scan({ shopId: randomUUID(), after: null, limit: 1, runId: run.id, only }), {
      name: 'TypeError'
    })
  }
  t.throws(() => whereListed(knex('accounts'), {}, { constructor: ['a'] } as object as Record<never, never>), {
    message: 'the list has no constructor'
  })
})

t.test('a store of the host that ignores a condition is an error, and not all accounts', async (t) => {
  const world = await build(t, await pglite.connect(t), {
    accounts: {
      ...knexAccountStore(await pglite.connect(t)),
      // Written before there were other filters.
      list: async ({ filter: { shop_id: shops, name } }: AccountQuery) =>
        shops?.includes('0') || name?.includes('nobody')
          ? { accounts: [], count: 0 }
          : { accounts: [account], count: 1 },
      shops: async (shopId) => shopId === '0' ? [] : [{ shopId: '7', accounts: 1 }]
    }
  })
  const get = async (query: string) => (await world.call('GET', `/admin/accounts?${query}`)).json()
  t.match(await get('shop_id=7'), [{ id: '1' }])
  t.match(await get('filter={"shop_id":"7","name":"Ada"}'), [{ id: '1' }])
  t.strictSame(await get('filter={"name":"nobody","q":"x"}'), [], 'of nothing there is nothing to leave out')
  for (
    const query of [
      'filter={"q":"Ada"}',
      'missing_pay=true',
      'shop_id=7&missing_pay=false',
      'filter={"pay_customer_id":null}'
    ]
  ) t.match(await get(query), refused, query)
  t.match(world.logs(), /the store did not read filter\.missing_pay, which limits what list does/)
  t.match(
    (await world.call('POST', '/admin/accounts/reconcile', { mode: 'check', accounts: ['1'] })).json(),
    refused,
    'nor does a run take all accounts for some'
  )
})

t.test('every member of a store is passed on', async (t) => {
  const knex = await pglite.connect(t)
  const [accounts, runs] = [knexAccountStore(knex), knexRunStore(knex)]
  const namesIn = (store: object | undefined): readonly string[] => Object.keys(store ?? {}).sort()
  t.strictSame(namesIn(guardedAccounts(accounts)), namesIn(accounts))
  t.strictSame(namesIn(guardedAccounts(accounts).changes), namesIn(accounts.changes))
  t.strictSame(namesIn(guardedRuns(runs)), namesIn(runs))
  t.strictSame(namesIn(guardedRuns(runs).awaited), namesIn(runs.awaited))
})

t.test('every condition of a store must be read', async (t) => {
  const ignorant = guardedAccounts({
    list: async () => ({ accounts: [account], count: 1 }),
    audit: async () => ({ entries: [], count: 1 }),
    scan: async () => [{ account, duplicate: false, changedByRun: false }],
    shops: async () => [{ shopId: '7', accounts: 1 }],
    link: async () => ({ changed: true, account }),
    unlink: async () => ({ changed: true, account })
  } as object as AccountStore)
  const runs = guardedRuns(
    { list: async () => ({ runs: [], count: 1 }), items: async () => ({ items: [], count: 1 }) } as object as RunStore
  )
  const scan = { shopId: '7', after: null, limit: 1, runId: 'r' }
  for (
    const [name, ignored, allowed] of [
      [
        'filter.q',
        () => ignorant.list({ ...page, filter: { q: 'a' }, sort: [] }),
        () => ignorant.list({ ...page, sort: [] })
      ],
      [
        'filter.at_lte',
        () => ignorant.audit({ ...page, filter: { at_lte: '2026-01-01T00:00:00Z' } }),
        () => ignorant.audit(page)
      ],
      ['filter.status', () => runs.list({ ...page, filter: { status: ['done'] } }), () => runs.list(page)],
      ['since', () => runs.items('r', { ...page, since: 'r0' }), () => runs.items('r', page)],
      [
        'only.linked',
        () => ignorant.scan({ ...scan, only: { linked: true } }),
        () => ignorant.scan({ ...scan, only: {} })
      ],
      ['only.accounts', () => ignorant.shops('7', { accounts: ['1'] }), () => ignorant.shops('7')],
      [
        'expected',
        () => ignorant.link({ action: 'link', accountId: '1', customerId: 'cus_1', expected: null }, origin),
        () => ignorant.link({ action: 'link', accountId: '1', customerId: 'cus_1' }, origin)
      ],
      [
        'expected',
        () => ignorant.unlink({ accountId: '1', expected: 'cus_1' }, origin),
        () => ignorant.unlink({ accountId: '1', expected: undefined }, origin)
      ]
    ] as ReadonlyArray<readonly [string, () => Promise<unknown>, () => Promise<unknown>]>
  ) {
    const error = await ignored().then(() => undefined, (thrown) => thrown)
    t.match(
      error,
      { ...refused, cause: { message: new RegExp(`did not read ${name.replace('.', '\\.')}, which`) } },
      name
    )
    await t.resolves(allowed(), `without ${name}`)
  }
})

t.test('a store may count accounts one by one, and stop at the first condition that one fails', async (t) => {
  const rows = [{ shopId: '7', changed: false, linked: true }, { shopId: '9', changed: true, linked: true }]
  const { shops } = guardedAccounts({
    shops: async (shopId?: string, only: AccountLimits = {}) =>
      ['7', '8', '9'].filter((id) => shopId === undefined || id === shopId).map((id) => ({
        shopId: id,
        accounts: rows.filter((row) =>
          row.shopId === id && (!only.changed || row.changed) && (!only.linked || row.linked)
        ).length
      }))
  } as object as AccountStore)
  const only = { changed: true, linked: true } as const
  t.strictSame(
    await shops('7', only),
    [{ shopId: '7', accounts: 0 }],
    'no account of the shop got as far as the second condition'
  )
  t.strictSame(await shops('8', only), [{ shopId: '8', accounts: 0 }], 'nor of a shop without accounts')
  t.strictSame(await shops(undefined, only), [
    { shopId: '7', accounts: 0 },
    { shopId: '8', accounts: 0 },
    { shopId: '9', accounts: 1 }
  ])
})

t.test('records whose members have other types are an error, and no wrong answer', async (t) => {
  const store = (fields: object, scanned: object = {}) =>
    guardedAccounts({
      get: async () => ({ ...account, ...fields }),
      list: async () => ({ accounts: [{ ...account, ...fields }], count: 1 }),
      scan: async () => [{ account: { ...account, ...fields }, duplicate: false, changedByRun: false, ...scanned }],
      link: async () => ({ changed: true, account: { ...account, ...fields }, ...scanned })
    } as object as AccountStore)
  const change = { action: 'link', accountId: '1', customerId: 'cus_1' } as const
  const scan = { shopId: '7', after: null, limit: 1, runId: 'r', only: {} }
  for (
    const [fields, message] of [
      [{ details: '{"pay_customer_id":"cus_1"}' }, 'whose details has the type string, and not object'],
      [{ details: null }, 'whose details has the type null, and not object'],
      [{ details: [] }, 'whose details has the type array, and not object'],
      [{ id: 1 }, 'whose id has the type number, and not string'],
      [{ shopId: 7n }, 'whose shopId has the type bigint, and not string']
    ] as const
  ) {
    for (
      const read of [
        store(fields).get('1'),
        store(fields).list({ ...page, sort: [] }),
        store(fields).scan(scan),
        store(fields).link(change, origin)
      ]
    ) {
      t.match(await read.then(() => undefined, (thrown) => thrown), {
        ...refused,
        cause: { message: new RegExp(`of the store returned a record ${message}$`) }
      })
    }
  }
  for (const value of [0, 1, Buffer.of(0)]) {
    await t.rejects(store({}, { changedByRun: value }).scan(scan), refused)
    await t.rejects(store({}, { changed: value }).link(change, origin), refused)
    await t.rejects(
      guardedRuns({ get: async () => ({ id: 'r', shopId: null, dryRun: value }) } as object as RunStore).get('r'),
      refused
    )
  }
  t.match(
    await guardedRuns(
      { get: async () => ({ id: 'r', shopId: null, dryRun: false, webhook: undefined }) } as object as RunStore
    ).get('r'),
    { id: 'r' }
  )
  t.match(await store({}).get('1'), account)
})

t.test('the ids of the accounts that a run is limited to may be any words', async (t) => {
  for (
    const targets of [
      { id: null, details: 'cus_1', webhook: null, accountId: null, items: 'cus_2', a1: null },
      {},
      null
    ]
  ) {
    t.strictSame(await guardedRuns({ targets: async () => targets } as object as RunStore).targets('r'), targets)
  }
})

for (const engine of engines) {
  t.test(
    `names may have a collation in which different strings are equal, on ${engine.name}`,
    { skip: engine.skip },
    async (t) => {
      const knex = await engine.connect(t)
      await knex.raw(
        'create collation "any Case" (provider = icu, locale = \'und-u-ks-level2\', deterministic = false)'
      )
      await knex.raw('alter table accounts alter name type text collate "any Case"')
      const world = await build(t, knex)
      const shopId = await world.addShop()
      for (const name of ['Élan', 'Ada']) await world.addAccount(shopId, {}, { name })
      const found = async (filter: object) =>
        (await world.call(
          'GET',
          `/admin/accounts?filter=${encodeURIComponent(JSON.stringify(filter))}&sort=["name","ASC"]`
        )).json().map(({ name }: Account) => name)
      t.strictSame(await found({}), ['Ada', 'Élan'])
      t.strictSame(await found({ q: 'éL' }), ['Élan'])
    }
  )

  t.test(`a name is found in either case of every letter, on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const knex = await engine.connect(t, 'jsonb', 'uuid', { locale: 'C' })
    // The embedded database cannot have another locale; a column can have another collation.
    if (engine === pglite) await knex.raw('alter table accounts alter name type text collate "C"')
    const world = await build(t, knex)
    const shopId = await world.addShop()
    for (const name of ['Élan', 'ΑΘΗΝΑ', 'Жук', 'ada 100%']) await world.addAccount(shopId, {}, { name })
    const found = async (q: string) =>
      (await world.call('GET', `/admin/accounts?filter=${encodeURIComponent(JSON.stringify({ q }))}`)).json().map((
        { name }: Account
      ) => name)
    for (
      const [q, name] of [
        ['éL', 'Élan'],
        ['ÉLAN', 'Élan'],
        ['αθην', 'ΑΘΗΝΑ'],
        ['жУК', 'Жук'],
        ['ADA', 'ada 100%'],
        ['0%', 'ada 100%']
      ] as const
    ) t.strictSame(await found(q), [name], q)
    t.strictSame(await found('0!'), [])

    if (engine === pglite) return
    await knex.raw("delete from pg_collation where collname = 'und-x-icu'")
    await t.rejects(knexAccountStore(knex).ready!(), {
      code: 'PAY_RECONCILE_INVALID_OPTION',
      message: /accounts\.name must have a collation that knows both cases of every letter/
    })
  })
}
