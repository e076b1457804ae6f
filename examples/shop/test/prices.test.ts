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
const [PAST, LATER_PAST, FUTURE, FAR_FUTURE] = [
  '2001-01-01T00:00:00.000Z',
  '2002-01-01T00:00:00.000Z',
  '2101-01-01T00:00:00.000Z',
  '2102-01-01T00:00:00.000Z'
]

const account = (await shop('POST', '/accounts', { name: 'Ann' })).body.id
const product = async (name: string, body: object = {}): Promise<string> =>
  (await shop('POST', '/products', { name, status: 'active', price_amount: 1000, ...body })).body.id
const price = async (body: object) => await shop('POST', '/prices', body)

/** @returns what one costs in an order of so many, or the message why there is none */
async function unitAmount (productId: string, quantity = 1, body: object = {}): Promise<number | string> {
  const { body: order } = await shop('POST', '/orders', {
    account_id: account,
    lines: [{ product_id: productId, quantity }],
    ...body
  })
  return order.lines?.[0].unit_amount ?? order.message
}

t.test('a price from its creation to its end', async (t) => {
  const id = await product('Kettle')
  const made = await price({ product_id: id, amount: 900 })
  const { id: priceId, created_at: created } = made.body
  t.match(made.body, { id: UUID, created_at: INSTANT })
  const expected = {
    id: priceId,
    shop_id: here,
    product_id: id,
    amount: 900,
    currency: 'EUR',
    min_quantity: 1,
    valid_from: null,
    valid_to: null,
    created_at: created,
    updated_at: created
  }
  t.strictSame([made.status, made.headers.location, made.body], [201, `/shops/${here}/prices/${priceId}`, expected])
  t.strictSame((await shop('GET', `/prices/${priceId}`)).body, expected)

  const changes = {
    amount: 800,
    currency: 'USD',
    min_quantity: 3,
    valid_from: '2026-03-01T00:00:00+23:59',
    valid_to: FUTURE
  }
  const changed = await shop('PATCH', `/prices/${priceId}`, changes)
  t.strictSame([changed.status, changed.body], [200, {
    ...expected,
    ...changes,
    valid_from: '2026-02-28T00:01:00.000Z',
    updated_at: changed.body.updated_at
  }])
  t.equal((await shop('DELETE', `/prices/${priceId}`)).status, 204)
  t.strictSame((await shop('GET', `/prices/${priceId}`)).body, {
    statusCode: 404,
    code: 'SHOP_NOT_FOUND',
    error: 'Not Found',
    message: `No price ${priceId}`
  })
  t.equal((await shop('DELETE', `/prices/${priceId}`)).status, 404)
})

t.test("orders take the price that is in force for their quantity, else the product's own", async (t) => {
  const id = await product('Cup')
  t.equal(await unitAmount(id), 1000)
  await price({ product_id: id, amount: 950 })
  await price({ product_id: id, amount: 900, min_quantity: 10 })
  await price({ product_id: id, amount: 850, min_quantity: 100, valid_from: FUTURE })
  await price({ product_id: id, amount: 1, valid_to: PAST, valid_from: '2000-01-01T00:00:00Z' })
  t.strictSame([await unitAmount(id), await unitAmount(id, 9), await unitAmount(id, 10), await unitAmount(id, 100)], [
    950,
    950,
    900,
    900
  ])

  const usual = await price({ product_id: id, amount: 940, valid_from: PAST })
  t.equal(await unitAmount(id), 940, 'of two in force, the one that started last')
  const sale = await price({ product_id: id, amount: 700, valid_from: LATER_PAST, valid_to: FUTURE })
  t.equal(await unitAmount(id), 700, 'a sale goes before the usual price')
  await shop('PATCH', `/prices/${sale.body.id}`, { valid_to: '2003-01-01T00:00:00Z' })
  t.equal(await unitAmount(id), 940, 'and leaves it in force when it is over')
  await shop('DELETE', `/prices/${usual.body.id}`)
  t.equal(await unitAmount(id), 950)
})

t.test('an order can be in any currency that its products have a price in', async (t) => {
  const [both, one] = [await product('Both'), await product('One')]
  await price({ product_id: both, amount: 1100, currency: 'USD' })
  const lines = [{ product_id: both }, { product_id: one }]
  t.equal(await unitAmount(both, 2, { currency: 'USD' }), 1100)
  t.match(
    (await shop('POST', '/orders', {
      account_id: account,
      currency: 'USD',
      lines: [{ product_id: both, quantity: 2 }]
    })).body,
    { currency: 'USD', total_amount: 2200 }
  )
  t.equal(
    await unitAmount(both, 1, { currency: 'USD', lines }),
    'lines/1/product_id is not an active product of this shop with a price in USD'
  )
  const priceless = await product('Priceless', { price_amount: null })
  t.equal(await unitAmount(priceless), 'lines/0/product_id is not an active product of this shop with a price in EUR')
  await price({ product_id: priceless, amount: 5 })
  t.equal(await unitAmount(priceless), 5, 'a price of its own is not needed')
})

