import t from 'tap'
import { pruneHistory } from '../src/history/retention.ts'
import { bearer, build, client, createShop, INSTANT, openIdentityProvider, openTestDatabase, UUID } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['owner', 'staff', 'boss'])
const app = await build(t, database, idp)
const machineHeaders = bearer(await idp.machineToken())
const here = await createShop(database, 'here')
const at = `/shops/${here}`
const machine = client(app, at, machineHeaders)
const [owner, staff, boss] = await Promise.all(['owner', 'staff', 'boss'].map(async (name) => {
  const headers = bearer(await idp.userToken(name))
  return { as: client(app, at, headers), headers, id: (await client(app, '', headers)('GET', '/me')).body.id as string }
})) as [Person, Person, Person]
interface Person {
  readonly as: typeof machine
  readonly headers: { authorization: string }
  readonly id: string
}
await knex('users').where({ id: boss.id }).update({ roles: ['admin'] })
await knex('shop_members').insert([
  { shop_id: here, user_id: owner.id, role: 'owner' },
  { shop_id: here, user_id: staff.id, role: 'staff' }
])
const key: { id: string, prefix: string, plaintext: string } =
  (await machine('POST', '/api-keys/', { name: 'Price watcher' })).body

interface Entry {
  readonly id: string
  readonly operation: string
  readonly record_kind: string
  readonly record_name: string | null
  readonly changes: Record<string, unknown>
  readonly affected: object
  readonly [field: string]: unknown
}

async function tool (
  name: string,
  args: object,
  headers: Record<string, string> = {}
): Promise<{ readonly id: string, readonly requestId: string }> {
  const response = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { accept: 'application/json, text/event-stream', 'x-api-key': key.plaintext, ...headers },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
  })
  const { result } = response.json()
  if (result.isError === true) throw new Error(result.content[0].text)
  return { id: result.structuredContent?.id, requestId: String(response.headers['x-request-id']) }
}

/** What the history gained by the work, oldest first. */
async function gainedBy (work: () => Promise<unknown>): Promise<Entry[]> {
  const ids = async (): Promise<string[]> =>
    (await knex('history').where({ shop_id: here }).whereNot({ action: 'event' }).orderBy('seq').select('id')).map((
      { id }
    ) => id)
  const before = new Set(await ids())
  await work()
  const gained = (await ids()).filter((id) => !before.has(id))
  const { body } = await machine(
    'GET',
    `/history?filter=${encodeURIComponent(JSON.stringify({ id: gained.length > 0 ? gained : ['none'] }))}`
  )
  return gained.map((id) => body.find((entry: Entry) => entry.id === id))
}

const fresh = (after: unknown) => ({ before: null, after })
const gone = (before: unknown) => ({ before, after: null })

t.test('an entry says who, how, and what: for a tool, a key, a person and a machine', async (t) => {
  let called = { id: '', requestId: '' }
  const [byTool, byKey, byPerson, byMachine] = await gainedBy(async () => {
    called = await tool('create_tag', { name: 'Tea' })
    await app.inject({
      method: 'PATCH',
      url: `${at}/tags/${called.id}`,
      headers: { 'x-api-key': key.plaintext, 'x-request-id': 'mine-1' },
      payload: { name: 'Teas' }
    })
    await staff.as('PATCH', `/tags/${called.id}`, { name: 'Green tea' })
    await machine('DELETE', `/tags/${called.id}`)
  })
  const tag = {
    shop_id: here,
    record_kind: 'tag',
    record_id: called.id,
    affected: {},
    reverts: null,
    reverted_by: null,
    revertible: true
  }
  const { id, at: time, ...entry } = byTool!
  t.match({ id, time }, { id: UUID, time: INSTANT })
  t.strictSame(entry, {
    ...tag,
    actor_kind: 'api-key',
    actor_id: key.id,
    actor_name: 'Price watcher',
    actor_prefix: key.prefix,
    operation: 'create_tag',
    tool: 'create_tag',
    confirmed: null,
    action: 'create',
    record_name: 'Tea',
    changes: { name: fresh('Tea'), slug: fresh('tea') },
    request_id: called.requestId
  })
  t.match(byKey, {
    ...tag,
    actor_name: 'Price watcher',
    operation: 'update_tag',
    tool: null,
    action: 'update',
    record_name: 'Teas',
    request_id: 'mine-1'
  })
  t.strictSame(byKey!.changes, { name: { before: 'Tea', after: 'Teas' } }, 'only what changed')
  t.match(byPerson, {
    ...tag,
    actor_kind: 'user',
    actor_id: staff.id,
    actor_name: 'staff',
    actor_prefix: null,
    tool: null
  })
  t.match(byMachine, {
    ...tag,
    actor_kind: 'machine',
    actor_id: 'test-machine',
    actor_name: null,
    action: 'delete',
    record_name: 'Green tea',
    changes: { name: gone('Green tea'), slug: gone('tea') }
  })
})

