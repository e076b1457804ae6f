import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import Stripe from 'stripe'
import { startPayStandIn } from '../src/testing/index.ts'
import { accounts, exchangesWith } from './exchanges.ts'

const keys = { one: 'sk_test_one', two: 'sk_test_two', restricted: 'rk_test_read' }

/** What a request is refused with. */
const errorOf = (request: Promise<unknown>): Promise<unknown> => request.then(() => 'not refused', (error) => error)

t.test("the stand-in, through the provider's own library", async (t) => {
  const lines: string[] = []
  const standIn = await startPayStandIn({
    accounts: {
      [keys.one]: { searchLag: 0, customers: [{ id: 'cus_old', deleted: true }] },
      [keys.two]: {},
      [keys.restricted]: { permissions: ['customers:read'] }
    },
    log: (line) => {
      lines.push(line)
    }
  })
  t.teardown(() => standIn.close())
  const { host, port, protocol, url } = standIn
  const client = (key: string) => new Stripe(key, { host, port, protocol, telemetry: false, maxNetworkRetries: 0 })
  const stripe = client(keys.one)
  t.strictSame(
    lines,
    [`payment stand-in on ${url}: not a payment provider, moves no money, refuses live keys`],
    'it says what it is'
  )

  await t.test('customers', async (t) => {
    const ada = await stripe.customers.create({
      name: 'Ada',
      email: "o'hara@example.org",
      metadata: { account_id: 'a"1' }
    })
    t.match(ada, { id: /^cus_/, object: 'customer', name: 'Ada', livemode: false, metadata: { account_id: 'a"1' } })
    t.match(await stripe.customers.retrieve(ada.id), { id: ada.id, email: "o'hara@example.org" })
    t.match(await stripe.customers.update(ada.id, { name: '', metadata: { tier: 'gold' } }), {
      name: null,
      metadata: { account_id: 'a"1', tier: 'gold' }
    })
    t.match((await stripe.customers.list({ email: "o'hara@example.org" })).data, [{ id: ada.id }])
    t.strictSame((await stripe.customers.list({ email: 'nobody@example.org' })).data, [])
    t.match((await stripe.customers.search({ query: "metadata['account_id']:'a\"1'" })).data, [{ id: ada.id }])
    t.match((await stripe.customers.search({ query: 'email:"o\'hara@example.org"' })).data, [{ id: ada.id }])
    t.match(await errorOf(stripe.customers.search({ query: 'whatever' })), { statusCode: 400 })

    const more: string[] = []
    for (let n = 0; n < 4; n++) more.push((await stripe.customers.create({ name: `${n}` })).id)
    const listed: string[] = []
    for await (const { id } of stripe.customers.list({ limit: 2 })) listed.push(id)
    t.strictSame(listed, [...more.reverse(), ada.id], 'lists page through, the newest first')

    t.match(await stripe.customers.del(ada.id), { id: ada.id, object: 'customer', deleted: true })
    t.strictSame(JSON.parse(JSON.stringify(await stripe.customers.retrieve(ada.id))), {
      id: ada.id,
      object: 'customer',
      deleted: true
    })
    t.match(await errorOf(stripe.customers.update(ada.id, { name: 'x' })), {
      statusCode: 404,
      code: 'resource_missing'
    })
    t.match(await stripe.customers.retrieve('cus_old'), { deleted: true })
    t.match(await errorOf(stripe.customers.retrieve('cus_none')), {
      statusCode: 404,
      code: 'resource_missing',
      message: "No such customer: 'cus_none'"
    })
    t.match(await errorOf(stripe.products.list()), { statusCode: 404 })
  })

  await t.test('an idempotency key gives the first answer again', async (t) => {
    const create = (name: string) => stripe.customers.create({ name }, { idempotencyKey: 'k1' })
    const first = await create('Bob')
    t.equal((await create('Bob')).id, first.id)
    t.match(await errorOf(create('Eve')), { statusCode: 400, type: 'StripeIdempotencyError' })
  })

  await t.test('a checkout', async (t) => {
    const { id: customer } = await stripe.customers.create({})
    const session = await stripe.checkout.sessions.create({
      customer,
      mode: 'payment',
      success_url: 'https://shop.example/done?id={CHECKOUT_SESSION_ID}',
      line_items: [
        { quantity: 2, price_data: { currency: 'eur', unit_amount: 500, product_data: { name: 'A' } } },
        { quantity: 1, price_data: { currency: 'eur', unit_amount: 250, product_data: { name: 'B' } } }
      ]
    })
    t.match(session, {
      id: /^cs_test_/,
      amount_total: 1250,
      currency: 'eur',
      customer,
      status: 'open',
      payment_status: 'unpaid',
      url: `${url}/pay/${session.id}`
    })
    const visit = await fetch(String(session.url), { redirect: 'manual' })
    t.equal(visit.status, 303)
    t.equal(visit.headers.get('location'), `https://shop.example/done?id=${session.id}`)
    t.match(await stripe.checkout.sessions.retrieve(session.id), { status: 'complete', payment_status: 'paid' })
    t.equal((await fetch(`${url}/pay/${session.id}`)).status, 404, 'a session is paid once')
    const other = await stripe.checkout.sessions.create({ mode: 'payment', success_url: 'https://shop.example/' })
    t.match(await stripe.checkout.sessions.expire(other.id), { status: 'expired', url: null })
    t.match(await errorOf(stripe.checkout.sessions.create({ mode: 'payment', customer: 'cus_none' })), {
      statusCode: 400,
      code: 'resource_missing'
    })

    const intent = await stripe.paymentIntents.create({ amount: 999, currency: 'eur', customer })
    t.match(intent, { amount: 999, currency: 'eur', customer, status: 'requires_payment_method' })
    t.match(await stripe.paymentIntents.confirm(intent.id), { status: 'succeeded', amount_received: 999 })
    t.match(await stripe.paymentIntents.retrieve(intent.id), { status: 'succeeded' })
    t.match(await errorOf(stripe.paymentIntents.retrieve('pi_none')), { statusCode: 404 })
  })
})

