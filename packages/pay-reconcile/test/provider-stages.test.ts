import t from 'tap'
import Stripe from 'stripe'
import { settingsFromOptions, type PayReconcileOptions } from '../src/options.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { differencesBetween } from '../src/reconcile/differences.ts'
import { startPayStandIn } from '../src/testing/index.ts'
import { standingTime } from './time.ts'

const secretKey = 'sk_test_stages'
const { webhooks } = new Stripe('sk_test_none')
const secret = 'whsec_aSecretOfThisShop0000000000000'

t.test('what people and payments change of a customer is drift', async t => {
  const filled = (value: unknown) => ({
    name: value,
    business_name: value,
    individual_name: value,
    email: value,
    phone: value,
    description: value,
    address: { city: value },
    shipping: { name: value },
    metadata: { tier: value },
    currency: value,
    balance: value,
    delinquent: value,
    default_source: value,
    invoice_settings: { default_payment_method: value, footer: value },
    preferred_locales: [value],
    tax_exempt: value,
    deleted: value,
    created: value,
    invoice_prefix: value,
    next_invoice_sequence: value,
    livemode: value,
    test_clock: value,
    object: value,
    discount: value
  })
  t.strictSame(differencesBetween(filled('a'), filled('b'), stripeProvider().driftFields).map(({ field }) => field), [
    'address.city', 'balance', 'business_name', 'currency', 'default_source', 'deleted', 'delinquent', 'description', 'email', 'individual_name', 'invoice_settings.default_payment_method', 'metadata.tier', 'name', 'phone',
    'preferred_locales', 'shipping.name', 'tax_exempt'
  ])
})

t.test('what a provider sends is read, or refused as something else', async t => {
  const standIn = await startPayStandIn({ accounts: { [secretKey]: {} }, log: () => {} })
  t.teardown(() => standIn.close())
  const provider = stripeProvider(standIn)
  const { signal } = new AbortController()
  const call = { secretKey, signal }
  const event = (fields: object) => ({ id: 'evt_1', object: 'event', created: 1_700_000_000, data: {}, ...fields })
  const read = { id: 'evt_1', createdAt: '2023-11-14T22:13:20.000Z' }
  const customer = { id: 'cus_1', object: 'customer' }
  const unexpected = 'unexpected_object'
  const reads = {
    events: () => provider.listEvents!({ ...call, since: new Date(5999) }),
    customers: () => provider.listCustomers(call),
    customer: () => provider.retrieveCustomer({ ...call, customerId: 'cus_1' })
  }
  for (const [of, body, wanted] of [
    ['events', { data: [event({ data: { object: customer } })], has_more: false }, { events: [{ ...read, customerId: 'cus_1' }], more: false }],
    ['events', { data: [event({ data: { object: { object: 'subscription', id: 'sub_1', customer: 'cus_2' } } })], has_more: true }, { events: [{ ...read, customerId: 'cus_2' }], more: true }],
    ['events', { data: [event({ data: { object: { object: 'subscription', customer } } })] }, { events: [{ ...read, customerId: 'cus_1' }], more: false }],
    ['events', { data: [event({ data: { object: { object: 'charge' } } }), event({ data: 'x' }), event({ data: { object: [] } })] }, { events: Array(3).fill({ ...read, customerId: null }), more: false }],
    ['events', { data: [], has_more: true }, { events: [], more: false }],
    ['events', { data: [event({}), event({ object: 'customer' })] }, unexpected],
    ['events', { data: [event({ id: '' })] }, unexpected],
    ['events', { data: [event({ id: 5 })] }, unexpected],
    ['events', { data: [event({ created: 'then' })] }, unexpected],
    ['events', { data: ['evt_1'] }, unexpected],
    ['events', { data: {} }, unexpected],
    ['customers', { data: [customer], has_more: true }, { customers: [customer], more: true }],
    ['customers', { data: [customer], has_more: 'true' }, { customers: [customer], more: false }],
    ['customers', { data: [] }, { customers: [], more: false }],
    ['customers', { data: [customer, { ...customer, id: '' }] }, unexpected],
    ['customers', { data: [{ ...customer, object: 'list' }] }, unexpected],
    ['customers', {}, unexpected],
    ['customer', customer, customer],
    ['customer', { ...customer, id: 5 }, unexpected],
    ['customer', { id: 'cus_1' }, unexpected]
  ] as const) {
    standIn.fault({ kind: 'answer', status: 200, body, times: 1 })
    const result: unknown = await reads[of]().then(({ value }) => JSON.parse(JSON.stringify(value)), error => error.fault)
    t.strictSame(result, wanted, `${of} ${JSON.stringify(body)}`)
  }

  const before = standIn.requested
  for (const blank of ['', ' ', 'acct_1', 'pk_test_1']) t.match(await provider.retrieveCustomer({ ...call, secretKey: blank, customerId: 'cus_1' }).catch(error => error), { fault: 'key_rejected' })
  t.equal(standIn.requested, before, 'what is no key is not sent')

  const urls = async (work: Promise<unknown>) => {
    const before = standIn.requested
    await work
    return standIn.requests.slice(before - standIn.requested).map(({ url }) => decodeURIComponent(url))
  }
  t.strictSame(await urls(reads.events()), ['/v1/events?type=customer.*&created[gte]=5&limit=100'])
  t.strictSame(await urls(reads.customers()), ['/v1/customers?limit=100'])
  t.strictSame(await urls(provider.listByAccount({ ...call, accountId: 'a', email: 'ada@example.org' })), ['/v1/customers?limit=100&email=ada@example.org'])
  t.strictSame(await urls(provider.listByAccount({ ...call, accountId: 'a', since: new Date(7999) })), ['/v1/customers?limit=100&created[gte]=7'])
  t.strictSame(await urls(provider.findByAccount({ ...call, accountId: "o'h\\a" })), ["/v1/customers/search?query=metadata['account_id']:'o\\'h\\\\a'&limit=100"])
  t.strictSame(await urls(provider.findByEmail({ ...call, email: 'ada@example.org' })), ['/v1/customers?email=ada@example.org'])
})

