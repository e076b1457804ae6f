import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import {
  bearer,
  build,
  client,
  createShop,
  INSTANT,
  openIdentityProvider,
  openTestDatabase,
  TEST_DATABASE_URL,
  UUID
} from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp)
const token = bearer(await idp.machineToken())
const shopId = await createShop(database, 'here')
const otherId = await createShop(database, 'elsewhere', 'USD')
const here = client(app, `/shops/${shopId}`, token)
const elsewhere = client(app, `/shops/${otherId}`, token)
const NOBODY = '00000000-0000-4000-8000-000000000000'

const nested = (depth: number): object => depth === 0 ? {} : { a: nested(depth - 1) }

const server = { id: UUID, shop_id: shopId, created_at: INSTANT, updated_at: INSTANT }

/** One row for each resource: what only the required fields give, and a change of every other field. */
const resources = [{
  noun: 'product',
  path: '/products',
  least: { name: 'Café Crème Mug' },
  made: {
    name: 'Café Crème Mug',
    slug: 'cafe-creme-mug',
    description: null,
    sku: null,
    status: 'draft',
    price_amount: null,
    currency: 'EUR',
    category_ids: [],
    tag_ids: [],
    attributes: [],
    image_urls: [],
    metadata: {}
  },
  changes: {
    name: 'Mug',
    slug: 'mug',
    description: 'Holds *coffee*.',
    sku: 'M-1',
    status: 'active',
    price_amount: 1999,
    currency: 'USD',
    image_urls: ['https://cdn.example/b.jpg?w=9', '/pictures/a.svg'],
    metadata: { origin: { country: 'PT' }, tested: true }
  }
}, {
  noun: 'category',
  path: '/categories',
  least: { name: 'Tea & Coffee' },
  made: { name: 'Tea & Coffee', slug: 'tea-and-coffee', description: null, parent_id: null, position: 0 },
  changes: { name: 'Coffee', slug: 'coffee', description: 'Beans', position: 3 }
}, {
  noun: 'tag',
  path: '/tags',
  least: { name: 'Best Seller' },
  made: { name: 'Best Seller', slug: 'best-seller' },
  changes: { name: 'Bestseller', slug: 'bestseller' }
}, {
  noun: 'attribute',
  path: '/attributes',
  least: { name: 'Net Weight', type: 'number' },
  made: { name: 'Net Weight', code: 'net_weight', type: 'number', unit: null, options: [] },
  changes: { name: 'Size', code: 'size', type: 'select', unit: 'EU', options: ['S', 'M'] }
}]

const [UNSAFE, NO_PATH, NO_HTTPS, NAMED] = [
  'must not contain blanks, control characters, quotes, < > or \\: percent-encode them',
  'must be a path such as /pictures/kettle.svg: without //, . and .., and percent-encoded',
  'must be an https URL, such as https://cdn.example.com/kettle.jpg, or a path of this server that starts with /',
  'must not contain a user name or password'
]

/** Pictures that nobody may have, beside `/a.svg`. */
const badPictures: ReadonlyArray<readonly [url: unknown, message: string]> = [
  ...[
    'https://cdn.example/a b.jpg',
    ' https://cdn.example/a.jpg',
    'https://cdn.example/a.jpg\n',
    'java\tscript:alert(1)',
    '/\\evil.example/a.jpg',
    'https:\\\\evil.example',
    'https://a"onerror=',
    '<svg>',
    'https://a/\u202egpj.a',
    ' '
  ].map((url) => [url, UNSAFE] as const),
  ...['//evil.example/a.jpg', '//', '///', '/../a.jpg', '/a/../b.jpg', '/a/%2e%2E/b.jpg', '/./a.jpg', '/é.jpg', '//[/']
    .map((url) => [url, NO_PATH] as const),
  ...[
    'http://cdn.example/a.jpg',
    'javascript:alert(1)',
    'data:image/svg+xml,x',
    'blob:https://a/b',
    'ftp://a/b',
    'https:cdn.example/a.jpg',
    'https:///a.jpg',
    'https://',
    'https://[/',
    'https://a:99999/',
    'cdn.example/a.jpg',
    'a.jpg',
    '../a.jpg',
    ''
  ].map((url) => [url, NO_HTTPS] as const),
  ...['https://ada:secret@cdn.example/a.jpg', 'https://ada@cdn.example/a.jpg', 'HTTPS://:secret@cdn.example/a.jpg'].map(
    (url) => [url, NAMED] as const
  ),
  ['/a.svg', 'appears twice'],
  [`https://cdn.example/${'x'.repeat(981)}`, 'must NOT have more than 1000 characters'],
  [7, 'must be text, not 7'],
  [null, 'must be text, not null'],
  [['/b.svg'], 'must be text, not a list']
]

