import t, { type Test } from 'tap'
import { setQuota } from '../src/shops/shop-repository.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t)
const METRICS_TOKEN = 'metrics-token-for-tests'
const app = await build(t, database, idp, { settings: { METRICS_TOKEN } })
const token = bearer(await idp.machineToken())

const shopAt = async (slug: string) => {
  const id = await createShop(database, slug)
  return { id, call: client(app, `/shops/${id}`, token) }
}

/** What the lines of the shop add up to, and what its records come to. */
async function usageOf (id: string): Promise<unknown> {
  const [counted] = await knex('shop_usage').where({ shop_id: id }).select(
    knex.raw('coalesce(sum(records), 0)::int as records, coalesce(sum(bytes), 0)::int as bytes')
  )
  const tables = ['products', 'categories', 'tags', 'attributes', 'accounts', 'orders', 'prices']
  const { rows: [actual] } = await knex.raw(
    'select coalesce(sum(records), 0)::int as records, coalesce(sum(bytes), 0)::int as bytes from ' +
      `(${
        tables.map((table) => `select count(*) as records, sum(bytes) as bytes from ${table} where shop_id = :id`).join(
          ' union all '
        )
      }) ` +
      'tables',
    { id }
  )
  t.strictSame(counted, actual, 'the lines add up to the records')
  return actual
}

t.test('a record says how large it is, and never less than it is', async (t) => {
  const { id, call } = await shopAt('measured')
  const awkward = '\u0001"\\\n好😀'.repeat(50)
  const tag = (await call('POST', '/tags', { name: awkward.slice(0, 200), slug: 'tag' })).body
  const category = (await call('POST', '/categories', { name: 'Category', description: awkward })).body
  const attribute = (await call('POST', '/attributes', { name: 'Text', type: 'text', unit: 'cm' })).body
  const select = (await call('POST', '/attributes', { name: 'Select', type: 'select', options: ['"a"', 'b\n'] })).body
  const product = (await call('POST', '/products', {
    name: 'Product',
    sku: '"sku"',
    description: awkward,
    price_amount: Number.MAX_SAFE_INTEGER,
    metadata: { a: awkward, b: [1e300, { c: null }] },
    status: 'active',
    category_ids: [category.id],
    tag_ids: [tag.id],
    attributes: [{ attribute_id: attribute.id, value: awkward }, { attribute_id: select.id, value: '"a"' }]
  })).body
  const account =
    (await call('POST', '/accounts', { name: 'Account', hash_name: awkward.slice(0, 200), details: { a: awkward } }))
      .body
  await call('POST', '/prices', {
    product_id: product.id,
    amount: 5,
    min_quantity: 1,
    valid_from: '2020-01-01T00:00:00Z',
    valid_to: '2190-01-01T00:00:00Z'
  })
  await call('POST', '/orders', { account_id: account.id, lines: [{ product_id: product.id, quantity: 100_000 }] })
  for (const table of ['products', 'categories', 'tags', 'attributes', 'accounts', 'orders', 'prices']) {
    const records = (await call('GET', `/${table}`)).body
    for (const record of records) {
      const actual = Buffer.byteLength(JSON.stringify(record))
      const { bytes } = await knex(table).where({ id: record.id }).first('bytes')
      t.ok(bytes >= actual && bytes < actual * 2 + 400, `${table}: ${bytes} for ${actual}`)
    }
  }
  await usageOf(id)
})

