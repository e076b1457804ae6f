import t from 'tap'
import { bearer, build, client, createShop, INSTANT, openIdentityProvider, openTestDatabase, UUID } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp)
const token = bearer(await idp.machineToken())
const here = await createShop(database, 'here')
const shop = client(app, `/shops/${here}`, token)
const other = client(app, `/shops/${await createShop(database, 'elsewhere')}`, token)
const NOBODY = '00000000-0000-4000-8000-000000000000'

const invalid = (field: string, message: string) => ({
  statusCode: 422,
  code: 'SHOP_INVALID',
  error: 'Unprocessable Entity',
  message,
  field
})
const conflict = (field: string, message: string) => ({
  statusCode: 409,
  code: 'SHOP_CONFLICT',
  error: 'Conflict',
  message,
  field
})
const account = async (body: object = { name: 'Ada' }): Promise<string> =>
  (await shop('POST', '/accounts', body)).body.id

t.test('an account from its creation to its end', async (t) => {
  const made = await shop('POST', '/accounts', {
    name: 'Ada',
    hash_name: 'a1',
    details: { email: 'ada@example.com', vip: true, gone: null }
  })
  t.equal(made.status, 201)
  t.match(made.body, { id: UUID, created_at: INSTANT, updated_at: INSTANT })
  const { id, created_at: created } = made.body
  t.strictSame({ ...made.body, updated_at: created }, {
    id,
    shop_id: here,
    name: 'Ada',
    hash_name: 'a1',
    details: { email: 'ada@example.com', vip: true },
    created_at: created,
    updated_at: created
  })
  t.equal(made.headers.location, `/shops/${here}/accounts/${id}`)
  t.strictSame((await shop('GET', `/accounts/${id}`)).body, made.body)

  const changed = await shop('PATCH', `/accounts/${id}`, { hash_name: null, details: { vip: null, since: 2026 } })
  t.strictSame([changed.status, changed.body], [200, {
    ...made.body,
    hash_name: null,
    details: { email: 'ada@example.com', since: 2026 },
    updated_at: changed.body.updated_at
  }])
  t.equal((await shop('DELETE', `/accounts/${id}`)).status, 204)
  t.equal((await shop('GET', `/accounts/${id}`)).status, 404)
})

t.test('lists are searched, and find accounts without a customer', async (t) => {
  for (const name of ['Berta', 'Anton', 'Carla']) await account({ name })
  await knex('accounts').where({ name: 'Anton' }).update({ details: { pay_customer_id: 'cus_1' } })
  for (
    const [query, found] of [
      ['filter={"q":"ER"}', ['Berta']],
      ['filter={"missing_pay":true}', ['Berta', 'Carla']],
      ['filter={"missing_pay":false}', ['Anton']]
    ] as const
  ) t.strictSame((await shop('GET', `/accounts?${query}`)).body.map(({ name }: { name: string }) => name), found, query)
})

t.test('the payment keys in details are not for these routes to write, and survive them', async (t) => {
  const id = await account()
  const pay = {
    pay_customer_id: 'cus_1',
    pay_customer: { id: 'cus_1', deleted: true },
    pay_customer_before_deletion: { id: 'cus_1' },
    pay_synced_at: '2026-01-01T00:00:00.000Z'
  }
  await knex('accounts').where({ id }).update({ details: { ...pay, note: 'a' } })
  for (const key of Object.keys(pay)) {
    for (const value of ['cus_2', null]) {
      const refusal = [422, invalid(`details/${key}`, `details/${key} is written by the payment routes only`)]
      const changed = await shop('PATCH', `/accounts/${id}`, { details: { [key]: value } })
      t.strictSame([changed.status, changed.body], refusal)
      const made = await shop('POST', '/accounts', { name: 'x', details: { [key]: value } })
      t.strictSame([made.status, made.body], refusal)
    }
  }
  t.strictSame((await shop('PATCH', `/accounts/${id}`, { details: { note: null, b: 1 } })).body.details, {
    ...pay,
    b: 1
  })
})

t.test('details have an end, however small the steps that they grow in', async (t) => {
  const refusal = [422, invalid('details', 'details must not be larger than 64 KiB')]
  const said = ({ status, body }: { status: number, body: unknown }): unknown[] => [status, body]
  t.strictSame(said(await shop('POST', '/accounts', { name: 'Ada', details: { text: 'x'.repeat(65_536) } })), refusal)
  const id = await account({ name: 'Ada', details: { text: 'x'.repeat(60_000) } })
  t.strictSame(said(await shop('PATCH', `/accounts/${id}`, { details: { more: 'x'.repeat(6000) } })), refusal)
  await knex('accounts').where({ id }).update({
    details: knex.raw('details || ?', [JSON.stringify({ pay_customer: { name: 'x'.repeat(60_000) } })])
  })
  t.equal(
    (await shop('PATCH', `/accounts/${id}`, { details: { more: 'x'.repeat(5000) } })).status,
    200,
    'what the payment provider says of it does not count'
  )
})

const product = async (body: object): Promise<string> =>
  (await shop('POST', '/products', { status: 'active', price_amount: 1999, ...body })).body.id
const place = async (lines: readonly object[], owner?: string) =>
  await shop('POST', '/orders', { account_id: owner ?? await account(), lines })