for (const { noun, path, least, made, changes } of resources) {
  t.test(`a ${noun} is created from its required fields, read, changed and deleted`, async (t) => {
    const created = await here('POST', path, least)
    t.equal(created.status, 201)
    t.match(created.body, { ...server, ...made })
    t.strictSame(
      Object.keys(created.body).toSorted(),
      Object.keys({ ...server, ...made }).toSorted(),
      'and nothing else'
    )
    const item = `${path}/${created.body.id}`
    t.equal(created.headers.location, `/shops/${shopId}${item}`)

    t.strictSame((await here('GET', item)).body, created.body)
    t.strictSame((await here('GET', `${item}/`)).body, created.body, 'with a slash at the end, too')
    t.strictSame((await here('PATCH', item, {})).body, created.body, 'no change keeps everything')

    const updated = await here('PATCH', item, changes)
    t.equal(updated.status, 200)
    t.strictSame(updated.body, { ...created.body, ...changes, updated_at: updated.body.updated_at })
    t.ok(updated.body.updated_at > created.body.updated_at)
    t.strictSame((await here('GET', item)).body, updated.body)

    const deleted = await here('DELETE', item)
    t.strictSame([deleted.status, deleted.body], [204, null])
    t.equal((await here('GET', item)).status, 404)
  })

  t.test(`a missing ${noun} and one of another shop are the same 404, and nothing changes`, async (t) => {
    const foreign = (await elsewhere('POST', path, least)).body
    for (const id of [foreign.id, NOBODY]) {
      for (const [method, body] of [['GET'], ['PATCH', { name: 'Stolen' }], ['DELETE']] as const) {
        t.match(await here(method, `${path}/${id}`, body), {
          status: 404,
          body: { code: 'SHOP_NOT_FOUND', message: `No ${noun} ${id}` }
        }, method)
      }
    }
    t.equal((await elsewhere('DELETE', `${path}/${foreign.id}`)).status, 204)
  })

  t.test(`a ${noun} with a taken slug or code is a 409 that names it; another shop may use it`, async (t) => {
    const key = noun === 'attribute' ? 'code' : 'slug'
    const first = await here('POST', path, least)
    const same = await here('POST', path, least)
    t.strictSame([same.status, same.body], [409, {
      statusCode: 409,
      code: 'SHOP_CONFLICT',
      error: 'Conflict',
      message: `${key} is taken in this shop`,
      field: key
    }])
    const second = await here('POST', path, { ...least, [key]: 'second' })
    t.equal((await here('PATCH', `${path}/${second.body.id}`, { [key]: first.body[key] })).body.field, key)
    const foreign = await elsewhere('POST', path, least)
    t.equal(foreign.status, 201)
    await elsewhere('DELETE', `${path}/${foreign.body.id}`)
    await here('DELETE', `${path}/${first.body.id}`)
    await here('DELETE', `${path}/${second.body.id}`)
  })

  t.test(`what a ${noun} does not know is refused by name, not dropped`, async (t) => {
    const created = await here('POST', path, { ...least, colour: 'red' })
    t.strictSame([created.status, created.body.field, created.body.message], [
      422,
      'colour',
      'colour is not a known field'
    ])
    t.equal((await here('POST', path, { ...least, id: NOBODY })).body.field, 'id', 'nor can a client choose an id')
    t.equal((await here('POST', path, { ...least, shop_id: otherId })).body.field, 'shop_id', 'nor a shop')
  })
}

t.test('a shop that does not exist is a 404', async (t) => {
  const answer = await client(app, `/shops/${NOBODY}`, token)('GET', '/products')
  t.strictSame([answer.status, answer.body], [404, {
    statusCode: 404,
    code: 'SHOP_NOT_FOUND',
    error: 'Not Found',
    message: `No shop ${NOBODY}`
  }])
})