t.test('a name stays as it was at the time of the change', async (t) => {
  const [entry] = await gainedBy(async () => await staff.as('POST', '/tags', { name: 'Then' }))
  await knex('users').where({ id: staff.id }).update({ name: 'renamed' })
  await machine('PATCH', `/tags/${String(entry!['record_id'])}`, { name: 'Now' })
  const { body } = await machine('GET', `/history?filter=${encodeURIComponent(JSON.stringify({ id: [entry!.id] }))}`)
  t.match(body, [{ actor_name: 'staff', record_name: 'Then' }])
})

t.test('every write of a record leaves one entry, with every field that it changed', async (t) => {
  const make = async (path: string, body: object): Promise<string> => {
    const made = await machine('POST', path, body)
    t.equal(made.status, 201, `${path} ${JSON.stringify(made.body)}`)
    return made.body.id
  }
  const change = async (path: string, body: object): Promise<void> => {
    t.equal((await machine('PATCH', path, body)).status, 200, path)
  }
  const remove = async (path: string): Promise<void> => {
    t.equal((await machine('DELETE', path)).status, 204, path)
  }
  let [category, child, tag, size, mug, cup, price, account, order] = Array.from<string>({ length: 9 }).fill('')

  const gained = await gainedBy(async () => {
    category = await make('/categories', { name: 'Kitchen' })
    child = await make('/categories', { name: 'Mugs', parent_id: category, position: 2 })
    tag = await make('/tags', { name: 'Sale' })
    size = await make('/attributes', { name: 'Size', type: 'select', options: ['S', 'M'] })
    mug = await make('/products', { name: 'Mug', price_amount: 500, status: 'active' })
    cup = await make('/products', {
      name: 'Cup',
      category_ids: [child],
      tag_ids: [tag],
      attributes: [{ attribute_id: size, value: 'S' }]
    })
    await change(`/products/${mug}`, { price_amount: 900, image_urls: ['/a.svg'], metadata: { a: 1 } })
    await change(`/products/${mug}`, { price_amount: 900 })
    await change(`/products/${mug}`, { tag_ids: [tag], name: 'Big mug' })
    await change(`/attributes/${size}`, { options: ['S', 'M', 'L'] })
    price = await make('/prices', { product_id: mug, amount: 400, valid_from: '2030-01-01T00:00:00+02:00' })
    await change(`/prices/${price}`, { valid_to: '2031-01-01T00:00:00Z' })
    account = await make('/accounts', { name: 'Ada', details: { tier: 'gold' } })
    await change(`/accounts/${account}`, { details: { tier: null, since: 2020 } })
    order = await make('/orders', { account_id: account, lines: [{ product_id: mug, quantity: 2 }] })
    await change(`/orders/${order}`, { status: 'paid' })
    await change(`/orders/${order}`, { status: 'paid' })
    await change(`/categories/${child}`, { parent_id: null })
    await change('/config', { locale: 'de' })
    await change('/config', { locale: 'de' })
    await change('/config', {})
    await remove(`/accounts/${account}`)
    await remove(`/products/${mug}`)
    await remove(`/tags/${tag}`)
    await machine('POST', '/products', { name: 'Cup' })
    await machine('PATCH', `/products/${cup}`, { tag_ids: [tag] })
  })
  const line = { product_id: mug, name: 'Big mug', sku: null, unit_amount: 900, quantity: 2 }
  const created = {
    slug: fresh('cup'),
    name: fresh('Cup'),
    currency: fresh('EUR'),
    status: fresh('draft'),
    image_urls: fresh([]),
    metadata: fresh({})
  }
  const expected = [
    ['create_category', 'Kitchen', { name: fresh('Kitchen'), slug: fresh('kitchen'), position: fresh(0) }, {}],
    ['create_category', 'Mugs', {
      name: fresh('Mugs'),
      slug: fresh('mugs'),
      parent_id: fresh(category),
      position: fresh(2)
    }, {}],
    ['create_tag', 'Sale', { name: fresh('Sale'), slug: fresh('sale') }, {}],
    ['create_attribute', 'Size', {
      name: fresh('Size'),
      code: fresh('size'),
      type: fresh('select'),
      options: fresh(['S', 'M'])
    }, {}],
    ['create_product', 'Mug', {
      ...created,
      name: fresh('Mug'),
      slug: fresh('mug'),
      status: fresh('active'),
      price_amount: fresh(500)
    }, {}],
    ['create_product', 'Cup', {
      ...created,
      category_ids: fresh([child]),
      tag_ids: fresh([tag]),
      attributes: fresh([{ attribute_id: size, value: 'S' }])
    }, {}],
    ['update_product', 'Mug', {
      price_amount: { before: 500, after: 900 },
      image_urls: { before: [], after: ['/a.svg'] },
      metadata: { before: {}, after: { a: 1 } }
    }, {}],
    [
      'update_product',
      'Big mug',
      { name: { before: 'Mug', after: 'Big mug' }, tag_ids: { before: [], after: [tag] } },
      {}
    ],
    ['update_attribute', 'Size', { options: { before: ['S', 'M'], after: ['S', 'M', 'L'] } }, {}],
    ['create_price', null, {
      product_id: fresh(mug),
      amount: fresh(400),
      currency: fresh('EUR'),
      min_quantity: fresh(1),
      valid_from: fresh('2029-12-31T22:00:00.000Z')
    }, {}],
    ['update_price', null, { valid_to: fresh('2031-01-01T00:00:00.000Z') }, {}],
    ['create_account', 'Ada', { name: fresh('Ada'), details: fresh({ tier: 'gold' }) }, {}],
    ['update_account', 'Ada', { details: { before: { tier: 'gold' }, after: { since: 2020 } } }, {}],
    ['create_order', null, {
      account_id: fresh(account),
      status: fresh('pending'),
      currency: fresh('EUR'),
      total_amount: fresh(1800),
      lines: fresh([line])
    }, {}],
    ['update_order_status', null, { status: { before: 'pending', after: 'paid' } }, {}],
    ['update_category', 'Mugs', { parent_id: gone(category) }, {}],
    ['update_shop_config', null, { locale: { before: 'en', after: 'de' } }, {}],
    ['delete_account', 'Ada', { name: gone('Ada'), details: gone({ since: 2020 }) }, { orders: 1 }],
    ['delete_product', 'Big mug', {
      name: gone('Big mug'),
      slug: gone('mug'),
      status: gone('active'),
      currency: gone('EUR'),
      price_amount: gone(900),
      image_urls: gone(['/a.svg']),
      metadata: gone({ a: 1 }),
      category_ids: gone([]),
      tag_ids: gone([tag]),
      attributes: gone([])
    }, { orders: 1, prices: 1 }],
    ['delete_tag', 'Sale', { name: gone('Sale'), slug: gone('sale') }, { products: 1 }]
  ] as const
  t.strictSame(
    gained.map(({ operation }) => operation),
    expected.map(([operation]) => operation),
    'and nothing of what was refused, or changed nothing'
  )
  for (const [index, [operation, name, changes, affected]] of expected.entries()) {
    const { record_name: recordName, changes: told, affected: also } = gained[index]!
    t.strictSame([recordName, told, also], [name, changes, affected], operation)
  }
})

