import t from 'tap'
import { accountWith, respond } from '../src/testing/account.ts'
import { customerWith, searchableCustomers } from '../src/testing/customers.ts'
import { endpointOf } from '../src/testing/endpoints.ts'
import { eventOf, listedEvents, type StandInEvent } from '../src/testing/events.ts'
import { expanded, expandFault } from '../src/testing/expand.ts'
import { executed, faults, type Fault } from '../src/testing/faults.ts'
import { formFrom } from '../src/testing/form.ts'
import { startPayStandIn, type SeenRequest } from '../src/testing/index.ts'
import { listResponse, searchResponse } from '../src/testing/list.ts'
import { standingTime } from './time.ts'

const day = 24 * 3600
const request = (method: string, path: string, form = '') => ({ method, path: path.split('/'), form: formFrom(form), idempotencyKey: undefined, keyEnd: 'k', origin: 'http://stand-in' })

t.test('a list holds what was created in a time', async t => {
  const objects = new Map([1, 2, 3].map(n => [String(n), { id: String(n), created: n, email: n === 2 ? 'two@example.org' : 'other@example.org' }]))
  for (const [form, ids] of [
    ['', '321'], ['created=2', '2'], ['created[gt]=2', '3'], ['created[gte]=2', '32'], ['created[lt]=2', '1'], ['created[lte]=2', '21'], ['created[gt]=1&created[lt]=3', '2'],
    ['created[gte]=4', ''], ['email=two@example.org', '2'], ['email=two@example.org&created[gt]=2', ''], ['name=x', '321']
  ] as const) t.match(listResponse({ kind: 'thing', url: '/v1/things', objects, filters: ['email'] }, formFrom(form)), { body: { data: [...ids].map(id => ({ id })) } }, form)
  t.match(listResponse({ kind: 'thing', url: '/v1/things', objects }, formFrom('ending_before=9')), { status: 400, body: { error: { message: "No such thing: '9'", param: 'ending_before' } } })
  const many = new Map(Array.from({ length: 11 }, (_, n) => [String(n), { id: String(n) }]))
  t.match(listResponse({ kind: 'thing', url: '/v1/things', objects: many }, {}), { body: { has_more: true, data: { length: 10 } } }, 'ten, if nothing is said')
})

t.test('a search compares one field', async t => {
  const objects = [{ id: '1', name: 'Ada "A"', amount: 5, metadata: { key: "o'h" } }, { id: '2', name: 'Bob', amount: 50, metadata: {} }, { id: '3', name: 'Bob', deleted: true }]
  const source = { resource: 'things', objects, fields: ['name', 'amount'] }
  for (const [query, ids] of [
    ['name:"Bob"', '2'], ["name:'Ada \"A\"'", '1'], ['name:"Ada \\"A\\""', '1'], ['amount:5', '1'], ["metadata['key']:'o\\'h'", '1'], ['metadata["key"]:"o\'h"', '1'], ["metadata['none']:'x'", ''], ['name:"bob"', '']
  ] as const) t.match(searchResponse(source, formFrom(`query=${encodeURIComponent(query)}`)), { status: 200, body: { has_more: false, next_page: null, data: [...ids].map(id => ({ id })) } }, query)
  const page = searchResponse({ ...source, objects: objects.map(object => ({ ...object, name: 'x', deleted: false })) }, formFrom('query=name:"x"&limit=2&expand[]=total_count'))
  t.match(page, { body: { object: 'search_result', url: '/v1/things/search', has_more: true, total_count: 3, data: [{ id: '1' }, { id: '2' }] } })
  t.notOk('total_count' in (searchResponse(source, formFrom('query=name:"x"&expand[]=data.customer')).body as object))
  for (const [query, message] of [
    ['name=Bob', 'We were unable to parse your search query.'], ['name:"a" AND name:"b"', 'We were unable to parse your search query.'], ['email:"a"', 'Field `email` is an unsupported search field for resource `things`.']
  ] as const) t.match(searchResponse(source, formFrom(`query=${encodeURIComponent(query)}`)), { status: 400, body: { error: { message, param: 'query' } } }, query)
})

