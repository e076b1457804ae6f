import t from 'tap'
import { setQuota } from '../src/shops/shop-repository.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['owner'])
const app = await build(t, database, idp, { settings: { RATE_LIMIT_MAX: 100_000 } })
const machine = bearer(await idp.machineToken())

type Body = Record<string, any>
let shops = 0

async function openShop () {
  const id = await createShop(database, `shop-${++shops}`)
  const as = client(app, `/shops/${id}`, machine)
  const make = async (path: string, body: object): Promise<string> => (await as('POST', path, body)).body.id
  return {
    id,
    as,
    make,
    batch: async (items: readonly object[]) => await as('POST', '/products/batch', { items }),
    products: async (): Promise<Body[]> => (await as('GET', '/products?limit=200')).body,
    history: async (): Promise<Body[]> => (await as('GET', '/history?limit=200&sort=at')).body
  }
}

t.test('products are created and changed in one request', async (t) => {
  const { make, batch, products, history } = await openShop()
  const [tag, other, category] = [
    await make('/tags', { name: 'New' }),
    await make('/tags', { name: 'Sale' }),
    await make('/categories', { name: 'Mugs' })
  ]
  const size = await make('/attributes', { name: 'Size', type: 'select', options: ['S', 'M'] })
  const known = await make('/products', { name: 'Known', price_amount: 100, tag_ids: [tag] })
  const same = await make('/products', { name: 'Same', sku: 'SAME' })
  const items = [
    {
      name: 'Mug',
      sku: 'M-1',
      price_amount: 900,
      status: 'active',
      description: 'Holds tea',
      category_ids: [category],
      tag_ids: [other.toUpperCase(), tag],
      attributes: [{ attribute_id: size, value: 'M' }],
      image_urls: ['/b.svg', '/a.svg'],
      metadata: { erp: 7 }
    },
    { id: known.toUpperCase(), price_amount: 120, tag_ids: [] },
    { id: same, name: 'Same', sku: 'SAME' },
    { name: 'Bare' }
  ]
  const before = (await products()).find(({ id }) => id === same)
  const { status, body } = await batch(items)
  t.match([status, body], [200, {
    created: 2,
    updated: 1,
    unchanged: 1,
    items: [
      { action: 'created' },
      { id: known, action: 'updated' },
      { id: same, action: 'unchanged' },
      { action: 'created' }
    ]
  }], JSON.stringify(body))
  const rows = await products()
  const row = (id: string): Body => rows.find((row) => row['id'] === id)!
  t.match(row(body.items[0].id), { ...items[0], slug: 'mug', currency: 'EUR', tag_ids: [tag, other].toSorted() })
  t.match(row(known), { name: 'Known', price_amount: 120, tag_ids: [] })
  t.strictSame(row(same), before, 'what did not change is as it was, with its updated_at')
  t.match(row(body.items[3].id), {
    name: 'Bare',
    slug: 'bare',
    status: 'draft',
    currency: 'EUR',
    description: null,
    sku: null,
    price_amount: null,
    metadata: {},
    category_ids: [],
    tag_ids: [],
    attributes: [],
    image_urls: []
  })
  const entries = (await history()).filter(({ operation }) => operation === 'write_products')
  t.equal(entries.length, 3)
  t.match(entries.find(({ record_id: id }) => id === known), {
    action: 'update',
    changes: { price_amount: { before: 100, after: 120 }, tag_ids: { before: [tag], after: [] } }
  })
  t.strictSame(Object.keys(entries.find(({ record_id: id }) => id === known)!['changes']).toSorted(), [
    'price_amount',
    'tag_ids'
  ])
})