t.test('bad input is a 422 that names the field', async (t) => {
  const product = (await here('POST', '/products', { name: 'Subject' })).body
  const tag = (await here('POST', '/tags', { name: 'Subject' })).body
  const foreignTag = (await elsewhere('POST', '/tags', { name: 'Foreign' })).body
  const number = (await here('POST', '/attributes', { name: 'Depth', type: 'number' })).body
  const select = (await here('POST', '/attributes', { name: 'Size', type: 'select', options: ['S', 'M'] })).body

  const cases: Array<[method: 'POST' | 'PATCH', path: string, body: object, field: string, message?: string]> = [
    ['POST', '/products', {}, 'name', 'name is required'],
    ['POST', '/products', { name: 7 }, 'name', 'name must be text, not 7'],
    ['POST', '/products', { name: '' }, 'name'],
    ['POST', '/products', { name: '   ' }, 'name'],
    ['POST', '/products', { name: 'x'.repeat(201) }, 'name'],
    ['POST', '/products', { name: 'a\0b' }, 'name'],
    ['POST', '/products', { name: 'a\ud800b' }, 'name'],
    ['POST', '/products', { name: '面包' }, 'slug', 'slug cannot be derived from the name "面包": set it'],
    ['POST', '/products', { name: 'a', slug: 'Not A Slug' }, 'slug'],
    ['POST', '/products', { name: 'a', status: 'gone' }, 'status', 'status must be one of draft, active, archived'],
    [
      'POST',
      '/products',
      { name: 'a', price_amount: 19.99 },
      'price_amount',
      'price_amount must be a whole number or null, not 19.99. Price in minor units of the currency: 1999 is 19.99 EUR'
    ],
    ['POST', '/products', { name: 'a', price_amount: '1999' }, 'price_amount'],
    ['POST', '/products', { name: 'a', price_amount: -1 }, 'price_amount'],
    [
      'POST',
      '/products',
      { name: 'a', price_amount: 2 ** 53 },
      'price_amount',
      'price_amount is an integer too large to be stored exactly'
    ],
    ['POST', '/products', { name: 'a', currency: 'euro' }, 'currency'],
    ['POST', '/products', { name: 'a', currency: 'UER' }, 'currency', 'currency must be an ISO 4217 code, such as EUR'],
    ['PATCH', `/products/${product.id}`, { currency: 'YEN' }, 'currency'],
    [
      'PATCH',
      `/products/${product.id}`,
      { metadata: { erp: { id: 2 ** 53 } } },
      'metadata/erp/id',
      'metadata/erp/id is an integer too large to be stored exactly: send it as a string'
    ],
    ['POST', '/products', { name: 'a', metadata: [] }, 'metadata'],
    [
      'POST',
      '/products',
      { name: 'a', metadata: { a: 'x'.repeat(16 * 1024) } },
      'metadata',
      'metadata must not be larger than 16 KiB'
    ],
    ['POST', '/products', { name: 'a', metadata: nested(40) }, `metadata${'/a'.repeat(32)}`],
    ['POST', '/products', { name: 'a', metadata: { deep: { 'k\0': 1 } } }, 'metadata/deep/"k\\u0000"'],
    ['POST', '/products', { name: 'a', tag_ids: ['x'] }, 'tag_ids/0'],
    [
      'POST',
      '/products',
      { name: 'a', tag_ids: [tag.id, foreignTag.id] },
      'tag_ids/1',
      'tag_ids/1 names something that is not in this shop'
    ],
    ['POST', '/products', { name: 'a', category_ids: [tag.id] }, 'category_ids/0'],
    ['POST', '/products', { name: 'a', attributes: [{ attribute_id: tag.id, value: 1 }] }, 'attributes/0/attribute_id'],
    [
      'POST',
      '/products',
      { name: 'a', attributes: [{ attribute_id: number.id }] },
      'attributes/0/value',
      'attributes/0/value is required'
    ],
    [
      'POST',
      '/products',
      { name: 'a', attributes: [{ attribute_id: number.id, value: 'deep' }] },
      'attributes/0/value',
      'attributes/0/value must be a number'
    ],
    [
      'POST',
      '/products',
      { name: 'a', attributes: [{ attribute_id: select.id, value: 'XL' }] },
      'attributes/0/value',
      'attributes/0/value must be one of S, M'
    ],
    [
      'PATCH',
      `/products/${product.id}`,
      { attributes: [{ attribute_id: number.id, value: 1 }, { attribute_id: number.id.toUpperCase(), value: 2 }] },
      'attributes/1/attribute_id',
      'attributes/1/attribute_id appears twice'
    ],
    ['PATCH', `/products/${product.id}`, { name: null }, 'name'],
    [
      'PATCH',
      `/products/${product.id}`,
      { image_urls: null },
      'image_urls',
      'image_urls must be a list, not null. Pictures, the main one first: https URLs, or paths of this server'
    ],
    [
      'PATCH',
      `/products/${product.id}`,
      { image_urls: 'https://cdn.example/a.jpg' },
      'image_urls',
      'image_urls must be a list, not text. Pictures, the main one first: https URLs, or paths of this server'
    ],
    [
      'PATCH',
      `/products/${product.id}`,
      { image_urls: Array.from({ length: 11 }, (_, n) => `/${n}.png`) },
      'image_urls',
      'image_urls must NOT have more than 10 items'
    ],
    ...badPictures.map(([url, message]) =>
      [
        'PATCH',
        `/products/${product.id}`,
        { image_urls: ['/a.svg', url] },
        'image_urls/1',
        `image_urls/1 ${message}`
      ] as [method: 'PATCH', path: string, body: object, field: string, message: string]
    ),
    ['PATCH', '/products/nonsense', {}, 'product_id'],
    ['PATCH', `/products/urn:uuid:${product.id}`, {}, 'product_id'],
    ['POST', '/categories', { name: 'a', parent_id: `urn:uuid:${tag.id}` }, 'parent_id'],
    [
      'POST',
      '/categories',
      { name: 'a', parent_id: tag.id },
      'parent_id',
      'parent_id names something that is not in this shop'
    ],
    ['POST', '/attributes', { name: 'a' }, 'type', 'type is required'],
    ['POST', '/attributes', { name: 'a', type: 'select' }, 'options', 'options is required for type select'],
    [
      'POST',
      '/attributes',
      { name: 'a', type: 'text', options: ['b'] },
      'options',
      'options must be empty for type text'
    ]
  ]
  for (const [method, path, body, field, message] of cases) {
    const answer = await here(method, path, body)
    t.match([answer.status, answer.body], [422, {
      statusCode: 422,
      code: 'SHOP_INVALID',
      error: 'Unprocessable Entity',
      field,
      ...(message && { message })
    }], `${path} ${JSON.stringify(body).slice(0, 80)}`)
  }
  t.strictSame((await here('GET', `/products/${product.id}`)).body, product, 'a refused change changes nothing')
  t.equal(
    (await here('GET', '/products?filter={"q":"a"}')).headers['content-range'],
    'products 0-25/0',
    'a refused product is not there'
  )
  t.equal(
    (await app.inject({
      method: 'POST',
      url: `/shops/${shopId}/tags`,
      headers: { ...token, 'content-type': 'application/json' },
      payload: '{"name":1e400}'
    })).json().field,
    'name'
  )
})

