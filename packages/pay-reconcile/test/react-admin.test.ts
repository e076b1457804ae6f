import t from 'tap'
import simpleRestProvider from 'ra-data-simple-rest'
import { fetchUtils } from 'ra-core'
import { engines } from './database.ts'
import { build } from './world.ts'

for (const engine of engines) {
  t.test(`react-admin's simple REST provider on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const knex = await engine.connect(t)
    const { app, addShop, addAccount } = await build(t, knex)
    const shopA = await addShop({ name: 'Shop A' })
    const shopB = await addShop({ name: 'Shop B' })
    const ids: string[] = []
    for (let n = 0; n < 30; n++) {
      ids.push(
        await addAccount(n < 20 ? shopA : shopB, n % 3 === 0 ? { pay_customer_id: `cus_${n}` } : {}, {
          name: `Account ${String(n).padStart(2, '0')}`
        })
      )
    }
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const provider = simpleRestProvider(
      `${url}/admin`,
      (path, options = {}) =>
        fetchUtils.fetchJson(path, { ...options, user: { authenticated: true, token: 'Bearer superuser' } })
    )
    const names = (answer: { data: Array<{ name: string }> }) => answer.data.map(({ name }) => name)
    const list = (page: number, perPage: number, field: string, order: 'ASC' | 'DESC', filter: object) =>
      provider.getList('accounts', { pagination: { page, perPage }, sort: { field, order }, filter })

    const first = await list(1, 10, 'name', 'ASC', {})
    t.equal(first.total, 30, 'lists with a total')
    t.strictSame(names(first), Array.from({ length: 10 }, (_, n) => `Account 0${n}`))
    t.strictSame(
      names(await list(3, 10, 'name', 'ASC', {})),
      Array.from({ length: 10 }, (_, n) => `Account ${n + 20}`),
      'pages'
    )
    t.match(await list(4, 10, 'name', 'ASC', {}), { data: [], total: 30 }, 'past the end')
    t.strictSame(names(await list(1, 2, 'name', 'DESC', {})), ['Account 29', 'Account 28'], 'sorts')
    const filtered = await list(1, 25, 'name', 'ASC', { shop_id: shopB, missing_pay: false })
    t.strictSame(names(filtered), ['Account 21', 'Account 24', 'Account 27'], 'filters')
    t.equal(filtered.total, 3)
    t.strictSame(names(await list(1, 25, 'id', 'ASC', { q: 'account 07' })), ['Account 07'], 'searches')

    const one = await provider.getOne('accounts', { id: String(ids[0]) })
    t.match(one.data, { id: ids[0], shop_name: 'Shop A', pay_customer_id: 'cus_0' }, 'shows one')
    const many = await provider.getMany('accounts', { ids: [String(ids[3]), String(ids[5])] })
    t.strictSame(names(many as never).sort(), ['Account 03', 'Account 05'], 'shows many')
    const ofShop = await provider.getManyReference('accounts', {
      target: 'shop_id',
      id: shopB,
      pagination: { page: 1, perPage: 5 },
      sort: { field: 'name', order: 'ASC' },
      filter: {}
    })
    t.equal(ofShop.total, 10, 'shows those of a shop')
  })

  t.test(`react-admin's simple REST provider on ${engine.name} is told when accounts are too large for one page`, {
    skip: engine.skip
  }, async (t) => {
    const { app, addShop, addAccount } = await build(t, await engine.connect(t))
    const shop = await addShop({ name: 'Shop Large' })
    const ids: string[] = []
    for (const name of ['A', 'B', 'C']) {
      ids.push(String(await addAccount(shop, { note: name.repeat(2_000_000) }, { name })))
    }
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const provider = simpleRestProvider(
      `${url}/admin`,
      (path, options = {}) =>
        fetchUtils.fetchJson(path, { ...options, user: { authenticated: true, token: 'Bearer superuser' } })
    )
    const sort = { field: 'name', order: 'ASC' } as const
    const thrown = (error: unknown): unknown => error
    const tooLarge = (field: string) => ({
      status: 422,
      body: { code: 'PAY_RECONCILE_VALIDATION', field, message: /only 2 fit/ }
    })

    t.match(
      await provider.getList('accounts', { pagination: { page: 1, perPage: 10 }, sort, filter: {} }).catch(thrown),
      tooLarge('range')
    )
    t.match(
      await provider.getManyReference('accounts', {
        target: 'shop_id',
        id: shop,
        pagination: { page: 1, perPage: 10 },
        sort,
        filter: {}
      }).catch(thrown),
      tooLarge('range')
    )
    t.match(await provider.getMany('accounts', { ids }).catch(thrown), tooLarge('filter'))

    for (const [page, names] of [[1, ['A', 'B']], [2, ['C']]] as const) {
      const { data, total } = await provider.getList('accounts', { pagination: { page, perPage: 2 }, sort, filter: {} })
      t.strictSame([data.map(({ name }) => name), total], [names, 3], 'smaller pages have all of them')
    }
    t.equal((await provider.getMany('accounts', { ids: ids.slice(1) })).data.length, 2)
    const filter = JSON.stringify({ id: ids })
    const paged = await app.inject({
      url: '/admin/accounts',
      query: { filter, limit: '3' },
      headers: { authorization: 'Bearer superuser' }
    })
    t.strictSame(
      [paged.headers['content-range'], paged.json().length],
      ['accounts 0-2/3', 2],
      'a client that names a limit reads on'
    )
  })
}