t.test('what a shop uses is known after every change, also by foreign keys, and forgotten with the shop', async (t) => {
  const { id, call } = await shopAt('counted')
  t.strictSame(await usageOf(id), { records: 0, bytes: 0 })
  const [tag, other] = [
    (await call('POST', '/tags', { name: 'Tag' })).body,
    (await call('POST', '/tags', { name: 'Other' })).body
  ]
  const category = (await call('POST', '/categories', { name: 'Category' })).body
  await call('POST', '/categories', { name: 'Below', parent_id: category.id })
  const attribute = (await call('POST', '/attributes', { name: 'Text', type: 'text' })).body
  const linked = {
    category_ids: [category.id],
    tag_ids: [tag.id, other.id],
    attributes: [{ attribute_id: attribute.id, value: 'x'.repeat(1000) }]
  }
  const products = await Promise.all(
    ['One', 'Two'].map(async (name) =>
      (await call('POST', '/products', { name, status: 'active', price_amount: 1, ...linked })).body
    )
  )
  const account = (await call('POST', '/accounts', { name: 'Account', details: { a: 'b' } })).body
  await call('POST', '/orders', {
    account_id: account.id,
    lines: products.map(({ id }: { id: string }) => ({ product_id: id }))
  })
  t.match(await usageOf(id), { records: 9 })
  const sizes = async () =>
    (await knex('products').where({ shop_id: id }).orderBy('name').select('bytes')).map(({ bytes }) => bytes)
  const [one] = await sizes()
  for (
    const [method, path, body] of [
      ['PATCH', `/products/${products[0].id}`, { description: 'y'.repeat(500), tag_ids: [tag.id] }],
      ['PATCH', `/products/${products[0].id}`, { attributes: [] }],
      ['PATCH', `/accounts/${account.id}`, { details: { a: null, c: 'd'.repeat(99) } }],
      ['DELETE', `/tags/${tag.id}`],
      ['DELETE', `/categories/${category.id}`],
      ['DELETE', `/attributes/${attribute.id}`],
      ['DELETE', `/accounts/${account.id}`],
      ['DELETE', `/products/${products[1].id}`]
    ] as const
  ) {
    t.match(await call(method, path, body), { status: body === undefined ? 204 : 200 })
    await usageOf(id)
  }
  t.strictSame(await sizes(), [one - 39 * 3 - 66 - 1002 + 502 - 'null'.length], 'without its links')
  // More lines than are kept.
  await knex('tags').insert({ shop_id: id, name: 'Many', slug: 'many' })
  for (let i = 0; i < 70; i++) await call('PATCH', `/tags/${other.id}`, { name: 'x'.repeat(i + 1) })
  await usageOf(id)
  t.ok((await knex('shop_usage').where({ shop_id: id })).length <= 65, 'lines are replaced by their sum')
  await knex('orders').where({ shop_id: id }).delete()
  await knex('shops').where({ id }).delete()
  t.strictSame(await knex('shop_usage').where({ shop_id: id }), [])
})

t.test('a record of more than 64 KiB is refused, however it would come to that', async (t) => {
  const { id, call } = await shopAt('large')
  const attributes = await knex('attributes').insert(
    Array.from({ length: 100 }, (_, n) => ({ shop_id: id, name: `a${n}`, code: `a${n}`, type: 'text' }))
  ).returning('id')
  const values = (count: number, length = 2000) =>
    attributes.slice(0, count).map(({ id }) => ({ attribute_id: id, value: 'x'.repeat(length) }))
  const refusal = (fields: string) => ({
    status: 422,
    body: {
      statusCode: 422,
      code: 'SHOP_RECORD_TOO_LARGE',
      error: 'Unprocessable Entity',
      message: `The record would be larger than 64 KiB as JSON: shorten ${fields}`
    }
  })
  const tooLarge = refusal('description, metadata or attributes')
  t.match(
    await call('POST', '/products', { name: 'Alone', description: '\u0001'.repeat(20_000) }),
    tooLarge,
    'by one field'
  )
  t.match(await call('POST', '/products', { name: 'Links', attributes: values(32) }), tooLarge, 'by its links')
  const product = (await call('POST', '/products', { name: 'Fits', attributes: values(30) })).body
  t.equal(product.attributes.length, 30)
  t.match(await call('PATCH', `/products/${product.id}`, { attributes: values(32) }), tooLarge)
  t.match(await call('PATCH', `/products/${product.id}`, { description: 'x'.repeat(5000) }), tooLarge, 'by a change')
  t.equal((await call('GET', `/products/${product.id}`)).body.description, null)
  t.match(
    await call('POST', '/categories', { name: 'Category', description: '😀'.repeat(20_000) }),
    refusal('description')
  )
  t.match(
    await call('POST', '/attributes', {
      name: 'Select',
      type: 'select',
      options: Array.from({ length: 500 }, (_, n) => `${n}${'x'.repeat(190)}`)
    }),
    refusal('options')
  )

  // As a migration that adds a column may make one.
  await knex.raw('alter table products disable trigger count_update')
  await knex('products').where({ id: product.id }).update({ description: 'x'.repeat(20_000) })
  await knex.raw('alter table products enable trigger count_update')
  t.match(
    await call('PATCH', `/products/${product.id}`, { price_amount: 5 }),
    { status: 200 },
    'one that is too large can be changed'
  )
  t.match(
    await call('PATCH', `/products/${product.id}`, { description: 'x'.repeat(20_000), name: 'Grows more' }),
    tooLarge,
    'but not grow'
  )
})