t.test('a deletion changes what was linked to it, and a change of nothing changes nothing', async (t) => {
  const [parent, tag, attribute] = [
    (await here('POST', '/categories', { name: 'Parent' })).body,
    (await here('POST', '/tags', { name: 'Linked' })).body,
    (await here('POST', '/attributes', { name: 'Linked', type: 'text' })).body
  ]
  const child = (await here('POST', '/categories', { name: 'Child', parent_id: parent.id })).body
  const links = {
    category_ids: [parent.id],
    tag_ids: [tag.id],
    attributes: [{ attribute_id: attribute.id, value: 'a' }]
  }
  let product = (await here('POST', '/products', { name: 'Linked', ...links })).body
  const other = (await here('POST', '/products', { name: 'Unlinked' })).body
  for (
    const [path, field] of [
      [`/tags/${tag.id}`, 'tag_ids'],
      [`/attributes/${attribute.id}`, 'attributes'],
      [
        `/categories/${parent.id}`,
        'category_ids'
      ]
    ] as const
  ) {
    t.equal((await here('DELETE', path)).status, 204)
    const now = (await here('GET', `/products/${product.id}`)).body
    t.strictSame(now, { ...product, [field]: [], updated_at: now.updated_at })
    t.ok(now.updated_at > product.updated_at, path)
    product = now
  }
  const orphan = (await here('GET', `/categories/${child.id}`)).body
  t.equal(orphan.parent_id, null)
  t.ok(orphan.updated_at > child.updated_at)
  t.strictSame((await here('GET', `/products/${other.id}`)).body, other, 'what was not linked stays as it was')
  t.ok(
    (await here('PATCH', `/products/${other.id}`, { tag_ids: [] })).body.updated_at > other.updated_at,
    'links are a part of the product'
  )
  for (const path of [`/products/${product.id}`, `/products/${other.id}`, `/categories/${child.id}`]) {
    await here('DELETE', path)
  }
})