t.test('events are listed for thirty days, oldest first', async t => {
  const time = standingTime(t)
  const now = time.now / 1000
  const event = (id: string, created: number, type = 'customer.updated') => ({ id, created, type }) as StandInEvent
  const events = [event('new', now), event('old', now - 30 * day + 1), event('gone', now - 30 * day), event('other', now - 5, 'charge.updated')]
  for (const [types, ids] of [
    [[], ['old', 'other', 'new']], [['customer.*'], ['old', 'new']], [['customer.updated'], ['old', 'new']], [['customer.deleted', 'charge.*'], ['other']], [['customer'], []], [['*'], ['old', 'other', 'new']]
  ] as const) t.strictSame([...listedEvents(events, types).keys()], ids, types.join())
  const ada = customerWith({ id: 'cus_1', name: 'Ada' })
  for (const [title, before, after, wanted] of [
    ['created', undefined, ada, { type: 'customer.created', created: now, data: { object: ada } }],
    ['updated', ada, { ...ada, name: 'Bob' }, { type: 'customer.updated', data: { object: { name: 'Bob' }, previous_attributes: { name: 'Ada' } } }],
    ['deleted', ada, { id: 'cus_1', deleted: true }, { type: 'customer.deleted', data: { object: ada } }]
  ] as const) {
    const found = eventOf(before, after)
    t.match(found, { object: 'event', livemode: false, ...wanted }, title)
    t.equal('previous_attributes' in (found['data'] as object), title === 'updated')
  }
  t.strictSame((eventOf(ada, { ...ada, name: 'Bob' })['data'] as { previous_attributes: object }).previous_attributes, { name: 'Ada' }, 'and nothing that stayed')
})

t.test('what can be expanded', async t => {
  const session = { type: 'checkout.session' }
  const levels = 'You cannot expand more than 4 levels of a property.'
  for (const [returned, paths, message] of [
    [session, ['line_items', 'line_items.data', 'line_items.data.price.product', 'customer', 'customer.sources', 'payment_intent.customer', 'invoice.anything'], undefined],
    [{ ...session, page: 'list' }, ['data', 'data.line_items', 'data.customer.sources'], undefined],
    [{ type: 'customer', page: 'search' }, ['total_count', 'data'], undefined],
    [{ type: 'customer' }, ['sources.data', 'discount.promotion_code', 'tax'], undefined],
    [{ ...session, page: 'list' }, ['data.line_items.data.price.product'], levels],
    [session, ['customer.sources.data.a.b'], levels],
    [session, ['total_count'], 'This property cannot be expanded (total_count).'],
    [session, ['data'], 'This property cannot be expanded (data).'],
    [session, ['line_items.url'], 'This property cannot be expanded (line_items.url).'],
    [session, ['line_items.data.quantity'], 'This property cannot be expanded (line_items.data.quantity).'],
    [session, ['customers'], 'This property cannot be expanded (customers).'],
    [{ ...session, page: 'list' }, ['customer'], 'This property cannot be expanded (customer).'],
    [{ type: 'event' }, ['data'], 'This property cannot be expanded (data).']
  ] as const) {
    for (const path of paths) {
      t.match(expandFault(formFrom(`expand[]=${path}`), returned as never), message === undefined ? undefined : { status: 400, body: { error: { message, param: 'expand' } } }, path)
      t.equal(expandFault(formFrom(`expand[]=${path}`), returned as never) === undefined, message === undefined, path)
    }
  }
})