t.test('a write and its entry are one: without the entry there is no write', async (t) => {
  const product = (await machine('POST', '/products', { name: 'Held' })).body
  const tag = (await machine('POST', '/tags', { name: 'Held' })).body.id
  await knex.raw("alter table history add constraint history_is_away check (operation = 'none') not valid")
  t.teardown(async () => await knex.raw('alter table history drop constraint if exists history_is_away'))
  for (
    const [method, path, body] of [
      ['POST', '/products', { name: 'Unseen' }],
      ['POST', '/products', { name: 'Unseen', tag_ids: [tag] }],
      ['PATCH', `/products/${product.id}`, { name: 'Unseen' }],
      ['PATCH', `/products/${product.id}`, { tag_ids: [tag] }],
      ['DELETE', `/products/${product.id}`],
      ['POST', '/accounts', { name: 'Unseen' }]
    ] as const
  ) t.equal((await machine(method, path, body)).status, 500, `${method} ${path}`)
  await knex.raw('alter table history drop constraint history_is_away')
  t.strictSame((await machine('GET', `/products/${product.id}`)).body, product)
  t.equal((await machine('GET', '/products?filter={"name":"Unseen"}')).headers['content-range'], 'products 0-25/0')
})

t.test('what the payment provider says of an account is not told', async (t) => {
  const { id } = (await machine('POST', '/accounts', { name: 'Bob' })).body
  const details = {
    pay_customer_id: 'cus_canary',
    pay_customer: { id: 'cus_canary' },
    pay_synced_at: '2026-01-01T00:00:00Z'
  }
  await knex('accounts').where({ id }).update({ details })
  const gained = await gainedBy(async () => {
    await machine('PATCH', `/accounts/${id}`, { details: { tier: 'gold' } })
    await machine('DELETE', `/accounts/${id}`)
  })
  t.match(gained, [
    { changes: { details: { before: {}, after: { tier: 'gold' } } } },
    { action: 'delete', changes: { details: gone({ tier: 'gold' }) } }
  ])
  t.notMatch(JSON.stringify((await machine('GET', '/history?limit=200')).body), 'canary')
})