t.test('a body that is large, wide or deep does not stop the server', async (t) => {
  const headers = { ...token, 'content-type': 'application/json' }
  const wide = `{"a":[${'1,'.repeat(100_000)}1]}`
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  for (const url of [`/shops/${shopId}/products`, '/nowhere', '/mcp']) {
    for (const payload of [wide, deep, `{"name":"a","metadata":{"a":${deep}}}`]) {
      const { statusCode } = await app.inject({ method: 'POST', url, headers, payload })
      t.ok(statusCode < 500, `${url} ${payload.slice(0, 12)} ${statusCode}`)
    }
  }
  t.equal((await app.inject({ url: `/nowhere?filter=${'['.repeat(10_000)}` })).statusCode, 404)
})

t.test('metadata comes back whole, whatever its keys', async (t) => {
  const metadata = { 'a\nb': 1, '': [null], 'ü.$/~': { deep: true } }
  const { body } = await here('POST', '/products', { name: 'Keys', metadata })
  t.strictSame((await here('GET', `/products/${body.id}`)).body.metadata, metadata)
})

t.test('pictures stay as they were given and in their order, and are found by their URLs', async (t) => {
  // Of one more character it would be too long; letters of two characters are not composed; the same host is another in
  // capitals only.
  const urls = [
    `https://cdn.example/${'x'.repeat(980)}`,
    'https://cdn.example/cafe\u0301.jpg',
    'https://CDN.example/a,b;c.jpg?a=1&b=%20#x',
    '/pictures/z.svg',
    'https://a.example',
    "/a'b(c)!*.svg"
  ]
  const { body } = await here('POST', '/products', { name: 'Seen', image_urls: urls })
  t.strictSame((await here('GET', `/products/${body.id}`)).body.image_urls, urls)
  const found = async (given: unknown) =>
    (await here('GET', `/products?filter=${encodeURIComponent(JSON.stringify({ image_urls: given }))}`)).body.map((
      { id }: { id: string }
    ) => id)
  t.strictSame([await found(urls[4]), await found(['/none.svg', urls[3]]), await found(['/none.svg'])], [[body.id], [
    body.id
  ], []])
  t.match(
    await here('PATCH', `/products/${body.id}`, {
      image_urls: ['https://cdn.example/a.jpg', 'HTTPS://CDN.example:443/a.jpg']
    }),
    { status: 422, body: { field: 'image_urls/1', message: 'image_urls/1 appears twice' } }
  )
  t.strictSame((await here('PATCH', `/products/${body.id}`, { image_urls: [] })).body.image_urls, [])
  await here('DELETE', `/products/${body.id}`)
})

t.test('a slug made from a long name is one that the schema takes', async (t) => {
  const { body } = await here('POST', '/tags', { name: 'Ä'.repeat(200) })
  t.ok(body.slug.length <= 200)
  t.equal((await here('PATCH', `/tags/${body.id}`, { slug: body.slug })).status, 200)
})

t.test('a DELETE may say that its absent body is JSON', async (t) => {
  const { body } = await here('POST', '/tags', { name: 'Short-lived' })
  const { statusCode } = await app.inject({
    method: 'DELETE',
    url: `/shops/${shopId}/tags/${body.id}`,
    headers: { ...token, 'content-type': 'application/json' }
  })
  t.equal(statusCode, 204)
})