t.test('a product of a batch is what the same product created alone is', async (t) => {
  const { make, batch, as } = await openShop()
  const tag = await make('/tags', { name: 'New' })
  const input = {
    name: 'Tea, green',
    description: null,
    price_amount: 0,
    tag_ids: [tag],
    image_urls: ['/a.svg', 'https://cdn.example/é.jpg'],
    metadata: { a: [1, { b: null }] }
  }
  const alone = await make('/products', { ...input, slug: 'alone' })
  const { body } = await batch([{ ...input, slug: 'batched' }])
  const own = ({ id: _, slug: __, created_at: ___, updated_at: ____, ...rest }: Body): Body => rest
  const [one, other] = [
    (await as('GET', `/products/${alone}`)).body,
    (await as('GET', `/products/${body.items[0].id as string}`)).body
  ]
  t.strictSame(own(one), own(other))
  const changes = async (
    id: string
  ) => (await knex('history').where({ record_id: id }).first('changes', 'action', 'record_name', 'actor_kind', 'bytes'))
  const own2 = ({ changes: { slug: _, ...rest }, bytes: __, ...more }: Body): Body => ({ ...more, rest })
  t.strictSame(own2(await changes(alone)), own2(await changes(body.items[0].id)))
  const sizes = await knex('products').whereIn('id', [alone, body.items[0].id]).select('bytes', 'slug', 'part_bytes')
  t.equal(new Set(sizes.map(({ bytes, slug }) => bytes - slug.length)).size, 1, 'also in size')
})

t.test('one wrong item keeps all from being written, and is named', async (t) => {
  const { id, make, batch, products } = await openShop()
  const elsewhere = await openShop()
  const theirs = await elsewhere.make('/products', { name: 'Theirs' })
  const theirTag = await elsewhere.make('/tags', { name: 'Theirs' })
  const [size, flag] = [
    await make('/attributes', { name: 'Size', type: 'select', options: ['S'] }),
    await make('/attributes', { name: 'Flag', type: 'boolean' })
  ]
  const taken = await make('/products', { name: 'Taken', sku: 'T-1' })
  const other = await make('/products', { name: 'Other' })
  const before = await products()
  for (
    const [item, status, field] of [
      [{ sku: 'X' }, 422, 'items/1/name'],
      [{ name: '   ' }, 422, 'items/1/name'],
      [{ name: 'X', price_amount: -1 }, 422, 'items/1/price_amount'],
      [{ name: 'X', price_amount: '1' }, 422, 'items/1/price_amount'],
      [{ name: 'X', colour: 'red' }, 422, 'items/1/colour'],
      [{ name: 'X', currency: 'XXQ' }, 422, 'items/1/currency'],
      [{ name: 'X', tag_ids: [theirTag] }, 422, 'items/1/tag_ids/0'],
      [{ name: 'X', category_ids: [theirs] }, 422, 'items/1/category_ids/0'],
      [{ name: 'X', attributes: [{ attribute_id: theirTag, value: 'S' }] }, 422, 'items/1/attributes/0/attribute_id'],
      [{ name: 'X', attributes: [{ attribute_id: size, value: 'L' }] }, 422, 'items/1/attributes/0/value'],
      [
        {
          name: 'X',
          attributes: [{ attribute_id: flag, value: true }, { attribute_id: flag.toUpperCase(), value: true }]
        },
        422,
        'items/1/attributes/1/attribute_id'
      ],
      [{ name: 'X', metadata: { long: 'x'.repeat(20_000) } }, 422, 'items/1/metadata'],
      [{ name: 'X', image_urls: ['/a.svg', 'http://cdn.example/a.jpg'] }, 422, 'items/1/image_urls/1'],
      [{ name: 'X', image_urls: ['/a.svg', '/a.svg'] }, 422, 'items/1/image_urls/1'],
      [{ name: 'X\0' }, 422, 'items/1/name'],
      [{ name: '☃' }, 422, 'items/1/slug'],
      [{ name: 'Taken' }, 409, 'items/1/slug'],
      [{ name: 'X', sku: 'T-1' }, 409, 'items/1/sku'],
      [{ name: 'First' }, 409, 'items/1/slug'],
      [{ id: theirs, name: 'Mine' }, 422, 'items/1/id'],
      [{ id: 'x', name: 'Mine' }, 422, 'items/1/id'],
      [{ id: other, sku: 'T-1' }, 409, 'items/1/sku'],
      [{ id: taken, sku: 'T-1', slug: 'other' }, 409, 'items/1/slug'],
      [{ name: 'Large', description: '\u0001'.repeat(20_000) }, 422, 'items/1']
    ] as const
  ) {
    const response = await batch([{ name: 'First' }, item])
    t.equal(response.status, status, JSON.stringify([item, response.body]).slice(0, 300))
    t.equal(response.body.field, field, JSON.stringify(item).slice(0, 100))
    t.match(response.body.message, new RegExp(`^${field}`))
  }
  t.match(await batch([{ id: taken, name: 'Once' }, { id: taken.toUpperCase(), name: 'Twice' }]), {
    status: 409,
    body: { field: 'items/1/id' }
  })
  t.match(await batch([]), { status: 422, body: { field: 'items' } })
  t.match(await batch(Array.from({ length: 501 }, (_, n) => ({ name: `P ${n}` }))), {
    status: 422,
    body: { field: 'items' }
  })
  t.match(await batch([{ name: 'x', description: 'x'.repeat(2_000_000) }]), { status: 413 })
  t.strictSame(await products(), before)
  t.equal(Number((await knex('history').where({ shop_id: id, operation: 'write_products' }).count())[0]!['count']), 0)
})