t.test('staff see changes of records and settings; owners, admins and machines everything', async (t) => {
  const kinds = async (as: typeof machine) =>
    [...new Set((await as('GET', '/history?limit=200')).body.map(({ record_kind: kind }: Entry) => kind))].toSorted()
  t.strictSame(await kinds(staff.as), [
    'account',
    'attribute',
    'category',
    'order',
    'price',
    'product',
    'shop_config',
    'tag'
  ])
  for (const as of [owner.as, boss.as, machine]) {
    t.strictSame(await kinds(as), [
      'account',
      'api_key',
      'attribute',
      'category',
      'order',
      'price',
      'product',
      'shop_config',
      'tag'
    ])
  }
  t.strictSame(
    [...new Set((await owner.as('GET', '/audit?limit=200')).body.map(({ record_kind: kind }: Entry) => kind))]
      .toSorted(),
    ['api_key', 'shop_config'],
    'the audit trail is its part about access'
  )
})

t.test('the history is searched by the names of records', async (t) => {
  const { body } = await machine('GET', `/history?limit=200&filter=${encodeURIComponent('{"q":"big MUG"}')}`)
  t.strictSame(body.map(({ operation }: Entry) => operation).toSorted(), ['delete_product', 'update_product'])
})

t.test('an entry is found by the time that it shows, which leaves out the microseconds', async (t) => {
  const shop = await createShop(database, 'to-the-millisecond')
  // Of a kind that is kept for ever.
  const entry = { shop_id: shop, actor_kind: 'machine', action: 'update', record_id: 'x' }
  for (
    const [operation, at] of [['before', '2026-01-02T03:04:05.677999Z'], ['first', '2026-01-02T03:04:05.678000Z'], [
      'last',
      '2026-01-02T03:04:05.678999Z'
    ], ['after', '2026-01-02T03:04:05.679000Z']] as const
  ) {
    await knex('history').insert({ ...entry, operation, at, record_kind: 'api_key' })
  }
  const shown = '2026-01-02T03:04:05.678Z'
  for (const path of [`/shops/${shop}/history`, `/shops/${shop}/audit`, '/admin/audit']) {
    const find = async (filter: object): Promise<unknown> => {
      const { body } = await client(
        app,
        '',
        path.startsWith('/admin') ? boss.headers : bearer(await idp.machineToken())
      )(
        'GET',
        `${path}?sort=at&filter=${
          encodeURIComponent(JSON.stringify({ record_kind: ['api_key'], record_id: ['x'], ...filter }))
        }`
      )
      return body.map(({ operation }: Entry) => operation)
    }
    t.strictSame(await find({ at: [shown] }), ['first', 'last'], path)
    t.strictSame(await find({ at_lte: shown }), ['before', 'first', 'last'], path)
    t.strictSame(await find({ at_gte: shown }), ['first', 'last', 'after'], path)
    t.strictSame(await find({ at_gte: shown, at_lte: shown }), ['first', 'last'], path)
    t.strictSame(await find({ at_gte: '2026-01-02T23:04:05.678+20:00', at_lte: '2026-01-02T03:04:05.678901Z' }), [
      'first',
      'last'
    ], `${path}: other ways to write it`)
  }
})

