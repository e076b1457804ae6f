import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import t, { type Test } from 'tap'
import { MAX_UNFINISHED } from '../src/imports/schemas.ts'
import { setQuota } from '../src/shops/shop-repository.ts'
import { TEST_DATABASE_URL } from './build.ts'
import { callOf, type Furnished, openFurnished, paramsOf } from './furnished.ts'

/*
 * Two calls that meet at one record. On PostgreSQL, a third connection holds rows until both calls wait for them, so
 * that whatever a call reads without a lock is old when it goes on. The embedded database has one connection.
 */

const { knex, people: [owner, staff, boss], requests, furnish, prepare, send } = await openFurnished(t, [
  'owner',
  'staff',
  'boss'
])
type Person = NonNullable<typeof owner>
type Call = () => ReturnType<typeof send>

/** Whether a test holds the row that calls wait for. */
const row = { isHeld: false }

/** @returns the statuses of calls that go on at once, in their order */
async function meet (rows: (on: Knex) => Knex.QueryBuilder, calls: readonly Call[]): Promise<readonly number[]> {
  if (TEST_DATABASE_URL === undefined) return await Promise.all(calls.map(async (call) => (await call()).statusCode))
  row.isHeld = true
  const holder = await knex.transaction()
  await holder.select().from(rows(holder).forUpdate().as('held'))
  const answers = calls.map(async (call) => (await call()).statusCode)
  // Not for as long as a key store may take.
  for (const end = performance.now() + 500; performance.now() < end; await sleep(5)) {
    if (await waitingCalls() === calls.length) break
  }
  row.isHeld = false
  await holder.rollback()
  return await Promise.all(answers)
}

/** How many calls wait for a row. */
async function waitingCalls (): Promise<number> {
  const { rows: [{ waiting }] } = await knex.raw(
    'select count(*)::int as waiting from pg_stat_activity where datname = current_database() and ' +
      "wait_event_type = 'Lock'"
  )
  return waiting
}

/** A call that begins when another one waits, as long as there is something to wait for. */
const behind = (call: Call): Call => async () => {
  while (row.isHeld && await waitingCalls() === 0) await sleep(5)
  return await call()
}

/** The tables of the rows that paths name. */
const TABLES: Readonly<Record<string, string>> = {
  shop_id: 'shops',
  product_id: 'products',
  category_id: 'categories',
  tag_id: 'tags',
  attribute_id: 'attributes',
  account_id: 'accounts',
  order_id: 'orders',
  price_id: 'prices',
  import_id: 'imports',
  key_id: 'api_keys'
}

/** The row that a path names last; the shop if it names a member or a change, whose writers take turns in it. */
function rowOf (url: string, { params }: Furnished): (on: Knex) => Knex.QueryBuilder {
  const param = paramsOf({ url } as never).at(-1)!
  const name = TABLES[param] === undefined ? 'shop_id' : param
  return (on) => on(TABLES[name]!).where({ id: params[name] }).select('id')
}

/** What is wrong with the history of a shop: changes of a field that do not begin with what the last one left. */
async function gapsOf (shop: string): Promise<readonly string[]> {
  const last = new Map<string, unknown>()
  const gaps: string[] = []
  for (
    const { record_id: id, action, changes, operation } of await knex('history').where({ shop_id: shop }).whereNot({
      action: 'event'
    }).orderBy('seq')
  ) {
    for (const [field, { before, after }] of Object.entries<{ before: unknown, after: unknown }>(changes)) {
      const [key, was] = [`${id as string} ${field}`, JSON.stringify(before)]
      if (last.has(key) && last.get(key) !== was) {
        gaps.push(`${operation as string} of ${field}: ${was} was ${String(last.get(key))}`)
      }
      last.set(key, action === 'delete' ? 'null' : JSON.stringify(after))
    }
  }
  return gaps
}

const writes = requests.filter(({ route, method }) =>
  route.url.startsWith('/shops/:shop_id') && !['GET', 'HEAD'].includes(method)
)

/**
 * What two equal calls get where it is not what their method suggests: nothing is unique, or doing it again is nothing
 * new.
 */
const TWICE: Readonly<Record<string, readonly number[]>> = {
  'POST /shops/:shop_id/api-keys': [201, 201],
  'DELETE /shops/:shop_id/api-keys/:key_id': [204, 204],
  'POST /shops/:shop_id/accounts': [201, 201],
  'POST /shops/:shop_id/orders': [201, 201],
  'POST /shops/:shop_id/imports': [202, 202],
  'DELETE /shops/:shop_id/imports/:import_id': [204, 204],
  'DELETE /shops/:shop_id/pay/key': [204, 204],
  'DELETE /shops/:shop_id/pay/webhook-secret': [204, 204]
}
const USUAL: Readonly<Record<number, readonly number[]>> = { 200: [200, 200], 201: [201, 409], 204: [204, 404] }