t.test('the quota holds for a batch as a whole', async (t) => {
  const { batch, products } = await openShop()
  t.teardown(async () => await setQuota(knex, { QUOTA_RECORDS: 1_000_000, QUOTA_BYTES: 2 ** 32 }))
  await setQuota(knex, { QUOTA_RECORDS: 3, QUOTA_BYTES: 2 ** 32 })
  t.equal((await batch([{ name: 'A' }, { name: 'B' }])).status, 200)
  t.match(await batch([{ name: 'C' }, { name: 'D' }]), { status: 403, body: { code: 'SHOP_QUOTA_EXCEEDED' } })
  t.equal((await products()).length, 2)
})

t.test('a product may be as large as one record, whatever was replaced in it', async (t) => {
  const { make, batch } = await openShop()
  const attributes = await Promise.all(
    Array.from({ length: 16 }, async (_, n) => await make('/attributes', { name: `A ${n}`, type: 'text' }))
  )
  const product = await make('/products', {
    name: 'P',
    attributes: attributes.map((id) => ({ attribute_id: id, value: 'x'.repeat(2000) }))
  })
  t.match(await batch([{ id: product, attributes: [], description: 'é'.repeat(20_000) }]), {
    status: 200,
    body: { updated: 1 }
  })
  t.match(
    await batch([{
      id: product,
      attributes: attributes.map((id) => ({ attribute_id: id, value: 'x'.repeat(2000) })),
      description: null
    }]),
    { status: 200, body: { updated: 1 } }
  )
  t.match(await batch([{ id: product, description: 'é'.repeat(20_000) }]), {
    status: 422,
    body: { field: 'items/0', message: /^items\/0: / }
  })
})

t.test('pictures count to the byte', async (t) => {
  const { make, batch } = await openShop()
  const product = await make('/products', {
    name: 'P',
    description: 'é'.repeat(20_000),
    image_urls: Array.from({ length: 10 }, (_, n) => `https://cdn.example/${n}${'é'.repeat(470)}`)
  })
  const { bytes } = await knex('products').where({ id: product }).first('bytes')
  const filled = (more: number): object => ({
    id: product,
    metadata: { a: 'x'.repeat(65_536 - bytes - '"a": ""'.length + more) }
  })
  t.match(await batch([filled(1)]), { status: 422, body: { field: 'items/0', code: 'SHOP_RECORD_TOO_LARGE' } })
  t.match(await batch([filled(0)]), { status: 200, body: { updated: 1 } })
  t.match(
    await batch([{ ...filled(500), image_urls: ['/a.svg'] }]),
    { status: 200, body: { updated: 1 } },
    'fewer leave room'
  )
})