t.test('a page ends before it is larger than 256 KiB, and says where the next one starts', async (t) => {
  const { id, call } = await shopAt('paged')
  const names = Array.from({ length: 12 }, (_, n) => `Record ${String(n).padStart(2, '0')}`)
  for (const name of names) {
    await call('POST', '/categories', { name, description: 'é'.repeat(20_000), position: 5 })
    await call('POST', '/products', { name, description: 'é'.repeat(20_000), ...(name < 'Record 03' && { sku: name }) })
  }
  const walk = async (path: string): Promise<{ ranges: string[], found: string[] }> => {
    const [ranges, found]: [string[], string[]] = [[], []]
    for (let skip = 0, count = 1; skip < count;) {
      const { headers, body } = await call('GET', `${path}&skip=${skip}`)
      const range = String(headers['content-range'])
      t.ok(Buffer.byteLength(JSON.stringify(body)) <= 262_144)
      ranges.push(range)
      found.push(...body.map(({ name }: { name: string }) => name))
      const [, end, total] = /-(\d+)\/(\d+)$/.exec(range)!
      ;[skip, count] = [Number(end), Number(total)]
    }
    return { ranges, found }
  }
  t.strictSame(await walk('/categories?limit=200'), {
    ranges: ['categories 0-6/12', 'categories 6-206/12'],
    found: names
  })
  t.strictSame(await walk('/products?limit=6&sort=-name'), {
    ranges: ['products 0-6/12', 'products 6-12/12'],
    found: names.toReversed()
  })
  t.strictSame(await walk('/products?limit=10&filter={"q":"record"}'), {
    ranges: ['products 0-6/12', 'products 6-16/12'],
    found: names
  })
  const { ranges, found } = await walk('/products?sort=-sku')
  t.strictSame([ranges, found.slice(0, 3), found.toSorted()], [['products 0-6/12', 'products 6-31/12'], [
    'Record 02',
    'Record 01',
    'Record 00'
  ], names])
  t.strictSame((await walk('/categories?sort=position')).found.toSorted(), names)

  const tooLarge = (field: string) => ({ status: 422, body: { code: 'SHOP_INVALID', field, message: /only 6 fit/ } })
  const ids = (await call('GET', '/products?limit=6')).body.map((product: { id: string }) => product.id)
  t.match(
    await call('GET', '/products?range=[0,11]'),
    tooLarge('range'),
    'a client that reads fixed ranges would miss records'
  )
  t.match(await call('GET', '/products?range=[0,5]'), { status: 200, headers: { 'content-range': 'products 0-6/12' } })
  t.match(await call('GET', `/products?filter=${JSON.stringify({ id: ids })}`), { status: 200, body: { length: 6 } })
  const all = [...ids, ...(await call('GET', '/products?skip=6')).body.map((product: { id: string }) => product.id)]
  t.match(await call('GET', `/products?filter=${JSON.stringify({ id: all })}`), tooLarge('filter'))
  t.match(await call('GET', `/products?filter=${JSON.stringify({ id: all })}&limit=12`), {
    status: 200,
    body: { length: 6 }
  }, 'with a limit, it pages')

  await knex('accounts').insert(
    ['Small', 'Middle', 'Large'].map((name) => ({
      shop_id: id,
      name,
      details: name === 'Middle' ? { pay_customer: 'x'.repeat(300_000) } : {}
    }))
  )
  const accounts = []
  for (const skip of [0, 1, 2]) {
    const { headers, body } = await call('GET', `/accounts?skip=${skip}`)
    accounts.push([headers['content-range'], body.map(({ name }: { name: string }) => name)])
  }
  t.strictSame(accounts, [
    ['accounts 0-1/3', ['Large']],
    ['accounts 1-2/3', ['Middle']],
    ['accounts 2-27/3', ['Small']]
  ], 'it has a record at least')
})