t.test('expanded objects take the place of their ids', async t => {
  const customer = { id: 'cus_1', object: 'customer', name: 'Ada' }
  const items = (count: number) => new Map(Array.from({ length: count }, (_, n) => [`li_${n}`, { id: `li_${n}` }]))
  const from = { customers: new Map([['cus_1', customer]]), intents: new Map([['pi_1', { id: 'pi_1', object: 'payment_intent', customer: 'cus_1' }]]), lineItems: new Map([['cs_1', items(10)], ['cs_2', items(11)]]) }
  const session = { id: 'cs_1', object: 'checkout.session', customer: 'cus_1', payment_intent: 'pi_1', invoice: 'in_1' }
  const of = (body: { id: string }, ...paths: string[]) => expanded(from, { type: 'checkout.session' }, body, formFrom(paths.map(path => `expand[]=${path}`).join('&')))
  t.strictSame(of(session), session)
  t.strictSame(of(session, 'customer'), { ...session, customer })
  t.strictSame(of(session, 'payment_intent.customer'), { ...session, payment_intent: { id: 'pi_1', object: 'payment_intent', customer } })
  t.strictSame(of(session, 'invoice'), session, 'what the stand-in has not stays an id')
  t.strictSame(of({ ...session, customer: 'cus_none' } as never, 'customer'), { ...session, customer: 'cus_none' })
  const list = (name: string) => ({ object: 'list', url: `/v1/customers/cus_1/${name}`, has_more: false, data: [] })
  t.strictSame(of(session, 'customer.sources', 'customer.tax_ids'), { ...session, customer: { ...customer, sources: list('sources'), tax_ids: list('tax_ids') } }, 'a second path adds to the first')
  for (const [id, hasMore, first] of [['cs_1', false, 'li_9'], ['cs_2', true, 'li_10']] as const) {
    t.match(of({ ...session, id }, 'line_items'), { line_items: { object: 'list', url: `/v1/checkout/sessions/${id}/line_items`, has_more: hasMore, data: { length: 10, 0: { id: first } } } }, 'ten items, last first')
  }
  t.match(of({ ...session, id: 'cs_none' }, 'line_items'), { line_items: { has_more: false, data: { length: 0 } } })
})

t.test('a key may make so many requests in a second', async t => {
  const time = standingTime(t)
  const account = accountWith({ requestsPerSecond: 2 })
  const statusAt = (ms: number) => { time.now = ms; return respond(account, request('GET', 'customers')).status }
  t.strictSame([0, 500, 999, 1000, 1001, 1499, 1500, 1501].map(statusAt), [200, 200, 429, 200, 429, 429, 200, 429])
})

t.test('a search shows a change once its lag is over', async t => {
  const time = standingTime(t)
  const account = accountWith({ searchLag: 1000, customers: [{ id: 'cus_1', name: 'Ada' }] })
  const names = () => searchableCustomers(account).map(({ name }) => name)
  respond(account, request('POST', 'customers/cus_1', 'name=Bob'))
  time.now += 999
  t.strictSame(names(), ['Ada'])
  respond(account, request('POST', 'customers/cus_1', 'name=Cid'))
  t.strictSame(names(), ['Ada'], 'the second change as the first')
  time.now += 1
  t.strictSame(names(), ['Ada'])
  time.now += 999
  t.strictSame(names(), ['Cid'])
  const prompt = accountWith({ searchLag: 0 })
  respond(prompt, request('POST', 'customers', 'name=Dan'))
  t.strictSame(searchableCustomers(prompt).map(({ name }) => name), ['Dan'], 'without a lag at once')
  respond(prompt, request('DELETE', `customers/${String(searchableCustomers(prompt)[0]?.id)}`))
  t.strictSame(searchableCustomers(prompt).map(({ name }) => name), ['Dan'], 'a deleted customer is shown for a day')
  time.now += day * 1000
  t.match(searchableCustomers(prompt), [{ deleted: true }])

  const usual = accountWith({ customers: [{ id: 'cus_1', deleted: true, name: 'Eve' }, { id: 'cus_2', name: 'Fay', metadata: { account_id: 'a' } }] })
  respond(usual, request('POST', 'customers', 'name=Gil'))
  respond(usual, request('POST', 'customers/cus_2', 'metadata[account_id]=b'))
  const seen = () => searchableCustomers(usual).map(({ name, metadata, deleted }) => [name, metadata, deleted])
  t.strictSame(seen(), [['Eve', {}, undefined], ['Fay', { account_id: 'a' }, undefined]], 'by default a search lags a minute, and shows what was deleted')
  time.now += 60_000
  t.strictSame(seen(), [['Eve', {}, undefined], ['Fay', { account_id: 'b' }, undefined], ['Gil', {}, undefined]])
})