t.test('a product has categories, tags and attribute values; a change replaces those it mentions', async (t) => {
  const category = (await here('POST', '/categories', { name: 'Linked' })).body
  const [red, blue] = [
    (await here('POST', '/tags', { name: 'Red' })).body,
    (await here('POST', '/tags', { name: 'Blue' })).body
  ]
  const kinds = [['text', 'cotton'], ['number', 1.5], ['boolean', false], ['select', 'M']] as const
  const values: Array<{ attribute_id: string, value: unknown }> = []
  for (const [type, value] of kinds) {
    const { body } = await here('POST', '/attributes', {
      name: `Of ${type}`,
      type,
      ...(type === 'select' && { options: ['S', 'M'] })
    })
    values.push({ attribute_id: body.id, value })
  }
  const sorted = values.toSorted((a, b) => a.attribute_id < b.attribute_id ? -1 : 1)

  const created = await here('POST', '/products', {
    name: 'Linked',
    category_ids: [category.id],
    tag_ids: [red.id, blue.id.toUpperCase()],
    attributes: values
  })
  t.equal(created.status, 201)
  t.strictSame(created.body.category_ids, [category.id])
  t.strictSame(created.body.tag_ids, [red.id, blue.id].toSorted())
  t.strictSame(created.body.attributes, sorted)

  const item = `/products/${created.body.id}`
  const changed = (await here('PATCH', item, { tag_ids: [blue.id], category_ids: [] })).body
  t.strictSame([changed.category_ids, changed.tag_ids, changed.attributes], [[], [blue.id], sorted])
})

t.test('an attribute cannot change so that values of products no longer fit', async (t) => {
  const size = (await here('POST', '/attributes', { name: 'Shoe', type: 'select', options: ['40', '41'] })).body
  const product =
    (await here('POST', '/products', { name: 'Shoe', attributes: [{ attribute_id: size.id, value: '41' }] })).body
  const item = `/attributes/${size.id}`
  t.match(await here('PATCH', item, { options: ['40'] }), {
    status: 409,
    body: { field: 'options', message: 'options cannot be changed like this: a product has the value "41"' }
  })
  t.match(await here('PATCH', item, { type: 'number', options: [] }), { status: 409, body: { field: 'type' } })
  t.strictSame((await here('GET', item)).body, size, 'and stays as it was')
  t.match(await here('PATCH', item, { options: ['41', '42'] }), { status: 200, body: { options: ['41', '42'] } })
  t.match(await here('PATCH', item, { type: 'text', options: [] }), { status: 200, body: { type: 'text' } })
  await here('DELETE', `/products/${product.id}`)
  t.match(await here('PATCH', item, { type: 'number' }), { status: 200, body: { type: 'number' } })
})

t.test('categories stay a tree', async (t) => {
  const top = (await here('POST', '/categories', { name: 'Top' })).body
  const middle = (await here('POST', '/categories', { name: 'Middle', parent_id: top.id })).body
  const leaf = (await here('POST', '/categories', { name: 'Leaf', parent_id: middle.id })).body
  for (const parent of [top, middle, leaf]) {
    t.match(await here('PATCH', `/categories/${top.id}`, { parent_id: parent.id }), {
      status: 422,
      body: { field: 'parent_id', message: 'parent_id would put the category below itself' }
    })
  }
  t.match(await here('PATCH', `/categories/${leaf.id}`, { parent_id: top.id }), {
    status: 200,
    body: { parent_id: top.id }
  })
  t.equal((await here('DELETE', `/categories/${top.id}`)).status, 204)
  t.match(await here('GET', `/categories/${middle.id}`), { status: 200, body: { parent_id: null } })
  t.match(await here('PATCH', `/categories/${leaf.id}`, { parent_id: middle.id }), { status: 200 })
  t.match(await here('PATCH', `/categories/${leaf.id}`, { parent_id: null }), {
    status: 200,
    body: { parent_id: null }
  })
})

t.test("a deletion of another shop's row does not wait for that row", {
  skip: TEST_DATABASE_URL === undefined && 'two connections are needed for that: set TEST_DATABASE_URL'
}, async (t) => {
  const rows = {
    tags: (await here('POST', '/tags', { name: 'Held' })).body.id,
    categories: (await here('POST', '/categories', { name: 'Held' })).body.id,
    attributes: (await here('POST', '/attributes', { name: 'Held', type: 'text' })).body.id
  }
  const holder = await knex.transaction()
  for (const [table, id] of Object.entries(rows)) await holder(table).where({ id }).forUpdate().select('id')
  for (const [table, id] of Object.entries(rows)) {
    // If it waited, the time limit of statements would end it, with another status.
    t.equal((await elsewhere('DELETE', `/${table}/${id}`)).status, 404, table)
  }
  await holder.rollback()
})

const ROUNDS = 15