t.test("every request gets the provider's status, error code and parameter", async (t) => {
  const standIn = await startPayStandIn({ accounts, log: () => {} })
  t.teardown(() => standIn.close())
  const exchanges = await exchangesWith(standIn)
  t.strictSame(
    exchanges.map(({ title, outcome }) => `${title}: ${outcome}`),
    exchanges.map(({ title, expected }) => `${title}: ${expected}`)
  )
})

t.test('what a fault delays is let go once the fault is removed', async (t) => {
  const standIn = await startPayStandIn({
    accounts: { sk_test_slow: { customers: [{ id: 'cus_1' }] } },
    log: () => {}
  })
  t.teardown(() => standIn.close())
  for (const kind of ['slow', 'drip'] as const) {
    const end = standIn.fault({ kind, delay: 600_000, path: 'cus_1' })
    const before = standIn.requested
    const response = fetch(`${standIn.url}/v1/customers/cus_1`, { headers: { authorization: 'Bearer sk_test_slow' } })
    while (standIn.requested === before) await nextTurn()
    end()
    t.match(await (await response).json(), { id: 'cus_1' })
  }
})

t.test("the library's auto-pagination ends on every list", async (t) => {
  const customers = ['cus_1', 'cus_2', 'cus_3', 'cus_4', 'cus_5']
  const standIn = await startPayStandIn({
    accounts: {
      [keys.one]: {
        customers: [...customers].reverse().map((id) => ({
          id,
          created: Number(id.slice(4)),
          metadata: { all: 'yes' }
        }))
      }
    },
    log: () => {}
  })
  t.teardown(() => standIn.close())
  const { host, port, protocol } = standIn
  const stripe = new Stripe(keys.one, { host, port, protocol, telemetry: false, maxNetworkRetries: 0 })
  const success = { mode: 'payment', success_url: 'https://shop.example/' } as const
  const intents: string[] = []
  const sessions: string[] = []
  for (const customer of customers) {
    intents.push(
      (await stripe.paymentIntents.create({ amount: 100, currency: 'eur', customer, metadata: { all: 'yes' } })).id
    )
    sessions.push((await stripe.checkout.sessions.create({ ...success, customer })).id)
  }
  const { id: session, line_items: lines } = await stripe.checkout.sessions.create({
    ...success,
    expand: ['line_items'],
    line_items: customers.map((name) => ({
      quantity: 1,
      price_data: { currency: 'eur', unit_amount: 500, product_data: { name } }
    }))
  })
  t.strictSame(lines?.data.map(({ description }) => description), customers)
  const items = lines?.data.map(({ id }) => id).reverse() ?? []
  sessions.push(session)

  // One that does not end would go on for ever.
  const idsOf = (list: Stripe.ApiListPromise<{ id: string }> | Stripe.ApiSearchResultPromise<{ id: string }>) =>
    list.autoPagingToArray({ limit: 20 }).then((found) => found.map(({ id }) => id))
  const lists: Array<
    [
      title: string,
      oldestFirst: string[],
      list: (params: Stripe.PaginationParams) => Stripe.ApiListPromise<{ id: string }>
    ]
  > = [
    ['customers', customers, (params) => stripe.customers.list(params)],
    [
      'customers created in a time',
      customers.slice(1),
      (params) => stripe.customers.list({ ...params, created: { gt: 1 } })
    ],
    ['payment intents', intents, (params) => stripe.paymentIntents.list(params)],
    ['checkout sessions', sessions, (params) => stripe.checkout.sessions.list(params)],
    ['line items', items, (params) => stripe.checkout.sessions.listLineItems(session, params)]
  ]
  for (const [title, oldestFirst, list] of lists) {
    const newestFirst = [...oldestFirst].reverse()
    for (const limit of [1, 2, newestFirst.length, 100]) {
      t.strictSame(await idsOf(list({ limit })), newestFirst, `${title}, ${limit} a page`)
    }
    t.strictSame(
      await idsOf(list({ limit: 2, ending_before: newestFirst.at(-1)! })),
      oldestFirst.slice(1),
      `${title}, backwards from the oldest`
    )
    t.strictSame(
      await idsOf(list({ limit: 2, starting_after: newestFirst[0]! })),
      newestFirst.slice(1),
      `${title}, after the newest`
    )
  }
  for (const limit of [1, 2, 5, 100]) {
    const query = { query: "metadata['all']:'yes'", limit }
    t.strictSame(await idsOf(stripe.customers.search(query)), customers, `a search for customers, ${limit} a page`)
    t.strictSame(
      await idsOf(stripe.paymentIntents.search(query)),
      intents,
      `a search for payment intents, ${limit} a page`
    )
  }
  t.strictSame((await stripe.paymentIntents.search({ query: 'amount:100', limit: 1 })).data.map(({ id }) => id), [
    intents[0]
  ])

  for await (const { id } of stripe.customers.list({ limit: 2 })) await stripe.customers.del(id)
  t.strictSame((await stripe.customers.list()).data, [], 'a list whose objects are deleted meanwhile ends, too')
})

