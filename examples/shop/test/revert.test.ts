import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { setQuota } from '../src/shops/shop-repository.ts'
import {
  bearer,
  build,
  client,
  createShop,
  openIdentityProvider,
  openTestDatabase,
  TEST_DATABASE_URL
} from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['owner', 'staff'])
const app = await build(t, database, idp, { settings: { RATE_LIMIT_MAX: 100_000 } })
const machineHeaders = bearer(await idp.machineToken())
const person = async (name: string) => {
  const headers = bearer(await idp.userToken(name))
  return { headers, id: (await client(app, '', headers)('GET', '/me')).body.id as string }
}
const [owner, staff] = [await person('owner'), await person('staff')]

type Body = Record<string, any>
let shops = 0

/** A shop of its own for a test, with an agent's key and members. */
async function openShop () {
  const id = await createShop(database, `shop-${++shops}`)
  await knex('shop_members').insert([
    { shop_id: id, user_id: owner.id, role: 'owner' },
    { shop_id: id, user_id: staff.id, role: 'staff' }
  ])
  const by = (headers: Record<string, string>) => client(app, `/shops/${id}`, headers)
  const machine = by(machineHeaders)
  const key = (await machine('POST', '/api-keys/', { name: 'Agent' })).body
  const call = async (
    as: typeof machine,
    status: number,
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object
  ): Promise<Body> => {
    const response = await as(method, path, body)
    if (response.status !== status) {
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`)
    }
    return response.body
  }
  const agent = by({ 'x-api-key': key.plaintext })
  const last = async (filter: object): Promise<Body> =>
    (await call(machine, 200, 'GET', `/history?limit=1&filter=${encodeURIComponent(JSON.stringify(filter))}`))[0]
  return {
    id,
    key: key.id as string,
    machine,
    agent,
    staff: by(staff.headers),
    owner: by(owner.headers),
    make: async (path: string, body: object, as = machine) => await call(as, 201, 'POST', path, body),
    change: async (path: string, body: object, as = machine) => await call(as, 200, 'PATCH', path, body),
    remove: async (path: string, as = machine) => await call(as, 204, 'DELETE', path),
    get: async (path: string) => await call(machine, 200, 'GET', path),
    /** The last change of a record. */
    changeOf: async (recordId: string, filter: object = {}) => await last({ record_id: recordId, ...filter }),
    revert: async (change: string, body?: object) => await machine('POST', `/history/${change}/revert`, body),
    revertAll: async (body: object) =>
      await machine('POST', '/history/revert', {
        actor_kind: 'api-key',
        actor_id: key.id,
        since: '2020-01-01T00:00:00Z',
        ...body
      })
  }
}

/** All records of a shop, without what a change and its revert both move. */
async function recordsOf (shop: string): Promise<object> {
  const tables = [
    'products',
    'categories',
    'tags',
    'attributes',
    'prices',
    'accounts',
    'orders',
    'product_categories',
    'product_tags',
    'product_attributes',
    'order_lines'
  ]
  return Object.fromEntries(
    await Promise.all(tables.map(async (table) => {
      const { rows } = await knex.raw(
        "select to_jsonb(row) - '{updated_at}'::text[] as row from ?? row where shop_id = ? order by 1",
        [table, shop]
      )
      return [table, rows.map(({ row }: { row: object }) => row)]
    }))
  )
}

async function undone (
  t: Test,
  { revert, id }: Awaited<ReturnType<typeof openShop>>,
  change: string,
  before: object,
  what: string
): Promise<string> {
  const { status, body } = await revert(change)
  t.equal(status, 200, `${what}: ${JSON.stringify(body)}`)
  t.match(body, { dry_run: false, reverted: 1, changes: [{ change_id: change }], conflict_count: 0, left_out_count: 0 })
  t.strictSame(await recordsOf(id), before, what)
  return body.changes[0].revert_id
}

/** A shop with one of everything, linked. */
async function furnished () {
  const shop = await openShop()
  const { make } = shop
  const above = (await make('/categories', { name: 'Kitchen', description: 'Pots' })).id
  const category = (await make('/categories', { name: 'Mugs', parent_id: above, position: 3 })).id
  const below = (await make('/categories', { name: 'Small mugs', parent_id: category })).id
  const [tag, other] = [(await make('/tags', { name: 'Sale' })).id, (await make('/tags', { name: 'New' })).id]
  const size = (await make('/attributes', { name: 'Size', type: 'select', unit: 'EU', options: ['S', 'M'] })).id
  const product = (await make('/products', {
    name: 'Mug',
    sku: 'M-1',
    description: 'Holds *coffee*',
    status: 'active',
    price_amount: 500,
    category_ids: [category, above],
    tag_ids: [tag, other],
    attributes: [{ attribute_id: size, value: 'S' }],
    image_urls: ['https://cdn.example/b.jpg', '/a.svg'],
    metadata: { erp: { id: 7, rate: 0.1 } }
  })).id
  await make('/products', {
    name: 'Cup',
    tag_ids: [tag],
    category_ids: [category],
    attributes: [{ attribute_id: size, value: 'M' }]
  })
  const price =
    (await make('/prices', { product_id: product, amount: 400, min_quantity: 10, valid_from: '2030-01-01T00:00:00Z' }))
      .id
  await make('/prices', { product_id: product, amount: 450, currency: 'USD' })
  const account =
    (await make('/accounts', { name: 'Ada', hash_name: 'h', details: { tier: 'gold', n: { a: [1] } } })).id
  await make('/orders', { account_id: account, lines: [{ product_id: product, quantity: 2 }] })
  return { ...shop, above, category, below, tag, other, size, product, price, account }
}

t.test('an update sets only the fields back that it changed', async (t) => {
  const shop = await furnished()
  const { change, changeOf, product, above, tag, size, category, price, account, get } = shop
  for (
    const [path, id, body] of [
      ['/products', product, { name: 'Big mug', slug: 'big', price_amount: null, sku: null }],
      ['/products', product, {
        tag_ids: [tag],
        category_ids: [],
        attributes: [],
        image_urls: ['/a.svg'],
        metadata: {}
      }],
      ['/categories', category, { parent_id: null, position: 0 }],
      ['/categories', above, { parent_id: category }],
      ['/tags', tag, { name: 'Offer', slug: 'offer' }],
      ['/attributes', size, { options: ['M', 'S', 'XL'], unit: null }],
      ['/prices', price, { valid_from: null, valid_to: '2040-01-01T00:00:00Z', amount: 1 }],
      ['/accounts', account, { name: 'Eve', hash_name: null, details: { tier: null, added: true } }]
    ] as const
  ) {
    // A category can only move below one that is not below it.
    if (path === '/categories' && id === above) await change(`/categories/${category}`, { parent_id: null })
    const before = await recordsOf(shop.id)
    await change(`${path}/${id}`, body)
    const { id: made } = await changeOf(id)
    await change(`${path}/${id}`, {})
    const revertId = await undone(t, shop, made, before, `${path} ${JSON.stringify(body)}`)
    t.match(await changeOf(id), {
      id: revertId,
      operation: 'revert_change',
      reverts: made,
      action: 'update',
      revertible: true,
      reverted_by: null
    })
    t.match(await changeOf(id, { id: made }), { reverted_by: revertId, revertible: false })
  }

  await change(`/products/${product}`, { name: 'Big mug', price_amount: 1 })
  const { id: made } = await changeOf(product)
  await change(`/products/${product}`, { description: 'Later' })
  t.equal((await shop.revert(made)).status, 200)
  t.match(
    await get(`/products/${product}`),
    { name: 'Mug', price_amount: 500, description: 'Later' },
    'a later change of another field stays'
  )

  await change('/config', { locale: 'de', metadata: { a: 1 } })
  t.equal((await shop.revert((await changeOf(shop.id)).id)).status, 200)
  t.match(await get('/config'), { locale: 'en', metadata: {} })
})

t.test('the undo of a first value leaves the field empty again, one by one and all at once', async (t) => {
  const shop = await openShop()
  const { make, change, changeOf, agent, get, revertAll } = shop
  const [tag, category] = [(await make('/tags', { name: 'Sale' })).id, (await make('/categories', { name: 'Pots' })).id]
  const size = (await make('/attributes', { name: 'Size', type: 'number' })).id
  const product = (await make('/products', { name: 'Bare' })).id
  const price = (await make('/prices', { product_id: product, amount: 400 })).id
  const account = (await make('/accounts', { name: 'Bare' })).id
  const first: ReadonlyArray<readonly [path: string, id: string, body: Readonly<Record<string, unknown>>]> = [
    ['/products', product, { description: 'Words' }],
    ['/products', product, { sku: 'B-1' }],
    ['/products', product, { price_amount: 0 }],
    ['/products', product, { category_ids: [category] }],
    ['/products', product, { tag_ids: [tag] }],
    ['/products', product, { attributes: [{ attribute_id: size, value: 0 }] }],
    ['/products', product, { image_urls: ['/a.svg'] }],
    ['/products', product, { metadata: { erp: null } }],
    ['/categories', category, { description: 'Words' }],
    ['/categories', category, { parent_id: (await make('/categories', { name: 'Kitchen' })).id }],
    ['/attributes', size, { unit: 'cm' }],
    ['/prices', price, { valid_from: '2030-01-01T00:00:00Z' }],
    ['/prices', price, { valid_to: '2040-01-01T00:00:00Z' }],
    ['/accounts', account, { hash_name: 'h' }],
    ['/accounts', account, { details: { tier: 'gold' } }],
    ['', '/config', { contact_email: 'a@b.example' }]
  ]
  const pathOf = (path: string, id: string) => path === '' ? id : `${path}/${id}`
  const emptied = await recordsOf(shop.id)
  for (const [path, id, body] of first) {
    const [field = ''] = Object.keys(body)
    const empty = (await get(pathOf(path, id)))[field]
    t.notOk(typeof empty === 'object' && empty !== null ? Object.keys(empty).length : empty, `${path} ${field}: empty`)
    await change(pathOf(path, id), body)
    await undone(t, shop, (await changeOf(path === '' ? shop.id : id)).id, emptied, `${path} ${field}`)
    t.strictSame((await get(pathOf(path, id)))[field], empty, `${path} ${field}`)
  }

  for (const [path, id, body] of first) {
    if (['/products', '/categories', '/attributes'].includes(path)) await change(`${path}/${id}`, body, agent)
  }
  t.notSame(await recordsOf(shop.id), emptied)
  t.match(await revertAll({}), { status: 200, body: { reverted: 11, conflict_count: 0 } })
  t.strictSame(await recordsOf(shop.id), emptied)
})

t.test('an update is not reverted over a later change of its field, which the refusal names', async (t) => {
  const shop = await furnished()
  const { change, changeOf, product, tag, other, revert, remove } = shop
  await change(`/products/${product}`, { price_amount: 600, name: 'Big mug' }, shop.agent)
  const { id: made } = await changeOf(product)
  await change(`/products/${product}`, { price_amount: 700 }, shop.staff)
  const { id: later } = await changeOf(product)
  const before = await recordsOf(shop.id)
  const conflict = {
    change_id: made,
    record_kind: 'product',
    record_id: product,
    record_name: 'Big mug',
    field: 'price_amount',
    later_change_id: later,
    reason: 'price_amount was changed again'
  }
  t.strictSame(await revert(made).then(({ status, body }) => [status, body]), [409, {
    statusCode: 409,
    code: 'SHOP_REVERT_CONFLICT',
    error: 'Conflict',
    message: 'price_amount was changed again',
    field: 'price_amount',
    later_change_id: later,
    conflict_count: 1,
    conflicts: [conflict]
  }])
  t.strictSame(await revert(made, { dry_run: true }).then(({ status, body }) => [status, body]), [200, {
    dry_run: true,
    reverted: 0,
    changes: [],
    conflict_count: 1,
    conflicts: [conflict],
    left_out_count: 0,
    left_out: []
  }])
  t.strictSame(await recordsOf(shop.id), before)

  t.equal((await revert(later)).status, 200)
  t.equal((await revert(made)).status, 200, 'once the later change is reverted, it can be')
  t.match(await revert(made), {
    status: 409,
    body: { message: 'It has already been reverted', later_change_id: (await changeOf(product)).id }
  })

  await change(`/products/${product}`, { tag_ids: [tag] })
  const links = (await changeOf(product)).id
  await remove(`/tags/${other}`)
  const deletion = (await changeOf(other)).id
  t.match(
    await revert(links),
    { status: 409, body: { field: 'tag_ids', later_change_id: deletion } },
    'nor is a link to something that was deleted'
  )
  await remove(`/products/${product}`)
  t.match(await revert(links), {
    status: 409,
    body: { message: 'The product was deleted', later_change_id: (await changeOf(product)).id }
  })
})

t.test('a deleted record comes back with its id, its links and all that went with it; and can go again', async (t) => {
  const shop = await furnished()
  const { remove, changeOf, revert } = shop
  for (
    const [path, id, affected] of [
      ['/products', shop.product, { orders: 1, prices: 2 }],
      ['/categories', shop.category, { products: 2, categories: 1 }],
      ['/categories', shop.above, { products: 1, categories: 1 }],
      ['/tags', shop.tag, { products: 2 }],
      ['/attributes', shop.size, { products: 2 }],
      ['/prices', shop.price, {}],
      ['/accounts', shop.account, { orders: 1 }]
    ] as const
  ) {
    const before = await recordsOf(shop.id)
    await remove(`${path}/${id}`)
    const without = await recordsOf(shop.id)
    const deletion = await changeOf(id)
    t.strictSame(deletion['affected'], affected, path)
    const revertId = await undone(t, shop, deletion['id'], before, `${path} is back`)
    t.match(await changeOf(id), { id: revertId, action: 'create', reverts: deletion['id'] })
    t.match(await revert(deletion['id']), { status: 409, body: { message: 'It has already been reverted' } })

    // Prices and orders refer to the product: a record that is in use stays.
    if (Object.keys(affected).length > 0) {
      t.match(await revert(revertId), { status: 409, body: { message: /is in use by/ } }, path)
    } else await undone(t, shop, revertId, without, `${path} is gone again`)
  }
})

t.test('a product that was deleted before products had pictures comes back without any', async (t) => {
  const shop = await openShop()
  const { id } = await shop.make('/products', { name: 'Old' })
  const before = await recordsOf(shop.id)
  await shop.remove(`/products/${id}`)
  const deletion = await shop.changeOf(id)
  await knex.transaction(async (trx) => {
    await trx.raw('alter table history disable trigger user')
    await trx('history').where({ id: deletion['id'] }).update({ changes: trx.raw("changes - 'image_urls'") })
    await trx.raw('alter table history enable trigger user')
  })
  await undone(t, shop, deletion['id'], before, 'product')
})

t.test('a payment customer comes back with its account', async (t) => {
  const shop = await furnished()
  const details = {
    tier: 'gold',
    pay_customer_id: 'cus_1',
    pay_customer: { id: 'cus_1' },
    pay_synced_at: '2026-01-01T00:00:00.000Z'
  }
  await knex('accounts').where({ id: shop.account }).update({ details })
  const before = await recordsOf(shop.id)
  await shop.remove(`/accounts/${shop.account}`)
  await undone(t, shop, (await shop.changeOf(shop.account))['id'], before, 'account')
})

t.test('a deleted record does not come back over what was made since', async (t) => {
  const shop = await furnished()
  const { remove, changeOf, revert, make, change, product, tag, category, above, below, price } = shop
  await remove(`/tags/${tag}`)
  const deletion = (await changeOf(tag)).id
  const taken = await make('/tags', { name: 'Sale' })
  t.match(await revert(deletion), {
    status: 409,
    body: { field: 'slug', message: 'slug is taken in this shop', later_change_id: (await changeOf(taken.id)).id }
  })

  await remove(`/prices/${price}`)
  const cheaper = (await changeOf(price)).id
  await remove(`/products/${product}`)
  t.match(await revert(cheaper), {
    status: 409,
    body: { field: 'product_id', later_change_id: (await changeOf(product)).id }
  })

  await remove(`/categories/${category}`)
  const moved = (await changeOf(category)).id
  await change(`/categories/${above}`, { parent_id: below })
  t.match(await revert(moved), {
    status: 409,
    body: { field: 'parent_id', message: 'parent_id would put the category below itself', later_change_id: null }
  }, 'nor closes a circle')
  await change(`/categories/${above}`, { parent_id: null })
  const elsewhere = (await make('/categories', { name: 'Elsewhere' })).id
  await change(`/categories/${below}`, { parent_id: elsewhere })
  t.equal((await revert(moved)).status, 200)
  t.match(
    await shop.get(`/categories/${below}`),
    { parent_id: elsewhere },
    'what was linked elsewhere since stays there'
  )
})

t.test('a created record is deleted, unless it was changed or something refers to it', async (t) => {
  const shop = await openShop()
  const { make, change, changeOf, revert, get } = shop
  const before = await recordsOf(shop.id)
  const creations: Record<string, object> = {
    '/tags': { name: 'A' },
    '/categories': { name: 'A' },
    '/attributes': { name: 'A', type: 'text' },
    '/products': { name: 'A', price_amount: 5 },
    '/accounts': { name: 'A' }
  }
  for (const [path, body] of Object.entries(creations)) {
    const { id } = await make(path, body)
    const creation = (await changeOf(id)).id
    const after = await recordsOf(shop.id)
    const deletion = await undone(t, shop, creation, before, path)
    await undone(t, shop, deletion, after, `${path} is back`)
    await change(`${path}/${id}`, { name: 'B' })
    t.match(await revert(creation), { status: 409, body: { field: 'name' } }, path)
    await change(`${path}/${id}`, { name: 'A' })
    const redone = (await changeOf(id, { action: 'create' })).id
    await undone(t, shop, redone, before, `${path} is gone again`)
  }

  const [tag, category, attribute] = [
    await make('/tags', { name: 'T' }),
    await make('/categories', { name: 'C' }),
    await make('/attributes', { name: 'S', type: 'number' })
  ]
  const product = await make('/products', {
    name: 'P',
    status: 'active',
    price_amount: 1,
    tag_ids: [tag.id],
    category_ids: [category.id],
    attributes: [{ attribute_id: attribute.id, value: 1 }]
  })
  const account = await make('/accounts', { name: 'Ada' })
  await make('/orders', { account_id: account.id, lines: [{ product_id: product.id }] })
  for (
    const [{ id }, by] of [
      [tag, 'products'],
      [category, 'products'],
      [attribute, 'products'],
      [product, 'orders'],
      [account, 'orders']
    ] as const
  ) {
    t.match(await revert((await changeOf(id)).id), { status: 409, body: { message: new RegExp(`is in use by ${by}`) } })
  }
  t.match(await get(`/products/${product.id}`), { name: 'P' })
})

t.test('who may revert: whoever may make the changes by hand', async (t) => {
  const shop = await openShop()
  const other = await openShop()
  const { id } = await shop.make('/tags', { name: 'Tea' }, shop.agent)
  const creation = (await shop.changeOf(id)).id
  const path = `/history/${creation}/revert`
  const all = { actor_kind: 'api-key', actor_id: shop.key, since: '2020-01-01T00:00:00Z' }
  for (const as of [other.machine, other.owner]) {
    t.match(
      await as('POST', path),
      { status: 404, body: { code: 'SHOP_NOT_FOUND' } },
      'a change of another shop is not found'
    )
    t.match(await as('POST', '/history/revert', all), { status: 200, body: { reverted: 0 } })
  }
  await knex('shops').where({ id: shop.id }).update({ status: 'archived' })
  t.equal((await shop.staff('POST', path)).status, 403, 'an archived shop is closed to members')
  await knex('shops').where({ id: shop.id }).update({ status: 'active' })
  t.match(await shop.staff('POST', path, { dry_run: true }), {
    status: 200,
    body: { reverted: 1, changes: [{ action: 'delete', revert_id: null }] }
  })
  t.equal((await shop.get(`/tags/${id}`))['name'], 'Tea', 'a dry run changes nothing')
  t.equal((await shop.staff('POST', path)).status, 200)
  t.match(await shop.changeOf(id), { actor_kind: 'user', actor_name: 'staff', operation: 'revert_change', tool: null })

  const key = await shop.changeOf(shop.key, { action: 'create' })
  t.strictSame([key['record_kind'], key['revertible']], ['api_key', false])
  t.match(await shop.owner('POST', `/history/${String(key['id'])}/revert`), {
    status: 409,
    body: { code: 'SHOP_NOT_REVERTIBLE', message: 'Changes of api_key cannot be reverted' }
  })
  const event = await shop.changeOf(shop.key, { action: 'event' })
  t.match(await shop.owner('POST', `/history/${String(event['id'])}/revert`), {
    status: 409,
    body: { code: 'SHOP_NOT_REVERTIBLE', message: 'Events cannot be reverted' }
  })
  for (
    const [body, field] of [
      [{}, 'actor_kind'],
      [{ ...all, since: 'yesterday' }, 'since'],
      [{ ...all, more: 1 }, 'more']
    ] as const
  ) {
    t.match(await shop.machine('POST', '/history/revert', body), { status: 422, body: { field } })
  }
  t.match(await shop.revert(creation, { dry_run: 'no', x: 1 }), { status: 422 })
  t.equal((await shop.revert('no-uuid')).status, 422)
})

t.test('ids in capitals name the same actor, record and change', async (t) => {
  const shop = await openShop()
  const { id } = await shop.make('/tags', { name: 'Tea' }, shop.agent)
  const capitals = shop.key.toUpperCase()
  const creation = (await shop.changeOf(id)).id as string
  t.match(await shop.changeOf(id.toUpperCase(), { actor_id: capitals, id: creation.toUpperCase() }), { id: creation })
  t.match(await shop.get(`/history/work?actor_id=${capitals}`), { work: [{ actor_id: shop.key, changes: 1 }] })
  t.match(
    await shop.get(`/audit?filter=${encodeURIComponent(JSON.stringify({ record_id: capitals, action: 'create' }))}`),
    [{ record_kind: 'api_key' }]
  )
  t.match((await shop.revertAll({ actor_id: capitals, dry_run: true })).body, { reverted: 1 })
  t.match(await shop.revert(creation.toUpperCase()), { status: 200, body: { reverted: 1 } })
})

t.test('staff learn nothing of changes that they do not see', async (t) => {
  const { owner: by, staff: as, key } = await openShop()
  const since = '2020-01-01T00:00:00Z'
  const made = (await by('POST', '/api-keys/', { name: 'Unseen' })).body
  const [entry] =
    (await by('GET', `/history?filter=${encodeURIComponent(JSON.stringify({ record_id: made.id }))}`)).body
  await by('POST', '/tags', { name: 'Seen' })
  t.match(await as('POST', `/history/${entry.id}/revert`, {}), { status: 404, body: { code: 'SHOP_NOT_FOUND' } })
  t.match(await by('POST', `/history/${entry.id}/revert`, {}), { status: 409, body: { code: 'SHOP_NOT_REVERTIBLE' } })
  const all = { actor_kind: 'user', actor_id: owner.id, since, dry_run: true }
  t.match((await as('POST', '/history/revert', all)).body, { reverted: 1, left_out_count: 0, left_out: [] })
  t.match((await by('POST', '/history/revert', all)).body, {
    reverted: 1,
    left_out_count: 1,
    left_out: [{ record_name: 'Unseen' }]
  })
  t.match((await as('POST', '/history/revert', { ...all, actor_kind: 'machine', actor_id: 'test-machine' })).body, {
    reverted: 0,
    left_out_count: 0
  }, `not of ${key} either`)
})

t.test('staff see changes of settings, and revert none: only owners change settings', async (t) => {
  const { owner: by, staff: as } = await openShop()
  await by('PATCH', '/config', { locale: 'fr' })
  await by('POST', '/tags', { name: 'Free to go' })
  const find = async (who: typeof by) =>
    (await who('GET', `/history?filter=${encodeURIComponent('{"record_kind":["shop_config"]}')}`)).body[0]
  const entry = await find(as)
  t.strictSame([entry.revertible, (await find(by)).revertible], [false, true])
  t.match(await as('POST', `/history/${entry.id}/revert`), { status: 403, body: { code: 'SHOP_OWNER_ONLY' } })
  const all = { actor_kind: 'user', actor_id: owner.id, since: '2020-01-01T00:00:00Z' }
  t.match((await as('POST', '/history/revert', all)).body, {
    reverted: 1,
    left_out_count: 1,
    left_out: [{ record_kind: 'shop_config', reason: 'Only owners change settings' }]
  })
  t.match((await by('GET', '/config')).body, { locale: 'fr' })
  t.match(await by('POST', `/history/${entry.id}/revert`), { status: 200, body: { reverted: 1 } })
})

t.test('a change that goes back and forth is reverted if its last revert stands', async (t) => {
  const shop = await openShop()
  const { id } = await shop.make('/tags', { name: 'Tea' })
  await shop.change(`/tags/${id}`, { name: 'Coffee' })
  const first = (await shop.changeOf(id)).id as string
  const made = new Map<string, string | null>([[first, null]])
  // By the definition: a change is reverted if a revert of it is not.
  const isReverted = (change: string): boolean => [...made].some(([revert, of]) => of === change && !isReverted(revert))
  const agree = async (what: string): Promise<void> => {
    const entries = await shop.get(
      `/history?limit=200&filter=${encodeURIComponent(JSON.stringify({ id: [...made.keys()] }))}`
    ) as Body[]
    t.strictSame(
      new Map(entries.map((entry) => [entry['id'], entry['reverted_by'] !== null])),
      new Map([...made.keys()].map((change) => [change, isReverted(change)])),
      what
    )
    t.ok(entries.every(({ reverted_by: by, revertible }) => revertible === (by === null)))
    const reverted = await shop.get(
      `/history?limit=200&filter=${encodeURIComponent(JSON.stringify({ record_id: id, reverted: true }))}`
    ) as Body[]
    t.equal(reverted.length, entries.filter(({ reverted_by: by }) => by !== null).length)
  }
  let change = first
  // Down a chain, and again from its start: what stands decides what comes next.
  for (
    const from of [
      'last',
      'last',
      'last',
      'first',
      'last',
      'first',
      'last',
      'last',
      'last',
      'first',
      'last',
      'any',
      'any',
      'any',
      'any',
      'any',
      'any'
    ]
  ) {
    const standing = [...made.keys()].filter((candidate) => !isReverted(candidate))
    const last = isReverted(change) ? standing.at(-1)! : change
    const chosen = from === 'any' ? standing[Math.floor(standing.length / 2)]! : last
    const target = from === 'first' && !isReverted(first) ? first : chosen
    const { status, body } = await shop.revert(target)
    // Another one than the last may have nothing left to take back.
    if (status === 200) made.set(change = body.changes[0].revert_id, target)
    else t.equal(status, 409)
    await agree(`${made.size} ${from}`)
  }
  t.ok(made.size > 10)
  // Any tree of reverts, as a history may have it.
  for (let n = 0; n < 60; n++) {
    const targets = [...made.keys()]
    const target = targets[(n * 7919) % targets.length]!
    const [row] = await knex('history').insert({
      shop_id: shop.id,
      actor_kind: 'user',
      operation: 'revert_change',
      action: 'update',
      record_kind: 'tag',
      record_id: id,
      reverts: target
    }).returning('id')
    made.set(row.id, target)
    if (n % 10 === 9) await agree(`tree of ${made.size}`)
  }
})

t.test('all changes of a key since a time are undone at once, and those of others stay', async (t) => {
  const shop = await furnished()
  const { agent, make, change, remove, revertAll, product, tag, category, size } = shop
  await change(`/products/${product}`, { name: 'Before' }, agent)
  await sleep(5)
  const since = new Date().toISOString()
  const before = await recordsOf(shop.id)

  const mine = (await make('/tags', { name: 'Mine' }, agent)).id
  const topic = (await make('/categories', { name: 'Topic', parent_id: category }, agent)).id
  await change(`/products/${product}`, { price_amount: 1, tag_ids: [mine, tag], category_ids: [topic] }, agent)
  await change(`/products/${product}`, { price_amount: 2 }, agent)
  await make('/products', { name: 'Extra', tag_ids: [mine] }, agent)
  await remove(`/attributes/${size}`, agent)
  await remove(`/tags/${tag}`, agent)
  await change(`/categories/${category}`, { parent_id: null, name: 'Moved' }, agent)
  await remove(`/categories/${category}`, agent)
  await remove(`/products/${product}`, agent)

  const dry = await revertAll({ since, dry_run: true })
  t.match(dry, { status: 200, body: { dry_run: true, reverted: 10, conflict_count: 0 } }, JSON.stringify(dry.body))
  const done = await revertAll({ since })
  t.match(
    done,
    { status: 200, body: { dry_run: false, reverted: 10, conflict_count: 0, left_out_count: 0 } },
    JSON.stringify(done.body)
  )
  t.strictSame(
    done.body.changes.map(({ revert_id: _, ...rest }: Body) => rest),
    dry.body.changes.map(({ revert_id: _, ...rest }: Body) => rest),
    'as the dry run said'
  )
  t.strictSame(await recordsOf(shop.id), before)
  const entries = await shop.get(
    `/history?limit=200&filter=${encodeURIComponent(JSON.stringify({ operation: 'revert_changes' }))}`
  )
  t.strictSame(
    new Set(entries['map'](({ id }: Body) => id)),
    new Set(done.body.changes.map(({ revert_id: id }: Body) => id))
  )
  t.equal(new Set(entries['map'](({ request_id: id }: Body) => id)).size, 1)
  t.match(await revertAll({ since }), {
    status: 200,
    body: { reverted: 0, left_out_count: 10, left_out: [{ reason: 'It has already been reverted' }] }
  })
})

/** What an agent changed last night: the prices of eight products, one after the other. */
async function night () {
  const shop = await openShop()
  const products: string[] = []
  for (let n = 1; n <= 8; n += 1) {
    products.push((await shop.make('/products', { name: `Mug ${n}`, price_amount: 100 * n })).id)
  }
  const changes: string[] = []
  for (const id of products) {
    await shop.change(`/products/${id}`, { price_amount: 1 }, shop.agent)
    changes.push((await shop.changeOf(id))['id'])
  }
  return {
    ...shop,
    products,
    changes,
    prices: async () =>
      await Promise.all(products.map(async (id) => (await shop.get(`/products/${id}`))['price_amount'])),
    chosen: async (ids: readonly string[], more: object = {}, as = shop.machine) =>
      await as('POST', '/history/revert', { ids, ...more })
  }
}

t.test('chosen changes are undone together, and the others stay', async (t) => {
  const { changes, prices, chosen, get } = await night()
  const ids = [6, 1, 4, 3].map((n) => changes[n]!)
  const newestFirst = [6, 4, 3, 1].map((n) => ({ change_id: changes[n], action: 'update' }))
  const whole = { reverted: 4, changes: newestFirst, conflict_count: 0, left_out_count: 0 }
  t.match(await chosen(ids, { dry_run: true }), { status: 200, body: { dry_run: true, ...whole } })
  t.strictSame(await prices(), Array(8).fill(1), 'a dry run changes nothing')
  t.match(await chosen(ids.map((id) => id.toUpperCase())), { status: 200, body: { dry_run: false, ...whole } })
  t.strictSame(await prices(), [1, 200, 1, 400, 500, 1, 700, 1])
  const operation = encodeURIComponent('{"operation":"revert_changes"}')
  const reverts = await get(`/history?filter=${operation}`)
  t.strictSame(reverts['map'](({ reverts }: Body) => reverts).sort(), ids.sort())
  t.equal(new Set(reverts['map'](({ request_id: id }: Body) => id)).size, 1)
  t.match(await chosen([changes[0]!, ids[0]!]), {
    status: 200,
    body: { reverted: 1, left_out: [{ change_id: ids[0], reason: 'It has already been reverted' }] }
  })
  t.match(await chosen(reverts['map'](({ id }: Body) => id)), { status: 200, body: { reverted: 4 } })
  t.strictSame(await prices(), [100, ...Array(7).fill(1)], 'and chosen reverts are undone, too')
})

t.test('of several changes of a record the chosen ones are undone, unless another stands in the way', async (t) => {
  const { agent, change, changeOf, get, chosen, products: [id], changes: [first, other] } = await night()
  const made: string[] = [first!]
  for (const amount of [2, 3]) {
    await change(`/products/${id}`, { price_amount: amount }, agent)
    made.push((await changeOf(id!))['id'])
  }
  const [oldest, between, newest] = made as [string, string, string]
  const conflict = { change_id: oldest, field: 'price_amount', later_change_id: between }
  const price = async () => (await get(`/products/${id}`))['price_amount']
  const both = [oldest, newest, other!]
  t.match(await chosen(both, { dry_run: true }), {
    status: 200,
    body: { reverted: 2, conflict_count: 1, conflicts: [conflict] }
  })
  t.match(await chosen(both), {
    status: 409,
    body: { code: 'SHOP_REVERT_CONFLICT', field: 'price_amount', later_change_id: between, conflicts: [conflict] }
  })
  t.equal(await price(), 3, 'nothing was reverted')
  t.match(await chosen([oldest, between, newest], { dry_run: true }), { body: { reverted: 3, conflict_count: 0 } })
  t.match(await chosen(both, { skip_conflicts: true }), {
    status: 200,
    body: { reverted: 2, conflict_count: 1, conflicts: [conflict] }
  })
  t.equal(await price(), 2)
  t.match(await chosen([oldest, between]), { status: 200, body: { reverted: 2, conflict_count: 0 } }, 'oldest first')
  t.equal(await price(), 100)
})

t.test('chosen changes are those that the caller sees, and named in no other way', async (t) => {
  const { changes, prices, chosen, owner: by, staff: as, key, changeOf, id: shopId } = await night()
  const foreign = await night()
  const nobody = '01890a5d-ac96-774b-bcce-b302099a8057'
  const [one] = changes as [string]
  const made = (await changeOf(key, { action: 'create' }))['id'] as string
  await by('PATCH', '/config', { locale: 'fr' })
  const settings = (await changeOf(shopId, { record_kind: 'shop_config' }))['id'] as string
  const missing = (id: string) => ({ status: 404, body: { code: 'SHOP_NOT_FOUND', message: new RegExp(id) } })
  const many = Array.from({ length: 101 }, (_, n) => nobody.slice(0, -3) + String(n).padStart(3, '0'))
  const refused = { status: 422, body: { field: 'ids' } }
  for (
    const [what, ids, more, caller, expected] of [
      ['of another shop', [one, foreign.changes[0]!], {}, by, missing(foreign.changes[0]!)],
      ['of none', [one, nobody], { skip_conflicts: true }, by, missing(nobody)],
      ['in a dry run', [nobody], { dry_run: true }, by, missing(nobody)],
      ['of a key, by staff', [one, made], {}, as, missing(made)],
      ['101', many, {}, by, refused],
      ['a hundred', many.slice(1), {}, by, missing(many[1]!)],
      ['none', [], {}, by, refused],
      ['twice the same', [one, one], {}, by, refused],
      ['no id', [one, 'x'], {}, by, { status: 422, body: { field: 'ids/1' } }],
      ['and an import', [one], { import_id: nobody }, by, refused],
      ['and a part of an actor', [one], { actor_kind: 'api-key' }, by, refused],
      ['and a time', [one], { until: '2030-01-01T00:00:00Z' }, by, refused],
      [
        'and an actor',
        [one],
        { actor_kind: 'api-key', actor_id: key, since: '2020-01-01T00:00:00Z' },
        by,
        { status: 422, body: { field: 'ids', message: 'ids cannot be combined with actor_kind' } }
      ]
    ] as const
  ) {
    const answer = await chosen(ids, more, caller)
    t.match(answer, expected, `${what}: ${JSON.stringify(answer.body)}`)
  }
  t.strictSame(await prices(), Array(8).fill(1), 'nothing was reverted')
  t.match(await chosen([settings, one], {}, as), {
    status: 200,
    body: { reverted: 1, left_out_count: 1, left_out: [{ change_id: settings, reason: 'Only owners change settings' }] }
  }, 'staff change records only')
  t.match(await chosen([settings, made, changes[1]!], {}, by), {
    status: 200,
    body: { reverted: 2, left_out: [{ change_id: made, reason: 'Changes of api_key cannot be reverted' }] }
  })
  t.strictSame(await prices(), [100, 200, ...Array(6).fill(1)])
})

t.test('if one change cannot be undone, none is, and each is told', async (t) => {
  const shop = await furnished()
  const { agent, change, changeOf, revertAll, product, tag } = shop
  await change(`/products/${product}`, { price_amount: 1 }, agent)
  const first = (await changeOf(product)).id
  await change(`/products/${product}`, { price_amount: 2 }, shop.staff)
  const theirs = (await changeOf(product)).id
  await change(`/products/${product}`, { price_amount: 3 }, agent)
  await change(`/tags/${tag}`, { name: 'Agent' }, agent)
  await shop.remove(`/tags/${shop.other}`, agent)
  await shop.make('/tags', { name: 'New' }, shop.staff)
  const before = await recordsOf(shop.id)
  const dry = await revertAll({ dry_run: true })
  t.match(dry, {
    status: 200,
    body: {
      reverted: 2,
      conflict_count: 2,
      conflicts: [{ field: 'slug' }, { change_id: first, field: 'price_amount', later_change_id: theirs }]
    }
  }, JSON.stringify(dry.body))
  const refused = await revertAll({})
  t.match(refused, { status: 409, body: { code: 'SHOP_REVERT_CONFLICT', field: 'slug', conflict_count: 2 } })
  t.strictSame(refused.body.conflicts, dry.body.conflicts)
  t.strictSame(await recordsOf(shop.id), before)

  const rest = await revertAll({ skip_conflicts: true })
  t.match(rest, { status: 200, body: { dry_run: false, reverted: 2, conflict_count: 2 } }, 'or only those that can be')
  t.strictSame(rest.body.conflicts, dry.body.conflicts)
  t.match(await shop.get(`/products/${product}`), { price_amount: 2 })
})

t.test("a person's changes and reverts are undone together; what cannot be undone is left out", async (t) => {
  const shop = await furnished()
  const { owner: kim, change, changeOf, product } = shop
  const before = await recordsOf(shop.id)
  await change(`/products/${product}`, { name: 'One' }, kim)
  await kim('POST', `/history/${(await changeOf(product)).id as string}/revert`)
  await change(`/products/${product}`, { name: 'Two' }, kim)
  await kim('POST', '/api-keys/', { name: 'Made by kim' })
  const { status, body } = await shop.revertAll({ actor_kind: 'user', actor_id: owner.id })
  t.match([status, body], [200, {
    reverted: 3,
    left_out_count: 1,
    left_out: [{ record_kind: 'api_key', reason: 'Changes of api_key cannot be reverted' }]
  }], JSON.stringify(body))
  t.strictSame(await recordsOf(shop.id), before)
})

t.test('a revert respects the quota', async (t) => {
  const shop = await openShop()
  const { id } = await shop.make('/tags', { name: 'Tea' })
  await shop.remove(`/tags/${id}`)
  await shop.make('/tags', { name: 'Coffee' })
  t.teardown(async () => await setQuota(knex, { QUOTA_RECORDS: 1_000_000, QUOTA_BYTES: 2 ** 32 }))
  await setQuota(knex, { QUOTA_RECORDS: 1, QUOTA_BYTES: 2 ** 32 })
  t.match(await shop.revert((await shop.changeOf(id)).id), { status: 403, body: { code: 'SHOP_QUOTA_EXCEEDED' } })
})

t.test('reverts of a shop take turns without connections, and only so many wait', {
  skip: TEST_DATABASE_URL === undefined && 'the embedded engine has one connection: set TEST_DATABASE_URL'
}, async (t) => {
  const shop = await furnished()
  await shop.change(`/products/${shop.product}`, { name: 'Changed' })
  const { id: made } = await shop.changeOf(shop.product)
  const reverts = await knex.transaction(async (trx) => {
    await trx('products').where({ id: shop.product }).forUpdate().select('id')
    // Each person may have eight calls under way.
    const reverts = [shop.machine, shop.owner, shop.staff].flatMap((by) =>
      Array.from({ length: 4 }, async () => await by('POST', `/history/${made}/revert`))
    )
    const refused = await Promise.race(reverts)
    t.match(refused, { status: 429, body: { code: 'SHOP_TOO_MANY_CONCURRENT_CALLS' } })
    const waiting = await knex('pg_stat_activity').where({ wait_event_type: 'Lock' }).whereRaw(
      'datname = current_database()'
    ).select('pid')
    t.ok(waiting.length <= 1, `${waiting.length} connections wait`)
    return reverts
  })
  const statuses = (await Promise.all(reverts)).map(({ status }) => status)
  t.strictSame(statuses.toSorted(), [200, ...Array(8).fill(409), ...Array(3).fill(429)])
})

t.test('a revert that waits for another writer, who waits for it, is tried again', {
  skip: TEST_DATABASE_URL === undefined && 'the embedded engine has one connection: set TEST_DATABASE_URL'
}, async (t) => {
  const shop = await furnished()
  const { product, tag } = shop
  await shop.change(`/products/${product}`, { tag_ids: [] })
  const { id: made } = await shop.changeOf(product)
  let undo: ReturnType<typeof shop.revert> | undefined
  await knex.transaction(async (trx) => {
    await trx('tags').where({ id: tag }).forUpdate().select('id')
    undo = shop.revert(made)
    // It has locked the product, and waits for the tag.
    const waiting = knex('pg_stat_activity').where({ wait_event_type: 'Lock' }).whereRaw('datname = current_database()')
    while ((await waiting.clone().first('pid')) === undefined) await sleep(5)
    await trx('products').where({ id: product }).update({ status: 'archived' })
  }).catch((error: { code?: string }) => {
    t.equal(error.code, '40P01', 'on a slow machine the other one is ended')
  })
  t.equal((await undo!).status, 200)
  t.strictSame(new Set((await shop.get(`/products/${product}`))['tag_ids']), new Set([tag, shop.other]))
})

t.test('hundreds of changes are undone at once', async (t) => {
  const size = Number(process.env['BULK_SIZE'] ?? 300)
  const shop = await openShop()
  await knex('products').insert(
    Array.from(
      { length: size },
      (_, n) => ({ shop_id: shop.id, name: `Product ${n}`, slug: `product-${n}`, currency: 'EUR', price_amount: n })
    )
  )
  const before = await recordsOf(shop.id)
  // As an agent leaves it that raises every price.
  await knex.raw(
    `with written as (update products set price_amount = price_amount + 1 where shop_id = ? returning *)
    insert into history (shop_id, actor_kind, actor_id, operation, tool, action, record_kind, record_id,
      record_name, changes)
    select shop_id, 'api-key', ?, 'update_product', 'update_product', 'update', 'product', id, name,
      jsonb_build_object('price_amount', jsonb_build_object('before', price_amount - 1, 'after', price_amount))
        from written`,
    [shop.id, shop.key]
  )
  const { status, body } = await shop.revertAll({})
  t.match([status, body.reverted, body.changes.length], [200, size, Math.min(size, 200)])
  t.strictSame(await recordsOf(shop.id), before)
  await knex.raw(
    `insert into history (shop_id, actor_kind, actor_id, operation, action, record_kind, record_id)
    select ?, 'machine', 'busy', 'update_tag', 'update', 'tag', gen_random_uuid() from generate_series(1, 10001)`,
    [shop.id]
  )
  t.match(await shop.revertAll({ actor_kind: 'machine', actor_id: 'busy' }), { status: 422, body: { field: 'since' } })
})