t.test('objects start as the provider starts them', async t => {
  const now = standingTime(t).now / 1000
  const account = accountWith()
  const made = (path: string, form: string) => respond(account, request('POST', path, form)).body
  t.match(made('customers', ''), { created: now, metadata: {}, balance: 0, livemode: false, name: null, email: null })
  t.match(made('payment_intents', 'amount=5&currency=eur'), { created: now, amount: 5, amount_received: 0, status: 'requires_payment_method', customer: null, client_secret: /^pi_.*_secret_standin$/ })
  t.match(made('payment_intents', 'amount=5&currency=eur&confirm=true'), { amount_received: 5, status: 'succeeded' })
  const item = 'line_items[0][price_data][unit_amount]=7&line_items[0][quantity]=3&line_items[1][price_data][currency]=chf'
  t.match(made('checkout/sessions', item), {
    created: now, expires_at: now + day, mode: 'payment', amount_total: 21, amount_subtotal: 21, currency: 'usd', payment_status: 'unpaid', status: 'open', url: /^http:\/\/stand-in\/pay\/cs_test_/
  })
  t.match(made('checkout/sessions', `currency=eur&expires_at=${now + 5}&mode=setup`), { expires_at: now + 5, mode: 'setup', currency: 'eur', amount_total: 0 })
  t.match(made('checkout/sessions', ''), { currency: null })
  const [session] = [...account.sessions.keys()]
  t.match([...account.lineItems.get(session!)!.values()], [
    { object: 'item', currency: 'chf', quantity: 1, amount_total: 0, description: null }, { currency: 'usd', quantity: 3, amount_subtotal: 21, amount_total: 21 }
  ], 'items without a quantity are one, without a price nothing')
})

t.test('which endpoint a request is for', async t => {
  for (const [method, path, found, id] of [
    ['GET', 'customers', 'customers', ''], ['GET', 'customers/search', 'customers/search', ''], ['GET', 'customers/cus_1', 'customers/:id', 'cus_1'], ['GET', 'checkout/sessions/cs_1/line_items', 'checkout/sessions/:id/line_items', 'cs_1'],
    ['PUT', 'customers', undefined, undefined], ['GET', 'customers/cus_1/tax_ids', undefined, undefined], ['GET', 'refunds/re_1', undefined, undefined]
  ] as const) {
    const [endpoint, given] = endpointOf(request(method, path)) ?? []
    t.strictSame([endpoint?.path, given], [found, id], `${method} ${path}`)
  }
})

t.test('faults apply in their order, so many times, to what they name', async t => {
  const known = faults()
  const of = (fault: Partial<Fault>) => known.add({ kind: 'hang', ...fault })
  const next = (more = {}, replays = false) => known.next({ method: 'GET', secretKey: 'a', url: '/v1/customers/cus_1', ...more }, replays)
  t.equal(next(), undefined)
  const end = of({ secretKey: 'b', times: 1 })
  of({ method: 'POST', times: 1 })
  of({ path: 'cus_2', times: 1 })
  t.equal(next(), undefined)
  t.strictSame([next({ secretKey: 'b' }), next({ method: 'POST' }), next({ url: 'cus_2' })].map(fault => fault?.times), [1, 1, 1])
  t.strictSame([next({ secretKey: 'b' }), next({ method: 'POST' }), next({ url: 'cus_2' })], [undefined, undefined, undefined])
  end()
  of({ delay: 1, times: 2 })
  const endless = of({ delay: 2 })
  t.strictSame([next(), next(), next(), next()].map(fault => fault?.delay), [1, 1, 2, 2])
  endless()
  t.equal(next(), undefined, 'a fault that was ended is over')
  of({ kind: 'answer' })
  t.equal(next({}, true), undefined, 'a stored response comes before what happens during a request')
  t.equal(next()?.kind, 'answer')
  for (const [fault, wanted] of [
    [{ kind: 'answer' }, 500], [{ kind: 'answer', status: 503 }, 503], [{ kind: 'answer', status: 499 }, undefined], [{ kind: 'slow', status: 500 }, undefined]
  ] as const) t.equal(executed(fault)?.status, wanted)
})

