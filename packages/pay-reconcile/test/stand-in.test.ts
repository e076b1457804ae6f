import t from 'tap'
import Stripe from 'stripe'
import { startPayStandIn } from '../src/testing/index.ts'

const keys = { one: 'sk_test_one', two: 'sk_test_two', restricted: 'rk_test_read' }

/** What a request is refused with. */
const errorOf = (request: Promise<unknown>): Promise<unknown> => request.then(() => 'not refused', error => error)

t.test('the stand-in, through the provider\'s own library', async t => {
  const lines: string[] = []
  const standIn = await startPayStandIn({
    accounts: { [keys.one]: { customers: [{ id: 'cus_old', deleted: true }] }, [keys.two]: {}, [keys.restricted]: { permissions: ['customers:read'] } },
    log: line => { lines.push(line) }
  })
  t.teardown(() => standIn.close())
  const { host, port, protocol, url } = standIn
  const client = (key: string) => new Stripe(key, { host, port, protocol, telemetry: false, maxNetworkRetries: 0 })
  const stripe = client(keys.one)
  t.strictSame(lines, [`payment stand-in on ${url}: not a payment provider, moves no money, refuses live keys`], 'it says what it is')

  await t.test('customers', async t => {
    const ada = await stripe.customers.create({ name: 'Ada', email: "o'hara@example.org", metadata: { account_id: 'a"1' } })
    t.match(ada, { id: /^cus_/, object: 'customer', name: 'Ada', livemode: false, metadata: { account_id: 'a"1' } })
    t.match(await stripe.customers.retrieve(ada.id), { id: ada.id, email: "o'hara@example.org" })
    t.match(await stripe.customers.update(ada.id, { name: '', metadata: { tier: 'gold' } }), { name: null, metadata: { account_id: 'a"1', tier: 'gold' } })
    t.match((await stripe.customers.list({ email: "o'hara@example.org" })).data, [{ id: ada.id }])
    t.strictSame((await stripe.customers.list({ email: 'nobody@example.org' })).data, [])
    t.match((await stripe.customers.search({ query: 'metadata[\'account_id\']:\'a"1\'' })).data, [{ id: ada.id }])
    t.match((await stripe.customers.search({ query: 'email:"o\'hara@example.org"' })).data, [{ id: ada.id }])
    t.match(await errorOf(stripe.customers.search({ query: 'whatever' })), { statusCode: 400 })

    const more: string[] = []
    for (let n = 0; n < 4; n++) more.push((await stripe.customers.create({ name: `${n}` })).id)
    const listed: string[] = []
    for await (const { id } of stripe.customers.list({ limit: 2 })) listed.push(id)
    t.strictSame(listed, [...more.reverse(), ada.id], 'lists page through, the newest first')

    t.match(await stripe.customers.del(ada.id), { id: ada.id, object: 'customer', deleted: true })
    t.strictSame(JSON.parse(JSON.stringify(await stripe.customers.retrieve(ada.id))), { id: ada.id, object: 'customer', deleted: true })
    t.match(await errorOf(stripe.customers.update(ada.id, { name: 'x' })), { statusCode: 404, code: 'resource_missing' })
    t.match(await stripe.customers.retrieve('cus_old'), { deleted: true })
    t.match(await errorOf(stripe.customers.retrieve('cus_none')), { statusCode: 404, code: 'resource_missing', message: "No such customer: 'cus_none'" })
    t.match(await errorOf(stripe.products.list()), { statusCode: 404 })
  })

  await t.test('an idempotency key gives the first answer again', async t => {
    const create = (name: string) => stripe.customers.create({ name }, { idempotencyKey: 'k1' })
    const first = await create('Bob')
    t.equal((await create('Bob')).id, first.id)
    t.match(await errorOf(create('Eve')), { statusCode: 400, type: 'StripeIdempotencyError' })
  })

  await t.test('so does one under which the provider failed, whatever it would answer now', async t => {
    const create = (idempotencyKey: string) => stripe.customers.create({ name: 'Cid' }, { idempotencyKey })
    const replayed = { statusCode: 500, headers: { 'idempotent-replayed': 'true' } }
    const end = standIn.fault({ kind: 'answer', times: 2 })
    const first = await errorOf(create('k2'))
    t.match(first, { statusCode: 500 })
    t.notMatch(first, replayed)
    t.match(await errorOf(create('k2')), replayed, 'a replay is no further fault')
    t.match(await errorOf(create('k3')), { statusCode: 500 })
    end()
    t.match(await errorOf(create('k2')), replayed)
    t.match(await create('k4'), { name: 'Cid' })
    standIn.fault({ kind: 'answer', status: 429, times: 1 })
    t.match(await errorOf(create('k5')), { statusCode: 429 })
    t.match(await create('k5'), { name: 'Cid' }, 'what is refused before it is executed is not stored')
  })

  await t.test('each key has its own account', async t => {
    const { id } = await stripe.customers.create({})
    t.match(await errorOf(client(keys.two).customers.retrieve(id)), { statusCode: 404 })
    t.match(await errorOf(client('sk_test_unknown').customers.retrieve(id)), { statusCode: 401 })
    standIn.addAccount('sk_live_real')
    t.match(await errorOf(client('sk_live_real').customers.list()), { statusCode: 401, message: 'The stand-in refuses live keys.' })
    t.strictSame((await client(keys.restricted).customers.list()).data, [])
    t.match(await errorOf(client(keys.restricted).customers.create({})), { statusCode: 403 })
    t.match(await errorOf(client(keys.restricted).paymentIntents.create({ amount: 1, currency: 'eur' })), { statusCode: 403 })
  })

  await t.test('a checkout', async t => {
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
    t.match(session, { id: /^cs_test_/, amount_total: 1250, currency: 'eur', customer, status: 'open', payment_status: 'unpaid', url: `${url}/pay/${session.id}` })
    const visit = await fetch(String(session.url), { redirect: 'manual' })
    t.equal(visit.status, 303)
    t.equal(visit.headers.get('location'), `https://shop.example/done?id=${session.id}`)
    t.match(await stripe.checkout.sessions.retrieve(session.id), { status: 'complete', payment_status: 'paid' })
    t.equal((await fetch(`${url}/pay/${session.id}`)).status, 404, 'a session is paid once')
    const other = await stripe.checkout.sessions.create({ mode: 'payment', success_url: 'https://shop.example/' })
    t.match(await stripe.checkout.sessions.expire(other.id), { status: 'expired', url: null })
    t.match(await errorOf(stripe.checkout.sessions.create({ mode: 'payment', customer: 'cus_none' })), { statusCode: 400, code: 'resource_missing' })

    const intent = await stripe.paymentIntents.create({ amount: 999, currency: 'eur', customer })
    t.match(intent, { amount: 999, currency: 'eur', customer, status: 'requires_payment_method' })
    t.match(await stripe.paymentIntents.confirm(intent.id), { status: 'succeeded', amount_received: 999 })
    t.match(await stripe.paymentIntents.retrieve(intent.id), { status: 'succeeded' })
    t.match(await errorOf(stripe.paymentIntents.retrieve('pi_none')), { statusCode: 404 })
  })

  await t.test('a port that is taken is an error', async t => {
    await t.rejects(startPayStandIn({ accounts: {}, port, log: () => {} }), { code: 'EADDRINUSE' })
  })
})
