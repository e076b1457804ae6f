import t from 'tap'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t)
const settings = { RATE_LIMIT_MAX: 100_000 }
/** Two servers: what one remembers, the other does not know of. */
const apps = [await build(t, database, idp, { settings }), await build(t, database, idp, { settings })]
const token = bearer(await idp.machineToken())

const FILTERS = [
  undefined,
  { q: 'tea' },
  { status: ['active'] },
  { price_amount_gte: 5 },
  { tag_ids: 'tag' },
  { category_ids: 'category' },
  { attributes: { attribute_id: 'attribute', value: 'S' } },
  { metadata: { a: 1 } }
] as const

t.test('the count of a list is exact after every change, also where it was counted before', async (t) => {
  const shop = await createShop(database, 'counted')
  const [call, elsewhere] = apps.map((app) => client(app, `/shops/${shop}`, token)) as [
    ReturnType<typeof client>,
    ReturnType<typeof client>
  ]
  const neighbour = client(apps[0]!, `/shops/${await createShop(database, 'neighbour')}`, token)
  const make = async (path: string, body: object) => (await elsewhere('POST', path, body)).body
  const tag = await make('/tags', { name: 'Tag' })
  const category = await make('/categories', { name: 'Category' })
  const attribute = await make('/attributes', { name: 'Size', type: 'select', options: ['S', 'M'] })
  const ids: Record<string, string> = { tag: tag.id, category: category.id, attribute: attribute.id }
  const filters = FILTERS.map((filter) =>
    filter &&
    JSON.stringify(filter).replaceAll(/"(tag|category|attribute)"/g, (_, name: string) => JSON.stringify(ids[name]))
  )

  /** Asserts the counts, which a page of all records shows. */
  const counts = async (what: string): Promise<number[]> => {
    const found: number[] = []
    for (const filter of filters) {
      const query = filter === undefined ? '' : `&filter=${encodeURIComponent(filter)}`
      const { headers, body } = await call('GET', `/products?limit=200${query}`)
      t.equal(headers['content-range'], `products 0-200/${body.length}`, `${what}: ${filter}`)
      t.equal(
        (await call('GET', `/products?limit=1&skip=1000${query}`)).headers['content-range'],
        `products 1000-1001/${body.length}`,
        'past the end'
      )
      found.push(body.length)
    }
    return found
  }

  await counts('of an empty shop')
  const links = {
    category_ids: [category.id],
    tag_ids: [tag.id],
    attributes: [{ attribute_id: attribute.id, value: 'S' }]
  }
  const first = await make('/products', {
    name: 'Green tea',
    price_amount: 5,
    status: 'active',
    metadata: { a: 1 },
    ...links
  })
  await make('/products', { name: 'Coffee', price_amount: 4, ...links })
  t.strictSame(await counts('after creations'), [2, 1, 1, 1, 2, 2, 2, 1])
  await neighbour('POST', '/products', { name: 'Tea elsewhere' })
  // As many bytes as before.
  for (
    const [what, changes, expected] of [
      ['of a name', { name: 'Green pea' }, [2, 0, 1, 1, 2, 2, 2, 1]],
      ['of a price', { price_amount: 3 }, [2, 0, 1, 0, 2, 2, 2, 1]],
      ['of a status', { status: 'draft' }, [2, 0, 0, 0, 2, 2, 2, 1]],
      ['of metadata', { metadata: { a: 2 } }, [2, 0, 0, 0, 2, 2, 2, 0]],
      ['of an attribute', { attributes: [{ attribute_id: attribute.id, value: 'M' }] }, [2, 0, 0, 0, 2, 2, 1, 0]],
      ['of tags', { tag_ids: [] }, [2, 0, 0, 0, 1, 2, 1, 0]]
    ] as const
  ) {
    t.equal((await elsewhere('PATCH', `/products/${first.id}`, changes)).status, 200)
    t.strictSame(await counts(`after a change ${what}`), expected)
  }
  t.equal((await elsewhere('DELETE', `/categories/${category.id}`)).status, 204)
  t.strictSame(await counts('after the deletion of a category'), [2, 0, 0, 0, 1, 0, 1, 0])
  await t.rejects(knex.transaction(async (trx) => {
    await trx('products').where({ id: first.id }).delete()
    throw new Error('undone')
  }))
  t.strictSame(await counts('after a change that was rolled back'), [2, 0, 0, 0, 1, 0, 1, 0])
  // More changes than there are lines.
  for (let n = 0; n < 70; n++) await knex('products').where({ id: first.id }).update({ price_amount: n })
  t.strictSame(await counts('after many changes'), [2, 0, 0, 1, 1, 0, 1, 0])
  t.equal((await elsewhere('DELETE', `/products/${first.id}`)).status, 204)
  t.strictSame(await counts('after a deletion'), [1, 0, 0, 0, 1, 0, 1, 0])
})

t.test('a count is made once, until the records change', async (t) => {
  const shop = await createShop(database, 'asked')
  const call = client(apps[0]!, `/shops/${shop}`, token)
  await call('POST', '/products', { name: 'Tea', price_amount: 7 })
  const known: Array<string | null> = []
  const listen = ({ sql, bindings }: { sql: string, bindings: unknown[] }): void => {
    if (sql.includes('case when matching_state')) {
      known.push(bindings.find((value) => /^[0-9a-f]{32}$/.test(String(value))) as string ?? null)
    }
  }
  knex.on('query', listen)
  const list = async (filter: object) =>
    (await call('GET', `/products?filter=${encodeURIComponent(JSON.stringify(filter))}`)).headers['content-range']
  t.equal(await list({ q: 'tea' }), 'products 0-25/1')
  t.equal(await list({ q: 'tea' }), 'products 0-25/1')
  t.equal(await list({ q: 'coffee' }), 'products 0-25/0')
  t.match(known, [null, /./, null], 'remembered by its filter')
  await call('POST', '/products', { name: 'More tea' })
  t.equal(await list({ q: 'tea' }), 'products 0-25/2')
  t.equal(known.at(-1), known[1], 'what is remembered is of an earlier state')
  await list({ q: 'tea' })
  t.not(known.at(-1), known[1])
  knex.removeListener('query', listen)
})

t.test('every record of a page matches its filter, also while others change it', async (t) => {
  const id = await createShop(database, 'changing')
  const call = client(apps[0]!, `/shops/${id}`, token)
  const writer = client(apps[1]!, `/shops/${id}`, token)
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push((await call('POST', '/products', { name: `Tea ${n}`, status: 'draft' })).body.id)
  const done = new AbortController()
  const writing = ids.map(async (id) => {
    for (let n = 0; !done.signal.aborted; n++) {
      await writer('PATCH', `/products/${id}`, { status: n % 2 === 0 ? 'active' : 'draft' })
    }
  })
  const wrong: string[] = []
  for (let n = 0; n < 150; n++) {
    const { status, body, headers } = await call(
      'GET',
      `/products?filter=${encodeURIComponent('{"status":["draft"]}')}`
    )
    if (
      status !== 200 || body.some((product: { status: string }) => product.status !== 'draft') ||
      !headers['content-range']!.endsWith(`/${body.length}`)
    ) wrong.push(JSON.stringify(body))
  }
  done.abort()
  await Promise.all(writing)
  t.strictSame(wrong, [])
})