t.test('an order keeps what it cost', async (t) => {
  const id = await product('Changing')
  const { body } = await price({ product_id: id, amount: 10 })
  const { body: order } = await shop('POST', '/orders', { account_id: account, lines: [{ product_id: id }] })
  await shop('PATCH', `/prices/${body.id}`, { amount: 20 })
  t.strictSame((await shop('GET', `/orders/${order.id}`)).body, order)
  t.equal(await unitAmount(id), 20)
})

t.test('two prices of a product for one quantity and currency do not start together, however they meet', async (t) => {
  const id = await product('Contested')
  for (const from of [null, PAST]) {
    const answers = await Promise.all(
      Array.from({ length: 6 }, async (_, amount) => await price({ product_id: id, amount, valid_from: from }))
    )
    t.strictSame(answers.map(({ status }) => status).toSorted(), [201, 409, 409, 409, 409, 409])
    t.strictSame(answers.find(({ status }) => status === 409)?.body, {
      statusCode: 409,
      code: 'SHOP_CONFLICT',
      error: 'Conflict',
      message:
        'valid_from is taken: the product already has a price in this currency and for this quantity from that time on',
      field: 'valid_from'
    })
  }
  const apart = await price({ product_id: id, amount: 1, valid_from: FUTURE })
  t.equal((await shop('PATCH', `/prices/${apart.body.id}`, { valid_from: PAST })).status, 409)
  t.equal((await price({ product_id: id, amount: 1, min_quantity: 2 })).status, 201)
  t.equal((await price({ product_id: id, amount: 1, currency: 'USD' })).status, 201)
  t.equal((await price({ product_id: await product('Another'), amount: 1 })).status, 201)
})

t.test('what cannot be a price is refused by name', async (t) => {
  const id = await product('Refused')
  const foreign = (await other('POST', '/products', { name: 'Foreign' })).body.id
  const { body: known } = await price({ product_id: id, amount: 1, valid_from: PAST, valid_to: FUTURE })
  for (
    const [body, field, message] of [
      [{ amount: 1 }, 'product_id', 'product_id is required'],
      [{ product_id: foreign, amount: 1 }, 'product_id', 'product_id names something that is not in this shop'],
      [{ product_id: NOBODY, amount: 1 }, 'product_id', 'product_id names something that is not in this shop'],
      [{ product_id: id }, 'amount', 'amount is required'],
      [{ product_id: id, amount: 9.5 }, 'amount', 'amount must be a whole number, not 9.5'],
      [{ product_id: id, amount: -1 }, 'amount', undefined],
      [{ product_id: id, amount: 2 ** 53 }, 'amount', undefined],
      [{ product_id: id, amount: 1, currency: 'euro' }, 'currency', undefined],
      [{ product_id: id, amount: 1, min_quantity: 0 }, 'min_quantity', undefined],
      [
        { product_id: id, amount: 1, valid_from: FUTURE, valid_to: FUTURE },
        'valid_to',
        'valid_to must be after valid_from'
      ],
      [
        { product_id: id, amount: 1, valid_from: FAR_FUTURE, valid_to: FUTURE },
        'valid_to',
        'valid_to must be after valid_from'
      ],
      ...[
        'yesterday',
        '2026-02-30T00:00:00Z',
        '0000-01-01T00:00:00Z',
        '9999-12-31T23:59:59-23:59',
        '2026-12-31T23:59:60Z',
        '2026-01-01 00:00:00Z'
      ]
        .map((instant) => [{ product_id: id, amount: 1, valid_from: instant }, 'valid_from', undefined] as const)
    ] as const
  ) {
    const { status, body: answer } = await price(body)
    t.match([status, answer], [422, { code: 'SHOP_INVALID', field, ...(message && { message }) }], JSON.stringify(body))
  }
  t.match(await shop('PATCH', `/prices/${known.id}`, { valid_to: '2000-01-01T00:00:00Z' }), {
    status: 422,
    body: { field: 'valid_to' }
  })
  t.match(await shop('PATCH', `/prices/${known.id}`, { product_id: id }), {
    status: 422,
    body: { field: 'product_id' }
  }, 'a price stays with its product')
  t.strictSame((await shop('GET', `/prices/${known.id}`)).body, known)
})