t.test('the stand-in as a server', async t => {
  const standIn = await startPayStandIn({ accounts: { sk_test_one: {}, sk_org_test_all: { connected: { acct_1: { customers: [{ id: 'cus_1' }] } } } }, log: () => {} })
  t.teardown(() => standIn.close())
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${standIn.url}${path}`, { headers: { authorization: 'Bearer sk_test_one', ...headers } })

  t.match((await get('/v1/customers', { 'stripe-version': '2020-01-01' })).headers.get('stripe-version'), '2020-01-01')
  t.match((await get('/v1/customers')).headers.get('stripe-version'), 'stand-in')
  t.match(await (await get('/v2/customers')).json(), { error: { message: 'Unrecognized request URL (GET: /v2/customers).' } })
  t.equal((await get('/v1//customers/')).status, 200, 'slashes say nothing')
  await t.rejects(get('/v1/customers/%zz'), 'a path that cannot be read breaks the connection')
  for (const [key, message] of [
    ['sk_test_unknown', 'Invalid API Key provided: sk_test_****nown'], ['rk_live_1', 'The stand-in refuses live keys.'], ['sk_org_live_1', 'The stand-in refuses live keys.'],
    ['sk_org_test_all', 'The Stripe-Context header is required for requests with an organization API key.']
  ] as const) t.match(await (await get('/v1/customers', { authorization: `Bearer ${key}`, 'stripe-account': 'acct_1' })).json(), { error: { message } }, key)
  t.match(await (await get('/v1/customers', { authorization: '' })).json(), { error: { message: 'You did not provide an API key.' } })
  const connected = await get('/v1/customers', { authorization: 'Bearer sk_org_test_all', 'stripe-context': 'acct_1' })
  t.match([connected.headers.get('stripe-context'), await connected.json()], ['acct_1', { data: [{ id: 'cus_1' }] }])

  const seen = standIn.requests as SeenRequest[]
  const known = standIn.requested
  seen.length = 0
  seen.push(...Array.from({ length: 999 }, (_, n) => ({ method: 'GET', url: String(n), secretKey: '', headers: {} })))
  await get('/v1/customers')
  t.strictSame([seen.length, seen[0]?.url], [1000, '0'])
  await get('/v1/customers')
  t.strictSame([seen.length, seen[0]?.url, standIn.requested - known], [1000, '1', 2], 'the last thousand requests are kept')

  const late = async (fault: Partial<Fault>) => {
    standIn.fault({ kind: 'answer', times: 1, ...fault })
    const response = await get('/v1/customers', {})
    return [response.status, response.headers.get('content-type'), response.headers.get('x-more'), (await response.text()).slice(0, 40)]
  }
  t.strictSame(await late({ status: 418, body: { a: 1 }, headers: { 'x-more': 'yes' } }), [418, 'application/json', 'yes', '{"a":1}'])
  t.strictSame(await late({}), [500, 'application/json', null, '{"error":{"type":"api_error","message":"'])
  t.strictSame(await late({ kind: 'html' }), [502, 'text/html', null, '<html><body><h1>502 Bad Gateway</h1></bo'])
  t.strictSame(await late({ kind: 'slow', delay: 1 }), [200, 'application/json', null, '{"object":"list","url":"/v1/customers","'])
  t.strictSame(await late({ kind: 'drip', delay: 0 }), [200, 'application/json', null, '{"object":"list","url":"/v1/customers","'])
})