t.test('an order keeps what its products were, and outlives its account', async (t) => {
  const [kettle, cup] = [
    await product({ name: 'Kettle', sku: 'K-1' }),
    await product({ name: 'Cup', price_amount: 500 })
  ]
  const owner = await account()
  const { status, body: order, headers } = await place(
    [{ product_id: kettle, quantity: 2 }, { product_id: cup }],
    owner
  )
  const expected = {
    id: order.id,
    shop_id: here,
    account_id: owner,
    status: 'pending',
    currency: 'EUR',
    total_amount: 4498,
    lines: [
      { product_id: kettle, name: 'Kettle', sku: 'K-1', unit_amount: 1999, quantity: 2 },
      { product_id: cup, name: 'Cup', sku: null, unit_amount: 500, quantity: 1 }
    ],
    created_at: order.created_at,
    updated_at: order.updated_at
  }
  t.strictSame([status, order], [201, expected])
  t.equal(headers.location, `/shops/${here}/orders/${order.id}`)

  await shop('PATCH', `/products/${cup}`, { name: 'Mug', price_amount: 900 })
  await shop('DELETE', `/products/${kettle}`)
  await shop('DELETE', `/accounts/${owner}`)
  const [first, second] = expected.lines
  const { body: now } = await shop('GET', `/orders/${order.id}`)
  const left = {
    ...expected,
    account_id: null,
    lines: [{ ...first, product_id: null }, second],
    updated_at: now.updated_at
  }
  t.strictSame(now, left)
  const list = await shop('GET', '/orders')
  t.strictSame([list.status, list.headers['content-range'], list.body], [200, 'orders 0-25/1', [left]])
})

t.test('only what is for sale in this shop, to an account of this shop, can be ordered', async (t) => {
  const cup = await product({ name: 'Good cup' })
  const foreign = (await other('POST', '/products', { name: 'Foreign', status: 'active', price_amount: 1 })).body.id
  for (
    const [what, id] of [
      ['of another shop', foreign],
      ['unknown', NOBODY],
      ['a draft', await product({ name: 'Draft cup', status: 'draft' })],
      ['without a price', await product({ name: 'Priceless cup', price_amount: null })],
      ['in another currency', await product({ name: 'Dollar cup', currency: 'USD' })]
    ] as const
  ) {
    const { status, body } = await place([{ product_id: cup }, { product_id: id }])
    t.strictSame([status, body], [
      422,
      invalid('lines/1/product_id', 'lines/1/product_id is not an active product of this shop with a price in EUR')
    ], what)
  }
  const stranger = (await other('POST', '/accounts', { name: 'Stranger' })).body.id
  for (const owner of [stranger, NOBODY]) {
    const { status, body } = await place([{ product_id: cup }], owner)
    t.strictSame([status, body], [422, invalid('account_id', 'account_id names something that is not in this shop')])
  }
  const dear = await product({ name: 'Dear cup', price_amount: Number.MAX_SAFE_INTEGER })
  const tooMuch = await place([{ product_id: dear, quantity: 2 }])
  t.strictSame([tooMuch.status, tooMuch.body], [422, invalid('lines', 'the total of lines is too large')])
  t.equal((await place([])).status, 422)
  t.equal((await place([{ product_id: cup, quantity: 0 }])).status, 422)
  t.equal((await shop('GET', '/orders')).headers['content-range'], 'orders 0-25/1', 'none of these was placed')
})

t.test('an order moves on, and never back', async (t) => {
  const cup = await product({ name: 'Another cup' })
  const order = async (): Promise<string> => (await place([{ product_id: cup }])).body.id
  const steps = ['pending', 'paid', 'fulfilled', 'cancelled']
  const ways: Record<string, readonly string[]> = {
    pending: [],
    paid: ['paid'],
    fulfilled: ['paid', 'fulfilled'],
    cancelled: ['cancelled']
  }
  const allowed = [
    'pending paid',
    'pending cancelled',
    'paid fulfilled',
    'paid cancelled',
    ...steps.map((step) => `${step} ${step}`)
  ]
  for (const before of steps) {
    for (const after of steps) {
      const id = await order()
      for (const status of ways[before]!) await shop('PATCH', `/orders/${id}`, { status })
      const { status, body } = await shop('PATCH', `/orders/${id}`, { status: after })
      if (allowed.includes(`${before} ${after}`)) {
        t.match([status, body], [200, { id, status: after }], `${before} to ${after}`)
      } else {
        t.strictSame([status, body], [
          409,
          conflict('status', `An order that is ${before} cannot become ${after}`)
        ])
      }
    }
  }
  t.strictSame(
    (await shop('GET', '/orders?filter={"status":["fulfilled"]}&sort=-created_at')).headers['content-range'],
    'orders 0-25/5'
  )
})

t.test('what reconciliation runs keep of an account ends with it', async (t) => {
  const [gone, stays] = [await account(), await account()]
  await knex('pay_reconcile_runs').insert({
    registration: 'accounts',
    id: NOBODY,
    mode: 'check',
    dry_run: true,
    actor: 'ada',
    finished_at: knex.fn.now()
  })
  for (const accountId of [gone, stays]) {
    await knex('pay_reconcile_items').insert({
      run_id: NOBODY,
      account_id: accountId,
      shop_id: here,
      outcome: 'different',
      item: JSON.stringify({ accountName: 'Ada' })
    })
    await knex('pay_reconcile_snapshots').insert({
      registration: 'accounts',
      audit_id: accountId,
      account_id: accountId,
      shop_id: here,
      customer: JSON.stringify({ name: 'Ada' })
    })
  }
  t.equal((await shop('DELETE', `/accounts/${gone.toUpperCase()}`)).status, 204)
  for (const table of ['pay_reconcile_items', 'pay_reconcile_snapshots']) {
    t.strictSame(await knex(table).pluck('account_id'), [stays], table)
  }
})