t.test('an entry is never changed, and deleted only when it is older than the history is kept', async (t) => {
  for (
    const statement of ["update history set actor_id = 'nobody'", 'delete from history', 'truncate history cascade']
  ) {
    await t.rejects(async () => await knex.raw(statement), { message: /history is append-only/ }, statement)
  }
  const entry = { shop_id: here, actor_kind: 'machine', operation: 'test', action: 'update', record_id: 'x' }
  const old = knex.raw("now() - interval '31 days'")
  await knex('history').insert([{ ...entry, at: old, record_kind: 'product' }, {
    ...entry,
    at: old,
    record_kind: 'api_key'
  }, { ...entry, record_kind: 'product' }])
  const count = async () => (await knex('history').count().first())?.['count'] as unknown as number
  const before = await count()
  t.equal(await pruneHistory(knex, 32), 0)
  t.equal(await pruneHistory(knex, 30), 1, 'what is about access is kept')
  t.equal(await count(), before - 1)
})

t.test('a page of large changes ends early', async (t) => {
  const { id } = (await machine('POST', '/products', { name: 'Large' })).body
  for (let n = 0; n < 12; n++) {
    t.equal((await machine('PATCH', `/products/${id}`, { description: `${n}${'x'.repeat(19_000)}` })).status, 200)
  }
  const page = await machine('GET', `/history?limit=20&filter={"record_id":"${id}"}`)
  t.ok(page.body.length < 12 && page.body.length > 3, `${page.body.length} on the first page`)
  t.equal(page.headers['content-range'], `history 0-${page.body.length}/13`)
})