t.test('what a search shows, a key reaches and a second allows', async (t) => {
  const standIn = await startPayStandIn({
    accounts: {
      [keys.one]: {
        searchLag: 60_000,
        customers: [{ id: 'cus_1', name: 'Ada' }],
        connected: { acct_1: { customers: [{ id: 'cus_2' }] } }
      },
      [keys.two]: { requestsPerSecond: 2 }
    },
    log: () => {}
  })
  t.teardown(() => standIn.close())
  const { host, port, protocol } = standIn
  const client = (key: string) => new Stripe(key, { host, port, protocol, telemetry: false, maxNetworkRetries: 0 })
  const stripe = client(keys.one)

  await t.test('a search lags behind creations, changes and deletions', async (t) => {
    const found = async (name: string) =>
      (await stripe.customers.search({ query: `name:'${name}'` })).data.map(({ id }) => id)
    await stripe.customers.create({ name: 'Bob' })
    t.strictSame(await found('Bob'), [])
    await stripe.customers.update('cus_1', { name: 'Eve' })
    t.strictSame(await found('Eve'), [])
    t.strictSame(await found('Ada'), ['cus_1'])
    await stripe.customers.del('cus_1')
    t.strictSame(await found('Ada'), ['cus_1'])
    t.strictSame((await stripe.customers.list()).data.map(({ name }) => name), ['Bob'], 'a list does not')
  })

  await t.test('more requests a second than an account allows are 429', async (t) => {
    const limited = client(keys.two)
    await limited.customers.create({})
    await limited.customers.list()
    t.match(await errorOf(limited.customers.create({}, { idempotencyKey: 'k1' })), {
      type: 'StripeRateLimitError',
      statusCode: 429,
      code: 'rate_limit',
      headers: { 'stripe-rate-limited-reason': 'global-rate' }
    })
    t.match(await stripe.customers.list(), { object: 'list' }, 'other keys go on')
    const { recent } = standIn.account(keys.two)
    recent.splice(0, 2, ...recent.map((at) => at - 1000))
    t.match(
      await limited.customers.create({}, { idempotencyKey: 'k1' }),
      { object: 'customer' },
      'a second later it goes on'
    )
  })
})