t.test("a category that is deleted while products come into it is in nobody's way", async (t) => {
  for (let round = 0; round < ROUNDS; round++) {
    const above = (await here('POST', '/categories', { name: `Above ${round}` })).body
    const below = (await here('POST', '/categories', { name: `Below ${round}`, parent_id: above.id })).body
    const creation = (n: number) =>
      here('POST', '/products', { name: `Between ${round} ${n}`, category_ids: [above.id, below.id] })
    const [deleted, ...created] = await Promise.all([
      here('DELETE', `/categories/${above.id}`),
      creation(1),
      creation(2)
    ])
    t.equal(deleted.status, 204)
    for (const { status, body } of created) t.ok([201, 422].includes(status), `${status} ${body.message}`)
  }
})

t.test("a category that is moved while the one above it is deleted stands in nobody's way", async (t) => {
  const above = (await here('POST', '/categories', { name: 'Above both' })).body
  const made = await Promise.all(
    ['One', 'Other'].map((name) => here('POST', '/categories', { name: `${name} below`, parent_id: above.id }))
  )
  const [first, second] = made.map(({ body }) => body).toSorted((one, other) => one.id < other.id ? -1 : 1)
  // Held, so that both requests have begun when one of them goes on.
  const holder = await knex.transaction()
  await holder('categories').where({ id: second.id }).forUpdate().select('id')
  const moved = here('PATCH', `/categories/${second.id}`, { parent_id: first.id })
  await sleep(100)
  const deleted = here('DELETE', `/categories/${above.id}`)
  await sleep(100)
  await holder.commit()
  t.match(await moved, { status: 200, body: { parent_id: first.id } })
  t.equal((await deleted).status, 204)
  t.match(await here('GET', `/categories/${first.id}`), { body: { parent_id: null } })
})

t.test('a tag that is given while it is deleted is lost with a trace', async (t) => {
  const product = (await here('POST', '/products', { name: 'Tagged late' })).body
  const tag = (await here('POST', '/tags', { name: 'Short-lived' })).body
  let linked = (): void => {}
  const deleted = new Promise<void>((resolve) => {
    linked = resolve
  }).then(() => here('DELETE', `/tags/${tag.id}`))
  let given = ''
  await knex.transaction(async (trx) => {
    await trx('tags').where({ id: tag.id }).forShare().select('id')
    await trx('product_tags').insert({ shop_id: shopId, product_id: product.id, tag_id: tag.id })
    const [row] = await trx('products').where({ id: product.id }).update({ updated_at: trx.raw('clock_timestamp()') })
      .returning('updated_at')
    given = row.updated_at
    linked()
    // The deletion waits for this, or for its connection.
    await sleep(100)
  })
  t.equal((await deleted).status, 204)
  const now = (await here('GET', `/products/${product.id}`)).body
  t.strictSame(now.tag_ids, [])
  t.ok(now.updated_at > given)
})

t.test('of changes at once none makes the record older than another has said', async (t) => {
  const { id } = (await here('POST', '/products', { name: 'Contested' })).body
  for (let round = 0; round < ROUNDS; round++) {
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((price) => here('PATCH', `/products/${id}`, { price_amount: price }))
    )
    const said = answers.map(({ body }) => body.updated_at).toSorted()
    t.equal((await here('GET', `/products/${id}`)).body.updated_at, said.at(-1))
  }
})

t.test('a currency that Intl does not list is one all the same', async (t) => {
  for (const currency of ['VED', 'XAD']) {
    t.match(await here('POST', '/products', { name: `In ${currency}`, currency }), { status: 201, body: { currency } })
  }
})

t.test('an order that loses its product or its account has changed', async (t) => {
  const product = (await here('POST', '/products', { name: 'Ordered once', status: 'active', price_amount: 100 })).body
  const account = (await here('POST', '/accounts', { name: 'Buyer' })).body
  const order = (await here('POST', '/orders', { account_id: account.id, lines: [{ product_id: product.id }] })).body
  let before = order
  for (
    const [path, change] of [
      [`/products/${product.id}`, { lines: [{ ...order.lines[0], product_id: null }] }],
      [
        `/accounts/${account.id}`,
        { account_id: null }
      ]
    ] as const
  ) {
    t.equal((await here('DELETE', path)).status, 204)
    const { body: after } = await here('GET', `/orders/${order.id}`)
    t.strictSame(after, { ...before, ...change, updated_at: after.updated_at })
    t.ok(after.updated_at > before.updated_at, path)
    before = after
  }
})