const limited = async (t: Test, slug: string, quota: { QUOTA_RECORDS?: number, QUOTA_BYTES?: number }) => {
  await setQuota(knex, { QUOTA_RECORDS: 1_000_000, QUOTA_BYTES: 1_000_000_000, ...quota })
  t.teardown(async () => {
    await knex('shop_quota').delete()
  })
  return await shopAt(slug)
}

t.test('a shop has no more records than its quota, however many are made at once; others go on', async (t) => {
  const { id, call } = await limited(t, 'full', { QUOTA_RECORDS: 10 })
  const other = await shopAt('not-full')
  const answers = await Promise.all(
    Array.from(
      { length: 30 },
      async (_, n) => await call('POST', ['/tags', '/categories', '/products'][n % 3]!, { name: `Record ${n}` })
    )
  )
  t.equal(answers.filter(({ status }) => status === 201).length, 10)
  t.match(await usageOf(id), { records: 10 })
  const refused = answers.find(({ status }) => status !== 201)!
  t.strictSame([refused.status, refused.body], [403, {
    statusCode: 403,
    code: 'SHOP_QUOTA_EXCEEDED',
    error: 'Forbidden',
    message: 'The shop has used its quota of 10 records: delete records, or ask the operator of the server for more'
  }])
  const [tag] = (await call('GET', '/tags')).body
  t.equal((await call('PATCH', `/tags/${tag.id}`, { name: 'A longer name than it had' })).status, 200)
  t.equal((await call('DELETE', `/tags/${tag.id}`)).status, 204)
  t.equal((await call('POST', '/tags', { name: 'Room again' })).status, 201)
  t.equal((await call('POST', '/tags', { name: 'And full again' })).status, 403)
  t.equal((await other.call('POST', '/tags', { name: 'Tag' })).status, 201)
  const metrics = await app.inject({ url: '/metrics', headers: bearer(METRICS_TOKEN) })
  t.match(metrics.body, /^shop_quota_exceeded_total\{quota="records"\} 21$/m)
})

t.test('a shop has no more bytes than its quota, and can always have fewer', async (t) => {
  const { id, call } = await limited(t, 'heavy', { QUOTA_BYTES: 50_000 })
  const tag = (await call('POST', '/tags', { name: 'Tag' })).body
  const answers = await Promise.all(
    Array.from(
      { length: 12 },
      async (_, n) => await call('POST', '/categories', { name: `Record ${n}`, description: 'x'.repeat(8000) })
    )
  )
  t.strictSame(answers.map(({ status }) => status).toSorted(), [
    201,
    201,
    201,
    201,
    201,
    403,
    403,
    403,
    403,
    403,
    403,
    403
  ])
  t.match(answers.find(({ status }) => status === 403)!.body, {
    code: 'SHOP_QUOTA_EXCEEDED',
    message: /quota of 50000 bytes/
  })
  const [category] = (await call('GET', '/categories?limit=1')).body
  t.match(await call('PATCH', `/categories/${category.id}`, { description: 'x'.repeat(20_000) }), {
    status: 403,
    body: { code: 'SHOP_QUOTA_EXCEEDED' }
  })
  await setQuota(knex, { QUOTA_RECORDS: 1, QUOTA_BYTES: 10_000 })
  t.match(
    await call('PATCH', `/categories/${category.id}`, { description: null }),
    { status: 200 },
    'also when the quota is smaller by now'
  )
  t.match(await call('DELETE', `/tags/${tag.id}`), { status: 204 })
  t.match(await usageOf(id), { records: 5 })
})