t.test('a currency of other decimals comes with the amount, which would be another price', async (t) => {
  const { body: { id } } = await shop('POST', '/products', { name: 'Abroad', price_amount: 1999 })
  const { body: tier } = await price({ product_id: id, amount: 1999 })
  const message = 'price_amount is required with this currency: JPY has other decimals than EUR'
  for (
    const [method, path, body, field, said] of [
      ['PATCH', `/products/${id}`, { currency: 'JPY' }, 'price_amount', message],
      ['PATCH', `/products/${id}`, { currency: 'JPY', tag_ids: [] }, 'price_amount', message],
      ['POST', '/products/batch', { items: [{ id, currency: 'JPY' }] }, 'items/0/price_amount', undefined],
      [
        'PATCH',
        `/prices/${tier.id}`,
        { currency: 'KWD' },
        'amount',
        'amount is required with this currency: KWD has other decimals than EUR'
      ]
    ] as const
  ) {
    t.match(await shop(method, path, body), {
      status: 422,
      body: { field, ...said !== undefined && { message: said } }
    }, `${method} ${path}`)
  }
  t.match((await shop('GET', `/products/${id}`)).body, { currency: 'EUR', price_amount: 1999 })
  t.match(
    (await shop('PATCH', `/products/${id}`, { currency: 'USD' })).body,
    { currency: 'USD', price_amount: 1999 },
    'of as many decimals'
  )
  t.match((await shop('PATCH', `/products/${id}`, { currency: 'JPY', price_amount: 3000 })).body, {
    currency: 'JPY',
    price_amount: 3000
  })
  for (const [amount, currency] of [[null, 'KWD'], [0, 'EUR']]) {
    await shop('PATCH', `/products/${id}`, { price_amount: amount })
    t.equal((await shop('PATCH', `/products/${id}`, { currency })).status, 200, `${amount} is the same in ${currency}`)
  }
  t.match((await shop('PATCH', `/prices/${tier.id}`, { currency: 'KWD', amount: 4250 })).body, {
    currency: 'KWD',
    amount: 4250
  })
})

t.test('prices are filtered, sorted and paged, and go with their product', async (t) => {
  await knex('prices').delete()
  const [a, b] = [await product('List A'), await product('List B')]
  for (
    const body of [
      { product_id: a, amount: 3 },
      { product_id: a, amount: 1, currency: 'USD', valid_from: FUTURE },
      { product_id: b, amount: 2, valid_from: PAST, valid_to: LATER_PAST }
    ]
  ) await price(body)
  for (
    const [query, amounts, range] of [
      ['sort=amount', [1, 2, 3], 'prices 0-25/3'],
      ['sort=-amount&limit=2', [3, 2], 'prices 0-2/3'],
      [`filter={"product_id":"${a}"}&sort=amount`, [1, 3], 'prices 0-25/2'],
      ['filter={"currency":["USD","GBP"]}', [1], 'prices 0-25/1'],
      ['filter={"in_force_at":"2001-06-01T00:00:00Z"}&sort=amount', [2, 3], 'prices 0-25/2'],
      [`filter={"in_force_at":"${PAST}"}&sort=amount`, [2, 3], 'prices 0-25/2'],
      [`filter={"in_force_at":"${LATER_PAST}"}&sort=amount`, [3], 'prices 0-25/1'],
      ['skip=5', [], 'prices 5-30/3']
    ] as const
  ) {
    const { body, headers } = await shop('GET', `/prices?${query}`)
    t.strictSame(
      [body.map(({ amount }: { amount: number }) => amount), headers['content-range']],
      [amounts, range],
      query
    )
  }
  // The hour that Europe/Lisbon has twice, and the one that it does not have.
  for (
    const [from, to] of [
      ['2026-10-25T01:30:00+01:00', '2026-10-25T01:30:00+00:00'],
      ['2026-03-29T00:30:00+00:00', '2026-03-29T02:30:00+01:00']
    ] as const
  ) {
    const { body: { id } } = await price({ product_id: b, amount: 9, currency: 'GBP', valid_from: from, valid_to: to })
    const inForce = async (at: number): Promise<boolean> =>
      (await shop(
        'GET',
        `/prices?filter=${
          encodeURIComponent(JSON.stringify({ currency: 'GBP', in_force_at: new Date(at).toISOString() }))
        }`
      )).body.length === 1
    const [start, end] = [Date.parse(from), Date.parse(to)]
    t.strictSame(
      [end - start, await inForce(start - 1), await inForce(start), await inForce(end - 1), await inForce(end)],
      [3_600_000, false, true, true, false],
      from
    )
    await shop('DELETE', `/prices/${id as string}`)
  }
  t.match(await shop('GET', '/prices?filter={"in_force_at":"2001"}'), {
    status: 422,
    body: { field: 'filter/in_force_at' }
  })
  await shop('DELETE', `/products/${a}`)
  t.equal((await shop('GET', '/prices')).headers['content-range'], 'prices 0-25/1')
})