t.test('the form of keys and ids', async t => {
  const provider = stripeProvider()
  for (const [key, is] of [['sk_test_1', true], ['rk_live_aZ9', true], ['sk_test_', false], ['pk_test_1', false], ['sk_prod_1', false], [' sk_test_1', false], ['sk_test_1\n', false], ['', false]] as const) t.equal(provider.isSecretKey(key), is, key)
  for (const [id, is] of [['cus_1', true], ['a-b', true], ['x'.repeat(255), true], ['x'.repeat(256), false], ['', false], ['a/b', false], ['a b', false]] as const) t.equal(provider.isCustomerId(id), is, id.slice(0, 20))
})

t.test('a signature counts for five minutes, and as long before its time', async t => {
  const time = standingTime(t)
  const { webhooks: verifier } = stripeProvider()
  const isSigned = (header: string | string[] | undefined) => verifier!.isSigned({ 'stripe-signature': header })
  const now = Math.floor(time.now / 1000)
  for (const [age, is] of [[0, true], [301_000, true], [301_001, false], [-301_000, true], [-301_001, false]] as const) {
    time.now = now * 1000 + age
    t.equal(isSigned(`t=${now},v1=00`), is, `${age} ms`)
  }
  time.now = now * 1000
  const filled = (length: number) => `t=${now},v1=${'0'.repeat(length - `t=${now},v1=`.length)}`
  for (const [title, header, is] of [
    ['2000 characters', filled(2000), true], ['more', filled(2001), false], ['two times', `t=${now},t=${now}`, false], ['none', 'v1=00', false], ['several headers', [`t=${now}`], false], ['no header', undefined, false],
    ['no number', 't=0x5', false], ['the time behind the signature', `v1=00,t=${now}`, true]
  ] as const) t.equal(isSigned(header as string), is, title)

  const body = (type: unknown) => Buffer.from(JSON.stringify({ id: 'evt_1', object: 'event', type }))
  const verify = (payload: Buffer, own = secret, timestamp = now) =>
    verifier!.verify({ headers: { 'stripe-signature': webhooks.generateTestHeaderString({ payload: payload.toString(), secret: own, timestamp }) }, body: payload, secret: own })
  const first = verify(body('customer.updated'))
  t.match(first, { id: /^[\w-]{43}$/, isAboutCustomers: true })
  t.strictSame(verify(body('customer.updated')), first, 'a copy has the same id')
  t.not(verify(body('customer.updated'), secret, now - 1)?.id, first?.id, 'another attempt has another one')
  t.not(verify(body('customer.deleted'))?.id, first?.id)
  for (const [type, is] of [['customer.subscription.created', true], ['charge.succeeded', false], ['customers', false], [5, false]] as const) t.equal(verify(body(type))?.isAboutCustomers, is, String(type))
  t.equal(verify(body('customer.updated'), 'whsec_short'), undefined)
  for (const [given, is] of [[secret, true], [`whsec_${'a'.repeat(16)}`, true], [`whsec_${'a'.repeat(15)}`, false], [`whsec_${'a'.repeat(250)}`, true], [`whsec_${'a'.repeat(251)}`, false], ['sk_test_1', false]] as const) t.equal(verifier!.isSecret(given), is, given.slice(0, 30))
})