t.test('changes are listed by piece of work: one entry for one actor without a pause, revertible', async (t) => {
  const shop = await createShop(database, 'work')
  await knex('shop_members').insert([
    { shop_id: shop, user_id: owner.id, role: 'owner' },
    { shop_id: shop, user_id: staff.id, role: 'staff' }
  ])
  const [asOwner, asStaff] = [
    client(app, `/shops/${shop}`, owner.headers),
    client(app, `/shops/${shop}`, staff.headers)
  ]
  const at = (minute: number, millisecond = 0) =>
    new Date(Date.UTC(2026, 0, 1, 12, minute, 0, millisecond)).toISOString()
  const change = (actor: string, minute: number, more: object = {}) => ({
    shop_id: shop,
    at: at(minute),
    actor_kind: 'machine',
    actor_id: actor,
    operation: 'test',
    action: 'update',
    record_kind: 'product',
    record_id: shop,
    changes: {},
    ...more
  })
  const price = (before: number | null, after: number | null) => ({ changes: { price_amount: { before, after } } })
  await knex('history').insert([
    change('watcher', 0, price(1000, 1050)),
    change('watcher', 9, { ...price(1000, 900), tool: 'update_product', actor_name: 'Watcher' }),
    change('watcher', 18, { action: 'create', record_kind: 'tag' }),
    change('other', 10, { changes: { ...price(1999, 1500).changes, currency: { before: 'JPY', after: 'USD' } } }),
    change('watcher', 29, price(null, 500)),
    change('other', 29, { record_kind: 'member' }),
    change('other', 12, { action: 'event', record_kind: 'api_key' })
  ])
  const of = { actor_kind: 'machine', actor_name: null, by_tool: false, operation: 'test', prices: null }
  const work = [
    {
      ...of,
      actor_id: 'other',
      started_at: at(29),
      ended_at: at(29),
      changes: 1,
      revertible: 0,
      records: [{ action: 'update', record_kind: 'member', count: 1, records: 1 }]
    },
    {
      ...of,
      actor_id: 'watcher',
      started_at: at(29),
      ended_at: at(29),
      changes: 1,
      revertible: 1,
      records: [{ action: 'update', record_kind: 'product', count: 1, records: 1 }]
    },
    {
      ...of,
      actor_id: 'watcher',
      actor_name: 'Watcher',
      by_tool: true,
      started_at: at(0),
      ended_at: at(18),
      changes: 3,
      revertible: 3,
      records: [
        { action: 'update', record_kind: 'product', count: 2, records: 1 },
        { action: 'create', record_kind: 'tag', count: 1, records: 1 }
      ],
      prices: { count: 2, lowest: -10, highest: 5 }
    },
    {
      ...of,
      actor_id: 'other',
      started_at: at(10),
      ended_at: at(10),
      changes: 1,
      revertible: 1,
      records: [{ action: 'update', record_kind: 'product', count: 1, records: 1 }]
    }
  ]
  const { body } = await asOwner('GET', '/history/work')
  const sorted = (pieces: ReadonlyArray<{ ended_at: string, actor_id: string }>) =>
    pieces.toSorted((one, two) => two.ended_at.localeCompare(one.ended_at) || one.actor_id.localeCompare(two.actor_id))
  t.strictSame({ ...body, work: sorted(body.work) }, { work, next: null })
  t.strictSame((await asStaff('GET', '/history/work')).body.work, work.slice(1), 'staff do not see members')
  t.strictSame((await asOwner('GET', `/history/work?until=${at(18)}`)).body.work, work.slice(2))
  t.strictSame(
    (await asOwner('GET', '/history/work?actor_kind=machine&actor_id=watcher')).body.work.map((
      { started_at: start }: { started_at: string }
    ) => start),
    [at(29), at(0)]
  )
  t.strictSame((await asOwner('GET', '/history/work?operation=import_products')).body.work, [])
  t.match(await asOwner('GET', '/history/work?until=yesterday'), { status: 422, body: { field: 'until' } })
  t.match(
    (await asOwner('POST', '/history/revert', {
      actor_kind: 'machine',
      actor_id: 'watcher',
      since: at(0),
      until: at(18),
      dry_run: true
    })).body,
    { conflict_count: 3 },
    'only those'
  )
  t.match(
    (await asOwner('POST', '/history/revert', {
      actor_kind: 'machine',
      actor_id: 'watcher',
      since: at(0),
      operation: 'import_products',
      dry_run: true
    })).body,
    { reverted: 0, conflict_count: 0 },
    'none of another operation'
  )
  t.match(await asOwner('POST', '/history/revert', { import_id: shop, until: at(18) }), {
    status: 422,
    body: { field: 'until' }
  })

  await knex('history').insert(
    [[10_000, 1], [10_000_000, 1], [10_000, 10_001], [10_000_000, 10_000_001], [3, 4], [5, 0], [5, 5]].map((
      [before, after],
      index
    ) => change(`near ${index}`, 40, price(before!, after!)))
  )
  t.strictSame(
    (await asOwner('GET', '/history/work')).body.work.filter((
      { actor_id: id }: { actor_id: string }
    ) => id.startsWith('near')).toSorted((one: { actor_id: string }, two: { actor_id: string }) =>
      one.actor_id.localeCompare(two.actor_id)
    ).map(({ prices }: { prices: object }) => prices),
    [-99.99, -99.99, 0.01, 0.01, 33.33, -100, 0].map((rise) => ({ count: 1, lowest: rise, highest: rise })),
    'no change is said to be none, or all of the price, unless it is'
  )

  for (const path of ['/history?limit=1', '/history/work']) {
    const { headers: { etag } } = await asOwner('GET', path)
    const again = async () =>
      await client(app, `/shops/${shop}`, { ...owner.headers, 'if-none-match': String(etag) })('GET', path)
    t.match(await again(), { status: 304, body: null }, `who polls ${path} is told that it is the same`)
    t.not((await asStaff('GET', path)).headers['etag'], etag, 'staff see less')
    await knex('history').insert(change('other', 5))
    t.match(await again(), { status: 200 }, 'what was written earlier and appears later is news too')
  }
})

t.test('a page of work has at most 100 pieces and 12,000 changes, and each change is on one page', async (t) => {
  const shop = await createShop(database, 'much-work')
  await knex.raw(
    `insert into history (shop_id, at, actor_kind, actor_id, operation, action, record_kind, record_id, changes)
    select ?, timestamptz '2026-01-01' + n * interval '1 second', 'machine',
      case when n > 13000 then 'm' || n else 'import' end, 'test', 'update', 'product', 'p', '{}'
    from generate_series(1, 13150) n`,
    [shop]
  )
  const pages = []
  for (let until: string | null = null; pages.length === 0 || until !== null;) {
    const { work, next }: { work: ReadonlyArray<{ changes: number }>, next: string | null } =
      (await client(app, `/shops/${shop}`, machineHeaders)(
        'GET',
        `/history/work${until === null ? '' : `?until=${until}`}`
      )).body
    pages.push(work.map(({ changes }) => changes))
    until = next
  }
  t.strictSame(pages, [Array(100).fill(1), [...Array(50).fill(1), 11_950], [1050]])
})