for (const { route, method, name } of writes) {
  t.test(`${name} twice at once`, async (t) => {
    const shop = await furnish()
    await prepare(name, shop)
    const { url, body } = callOf(route, shop)
    const call: Call = async () => await send(method, url, boss!.headers, body)
    const statuses = await meet(rowOf(route.url, shop), [call, call])
    const declared = Object.keys(route.schema?.response as object).map(Number)
    t.strictSame(statuses.toSorted(), TWICE[name] ?? USUAL[declared.find((status) => status < 300)!])
    t.strictSame(await gapsOf(shop.id), [])
    const deletions = await knex('history').where({ shop_id: shop.id, action: 'delete' }).groupBy('record_id')
      .havingRaw('count(*) > 1').select('record_id')
    t.strictSame(deletions, [], 'nothing is deleted twice')
  })

  if (name === 'DELETE /shops/:shop_id') continue
  t.test(`${name} while its shop is deleted`, async (t) => {
    const shop = await furnish()
    await prepare(name, shop)
    await prepare('DELETE /shops/:shop_id', shop)
    const { url, body } = callOf(route, shop)
    const deletion: Call = async () => await send('DELETE', `/shops/${shop.id}`, boss!.headers)
    const [deleted, status] = await meet((on) => on('shops').where({ id: shop.id }).select('id'), [
      deletion,
      async () => await send(method, url, boss!.headers, body)
    ])
    // With an order in it a shop stays.
    t.ok(deleted === 204 || (deleted === 409 && status === 201), `${deleted}`)
    t.ok(status! < 300 || [403, 404, 422].includes(status!), `${status}`)
    if (deleted !== 204) return
    for (const table of ['products', 'tags', 'accounts', 'api_keys', 'imports', 'shop_members']) {
      t.strictSame(await knex(table).where({ shop_id: shop.id }), [], table)
    }
  })
}

for (const { route, method, name } of writes.filter(({ method }) => method === 'PATCH')) {
  t.test(`${name}: writers of different fields lose nothing`, async (t) => {
    const shop = await furnish()
    await prepare(name, shop)
    const { url, body } = callOf(route, shop)
    // An order and a member have one.
    const changes = Object.entries(body!).filter(([field]) => !['options', 'status', 'role'].includes(field)).map((
      change
    ) => Object.fromEntries([change]))
    const statuses = await meet(
      rowOf(route.url, shop),
      changes.map((change) => async () => await send(method, url, boss!.headers, change))
    )
    t.strictSame(statuses, changes.map(() => 200))
    const now = JSON.parse((await send('GET', url, boss!.headers)).body)
    for (const change of changes) t.match(now, JSON.parse(JSON.stringify(change).replaceAll('00:00Z', '00:00.000Z')))
    t.strictSame(await gapsOf(shop.id), [])
  })
}

for (const { route, method, name } of writes.filter(({ method }) => method === 'PATCH')) {
  t.test(`${name}: of two who have read one version, one writes`, async (t) => {
    const shop = await furnish()
    await prepare(name, shop)
    const { url, body } = callOf(route, shop)
    const seen = { ...boss!.headers, 'if-match': String((await send('GET', url, boss!.headers)).headers.etag) }
    const call: Call = async () => await send(method, url, seen, body)
    t.strictSame((await meet(rowOf(route.url, shop), [call, call])).toSorted(), [200, 412])
  })
}

/** Two calls that cannot both be right, and what they get, in any order: several if either may win. */
const pairs: ReadonlyArray<
  readonly [
    what: string,
    meeting: (
      shop: Furnished
    ) => Promise<
      readonly [
        held: string | ((on: Knex) => Knex.QueryBuilder),
        calls: readonly Call[],
        after?: (t: Test) => Promise<unknown>
      ]
    >,
    ...outcomes: ReadonlyArray<readonly number[]>
  ]