t.test('options have the defaults of the README', async t => {
  const given = { accounts: { changes: {} }, provider: stripeProvider(), authorize: async () => {}, actor: () => 'a' } as unknown as PayReconcileOptions
  const { emailOf, mayContinue, ...settings } = settingsFromOptions(given)
  t.match(settings, {
    runs: undefined,
    prefix: '/admin/accounts',
    callTimeout: 10_000,
    attemptTimeout: 4000,
    attempts: 2,
    inFlight: 4,
    breakAfter: 5,
    breakDuration: 10_000,
    perSecond: 5,
    accountsAtOnce: 2,
    shopsAtOnce: 4,
    leaseDuration: 30_000,
    slots: [],
    webhooks: undefined
  })
  t.equal(settings.driftFields, given.provider.driftFields)
  t.equal(await mayContinue({ id: 'r', actor: 'a' }), true)
  for (const [email, wanted] of [['ada@example.org', 'ada@example.org'], ['', undefined], [5, undefined], [undefined, undefined]] as const) {
    t.equal(emailOf({ id: 'a', shopId: 's', shopName: '', name: '', hashName: null, details: { email } }), wanted)
  }
  const secrets = { find: async () => undefined }
  const runs = { awaited: { done: async () => {} } } as never
  t.match(settingsFromOptions({ ...given, runs, webhooks: { secrets }, schedule: { sync: '0 3 * * *' } }), { webhooks: { secrets, config: {}, delay: 10_000 }, slots: [{ mode: 'sync', pattern: '0 3 * * *', timezone: 'UTC' }] })
  for (const [delay, is] of [[1, true], [3_600_000, true], [3_600_001, false], [0, false], [1.5, false]] as const) {
    const settings = () => settingsFromOptions({ ...given, runs, webhooks: { secrets, delay } })
    if (is) t.equal(settings().webhooks?.delay, delay)
    else t.throws(settings, { code: 'PAY_RECONCILE_INVALID_OPTION', message: /webhooks\.delay must be an integer from 1 to 3600000/ })
  }
  t.doesNotThrow(() => settingsFromOptions({ ...given, authorize: async (_request, _reply) => {} }))
  for (const timezone of ['', 5]) t.throws(() => settingsFromOptions({ ...given, runs, schedule: { sync: '0 3 * * *', timezone: timezone as string } }), { code: 'PAY_RECONCILE_INVALID_OPTION', message: /schedule\.timezone must be/ })
  for (const prefix of ['/', 'admin', '/a?b', '/a#b', '/a/']) t.throws(() => settingsFromOptions({ ...given, prefix }), { code: 'PAY_RECONCILE_INVALID_OPTION', message: /prefix must be a path/ }, prefix)
  t.equal(settingsFromOptions({ ...given, prefix: '/a' }).prefix, '/a')
})