t.test('batches at the same time neither deadlock nor write twice', async (t) => {
  const { batch, make, products } = await openShop()
  const ids = await Promise.all(['A', 'B', 'C'].map(async (name) => await make('/products', { name })))
  const results = await Promise.all(Array.from({ length: 6 }, async (_, n) => {
    const items = [
      ...(n % 2 === 0 ? ids : ids.toReversed()).map((id) => ({ id, price_amount: n })),
      ...Array.from({ length: 20 }, (_, i) => ({ name: `New ${n % 2 === 0 ? i : 19 - i}`, sku: `S-${i}` }))
    ]
    return await batch(items)
  }))
  t.strictSame(
    results.map(({ status }) => status).toSorted(),
    [200, ...Array(5).fill(409)],
    JSON.stringify(results.map(({ body }) => body.message ?? ''))
  )
  t.ok(
    results.every(({ status, body }) => status === 200 || /^items\/\d+\/(slug|sku)$/.test(body.field)),
    JSON.stringify(results.map(({ body }) => body.field))
  )
  t.equal((await products()).length, 23)
})

t.test('a batch that changes large products keeps few of them in memory, and is written as a whole', async (t) => {
  const { id, batch, as, history } = await openShop()
  const made: Body[] = (await knex.raw(
    "insert into products (shop_id, name, slug, currency, description) select ?, 'P ' || n, 'p-' || n, 'EUR', " +
      "repeat('é', 19000) from generate_series(1, 60) n returning id",
    [id]
  )).rows
  const products = made.map(({ id }) => id as string)
  let largest = 0
  const listen = ({ bindings = [] }: { readonly bindings?: readonly unknown[] }): void => {
    for (const value of bindings) if (typeof value === 'string') largest = Math.max(largest, Buffer.byteLength(value))
  }
  knex.on('query', listen)
  t.teardown(() => {
    knex.removeListener('query', listen)
  })
  const items = products.map((id, n) => ({ id, sku: `L-${n}` }))
  for (
    const [last, status, field] of [
      [{ name: 'New', sku: 'L-0' }, 409, 'items/60/sku'],
      [{ id: products[0]!.toUpperCase(), name: 'Twice' }, 409, 'items/60/id'],
      [{ name: 'New', category_ids: [id] }, 422, 'items/60/category_ids/0']
    ] as const
  ) t.match(await batch([...items, last]), { status, body: { field } })
  t.strictSame(await history(), [])
  const results = await Promise.all([batch(items), batch(items.toReversed())])
  t.strictSame(
    results.map(({ body }) => body.updated).toSorted(),
    [0, 60],
    JSON.stringify(results.map(({ body }) => body.message ?? ''))
  )
  t.match(await as('GET', `/products/${products[59]}`), { body: { sku: 'L-59' } })
  t.ok(largest > 200_000 && largest < 2_000_000, `at most ${largest} bytes at once, of 2.3 MB`)
})

t.test('a batch takes as many statements for 500 products as for two', async (t) => {
  const { batch, make } = await openShop()
  const tag = await make('/tags', { name: 'New' })
  const count = async (items: readonly object[]): Promise<number> => {
    let statements = 0
    const listen = (): void => {
      statements += 1
    }
    knex.on('query', listen)
    const { status, body } = await batch(items)
    knex.removeListener('query', listen)
    t.equal(status, 200, JSON.stringify(body).slice(0, 300))
    return statements
  }
  const items = (size: number, start: number): object[] =>
    Array.from(
      { length: size },
      (_, n) => ({ name: `Product ${start + n}`, sku: `S-${start + n}`, price_amount: n, tag_ids: [tag] })
    )
  const few = await count(items(2, 0))
  t.equal(await count(items(500, 2)), few)
  t.ok(few < 16, String(few))
})