> = [
  ['an order is fulfilled and cancelled', async ({ id, params: { order_id: order } }) => {
    await knex('orders').where({ id: order }).update({ status: 'paid' })
    return [
      '/:order_id',
      ['fulfilled', 'cancelled'].map((status) => async () =>
        await send('PATCH', `/shops/${id}/orders/${order}`, boss!.headers, { status })
      )
    ]
  }, [200, 409]],
  [
    'both owners leave',
    async (shop) => [
      '/:shop_id',
      (await owners(shop, owner!, staff!)).map((path, n) => async () =>
        await send('DELETE', path, [owner!, staff!][n]!.headers)
      )
    ],
    [204, 409]
  ],
  [
    'both owners become staff',
    async (shop) => [
      '/:shop_id',
      (await owners(shop, owner!, staff!)).map((path, n) => async () =>
        await send('PATCH', path, [owner!, staff!][n]!.headers, { role: 'staff' })
      )
    ],
    [200, 409]
  ],
  [
    'two owners remove each other',
    async (shop) => [
      '/:shop_id',
      (await owners(shop, owner!, staff!)).map((path, n) => async () =>
        await send('DELETE', path, [staff!, owner!][n]!.headers)
      )
    ],
    [204, 403]
  ],
  [
    'an owner is removed and adds somebody',
    async (shop) => {
      const [path] = await owners(shop, owner!, staff!)
      return ['/:shop_id', [
        async () => await send('DELETE', path!, boss!.headers),
        async () => await send('POST', `/shops/${shop.id}/members`, owner!.headers, { user_id: boss!.id })
      ]]
    },
    [204, 403],
    [204, 201]
  ],
  ["two admins take each other's role", async () => {
    await knex('users').where({ id: staff!.id }).update({ roles: ['admin'] })
    return [
      (on) => on('users').whereIn('id', [boss!.id, staff!.id]).orderBy('id').select('id'),
      [[boss!, staff!], [staff!, boss!]].map(([by, of]) => async () =>
        await send('PATCH', `/admin/users/${of!.id}`, by!.headers, { roles: [] })
      ),
      async (t) => {
        t.equal((await knex('users').whereRaw("'admin' = any(roles)")).length, 1)
        await knex('users').where({ id: boss!.id }).update({ roles: ['admin'] })
        await knex('users').where({ id: staff!.id }).update({ roles: [] })
      }
    ]
  }, [200, 403]],
  [
    'two categories move below each other',
    async (
      { id, params: { category_id: one }, values: { parent_id: other } }
    ) => [
      '/:shop_id',
      [[one, other], [other, one]].map(([child, parent]) => async () =>
        await send('PATCH', `/shops/${id}/categories/${String(child)}`, boss!.headers, { parent_id: parent })
      )
    ],
    [200, 422]
  ],
  [
    'an option goes and a product takes it',
    async ({ id, params: { attribute_id: attribute, product_id: product } }) => {
      await knex('attributes').where({ id: attribute }).update({ type: 'select', options: JSON.stringify(['S', 'M']) })
      return ['/:attribute_id', [
        async () => await send('PATCH', `/shops/${id}/attributes/${attribute}`, boss!.headers, { options: ['M'] }),
        async () =>
          await send('PATCH', `/shops/${id}/products/${product}`, boss!.headers, {
            attributes: [{ attribute_id: attribute, value: 'S' }]
          })
      ]]
    },
    [200, 422],
    [409, 200]
  ],
  [
    'a tag is deleted and a product takes it',
    async ({ id, params: { tag_id: tag, product_id: product } }) => ['/:tag_id', [
      async () => await send('DELETE', `/shops/${id}/tags/${tag}`, boss!.headers),
      async () => await send('PATCH', `/shops/${id}/products/${product}`, boss!.headers, { tag_ids: [tag] })
    ], async (t) => t.strictSame(await knex('product_tags').where({ shop_id: id }), [])],
    [204, 200],
    [204, 422]
  ],
  [
    'a price begins after it ends',
    async (
      { id, params: { price_id: price } }
    ) => [
      '/:price_id',
      [{ valid_from: '2041-01-01T00:00:00Z' }, { valid_to: '2040-01-01T00:00:00Z' }].map((change) => async () =>
        await send('PATCH', `/shops/${id}/prices/${price}`, boss!.headers, change)
      )
    ],
    [200, 422]
  ],
  ...[['product', 'price_amount'], ['price', 'amount']].map(([noun, amount]) =>
    [
      `the currency of a ${noun} changes, and both currency and amount`,
      async ({ id, params: { [`${noun}_id`]: record } }: Furnished) => {
        await knex(`${noun}s`).where({ id: record }).update({ currency: 'EUR', [amount!]: 1999 })
        const change = (fields: object): Call => async () =>
          await send('PATCH', `/shops/${id}/${noun}s/${record}`, boss!.headers, fields)
        return [
          `/:${noun}_id`,
          [change({ currency: 'JPY', [amount!]: 700 }), behind(change({ currency: 'USD' }))],
          // 7.00 USD would be no price that anybody has set.
          async (t: Test) =>
            t.match(await knex(`${noun}s`).where({ id: record }).first(), { currency: 'JPY', [amount!]: 700 })
        ] as const
      },
      [200, 422],
      [200, 200]
    ] as const
  ),
  [
    'two keys of the details of an account',
    async ({ id, params: { account_id: account } }) => [
      '/:account_id',
      ['a', 'b'].map((name) => async () =>
        await send('PATCH', `/shops/${id}/accounts/${account}`, boss!.headers, { details: { [name]: name } })
      ),
      async (t) => t.match(await knex('accounts').where({ id: account }).first(), { details: { a: 'a', b: 'b' } })
    ],
    [200, 200]
  ],
  [
    'two batches take one SKU',
    async ({ id }) => [
      '/:shop_id',
      ['One', 'Two'].map((name) => async () =>
        await send('POST', `/shops/${id}/products/batch`, boss!.headers, { items: [{ name, sku: 'NEW' }] })
      )
    ],
    [200, 409]
  ],
  [
    'two batches change a product',
    async (
      { id, params: { product_id: product } }
    ) => [
      '/:product_id',
      [{ name: 'New' }, { price_amount: 7 }].map((change) => async () =>
        await send('POST', `/shops/${id}/products/batch`, boss!.headers, { items: [{ id: product, ...change }] })
      ),
      async (t) => t.match(await knex('products').where({ id: product }).first(), { name: 'New', price_amount: 7 })
    ],
    [200, 200]
  ],
  ['two records for the last place of the quota', async ({ id }) => {
    const { sum } = await knex('shop_usage').where({ shop_id: id }).sum('records').first() as { sum: string }
    await setQuota(knex, { QUOTA_RECORDS: Number(sum) + 1, QUOTA_BYTES: 2 ** 32 })
    return [
      '/:shop_id',
      ['/tags', '/categories'].map((path) => async () =>
        await send('POST', `/shops/${id}${path}`, boss!.headers, { name: 'New' })
      ),
      async () => await setQuota(knex, { QUOTA_RECORDS: 1_000_000, QUOTA_BYTES: 2 ** 32 })
    ]
  }, [201, 403]],
  ['two files for the last place', async ({ id }) => {
    for (let n = 1; n < MAX_UNFINISHED; n++) {
      await knex('imports').insert({ shop_id: id, actor: { kind: 'machine', id: 'm' } })
    }
    return [
      '/:shop_id',
      [1, 2].map(() => async () =>
        await send('POST', `/shops/${id}/imports`, boss!.headers, { format: 'jsonl', content: '{"name":"New"}' })
      )
    ]
  }, [202, 429]],
  [
    'a key is rotated and revoked',
    async ({ id, params: { key_id: key } }) => ['/:key_id', [
      async () => await send('POST', `/shops/${id}/api-keys/${key}/rotate`, boss!.headers, {}),
      async () => await send('DELETE', `/shops/${id}/api-keys/${key}`, boss!.headers)
    ], async (t) => t.not((await knex('api_keys').where({ id: key }).first()).revoked_at, null)],
    [201, 204],
    [409, 204]
  ],
  ['a change is undone and changed again', async (shop) => ['/:tag_id', [
    async () =>
      await send(
        'POST',
        `/shops/${shop.id}/history/${shop.params['/shops/:shop_id/history/:id/revert']}/revert`,
        boss!.headers,
        {}
      ),
    async () => await send('PATCH', `/shops/${shop.id}/tags/${shop.params['tag_id']}`, boss!.headers, { name: 'Later' })
  ], async (t) => t.match(await knex('tags').where({ id: shop.params['tag_id'] }).first(), { name: 'Later' })], [
    200,
    200
  ], [409, 200]],
  ['a person signs in for the first time, twice', async () => {
    await knex('users').where({ id: staff!.id }).delete()
    return [
      (on) => on('users').where({ id: staff!.id }),
      [1, 2].map(() => async () => await send('GET', '/me', staff!.headers)),
      async (t) => t.equal((await knex('users').where({ name: 'staff' })).length, 1)
    ]
  }, [200, 200]]
]

/** Makes people the owners of a shop. @returns the paths of their memberships */
async function owners ({ id }: Furnished, ...people: readonly Person[]): Promise<readonly string[]> {
  await knex('shop_members').where({ shop_id: id }).delete()
  await knex('shop_members').insert(people.map((person) => ({ shop_id: id, user_id: person.id, role: 'owner' })))
  return people.map((person) => `/shops/${id}/members/${person.id}`)
}

for (const [what, meeting, ...outcomes] of pairs) {
  t.test(`${what} at once`, async (t) => {
    const shop = await furnish()
    const [held, calls, after] = await meeting(shop)
    const statuses = (await meet(typeof held === 'string' ? rowOf(held, shop) : held, calls)).toSorted()
    t.ok(
      outcomes.some((outcome) => JSON.stringify(outcome.toSorted()) === JSON.stringify(statuses)),
      `${statuses.join(' and ')}`
    )
    await after?.(t)
    t.strictSame(await gapsOf(shop.id), [])
  })
}
