import t, { type Test } from 'tap'
import { randomUUID } from 'node:crypto'
import { engines } from './database.ts'
import { build, shopKey, type World } from './world.ts'

const customer = (id: string, fields = {}) => ({
  id,
  object: 'customer',
  address: null,
  balance: 0,
  created: 1700000000,
  currency: null,
  delinquent: false,
  description: null,
  email: null,
  livemode: false,
  metadata: {},
  name: null,
  phone: null,
  ...fields
})

for (const engine of engines) {
  for (const detailsType of ['jsonb', 'json'] as const) {
    t.test(`on ${engine.name}, details ${detailsType}`, { skip: engine.skip }, async (t) => {
      const knex = await engine.connect(t, detailsType)
      const world = await build(t, knex)
      await readingAccounts(t, world)
      await readingCustomers(t, world)
      await syncing(t, world)
      await linking(t, world)
      await whoMayCome(t, world)
    })
  }
}

async function readingAccounts (t: Test, { call, addShop, addAccount }: World): Promise<void> {
  const shopId = await addShop({ name: 'Shop List' })
  const linked = await addAccount(shopId, {
    pay_customer_id: 'cus_1',
    pay_synced_at: '2026-01-01T00:00:00.000Z',
    tier: 'gold'
  }, { id: '00000000-0000-4000-8000-000000000001', name: 'Ada', hash_name: 'h1' })
  const missing = await addAccount(shopId, {}, { id: '00000000-0000-4000-8000-000000000002', name: 'Bob' })
  const blank = await addAccount(shopId, { pay_customer_id: '' }, {
    id: '00000000-0000-4000-8000-000000000003',
    name: 'Cid'
  })
  const without = await addAccount(shopId, null, { id: '00000000-0000-4000-8000-000000000004', name: 'Dan' })
  const ada = {
    id: linked,
    shop_id: shopId,
    shop_name: 'Shop List',
    name: 'Ada',
    hash_name: 'h1',
    details: { pay_customer_id: 'cus_1', pay_synced_at: '2026-01-01T00:00:00.000Z', tier: 'gold' },
    pay_customer_id: 'cus_1',
    pay_synced_at: '2026-01-01T00:00:00.000Z'
  }
  const bob = {
    id: missing,
    shop_id: shopId,
    shop_name: 'Shop List',
    name: 'Bob',
    hash_name: null,
    details: {},
    pay_customer_id: null,
    pay_synced_at: null
  }
  const cid = { ...bob, id: blank, name: 'Cid', details: { pay_customer_id: '' } }
  const dan = { ...bob, id: without, name: 'Dan' }

  const lists: ReadonlyArray<readonly [string, string, string, readonly object[]]> = [
    ['a list has all accounts of the shop', `shop_id=${shopId}`, 'accounts 0-100/4', [ada, bob, cid, dan]],
    [
      'missing_pay=true gives only accounts without a pay_customer_id',
      `shop_id=${shopId}&missing_pay=true`,
      'accounts 0-100/3',
      [bob, cid, dan]
    ],
    ['missing_pay=false gives only accounts with one', `shop_id=${shopId}&missing_pay=false`, 'accounts 0-100/1', [
      ada
    ]],
    ['skip and limit page through', `shop_id=${shopId}&skip=1&limit=2`, 'accounts 1-3/4', [bob, cid]],
    [
      'a page past the end is empty and still says the count',
      `shop_id=${shopId}&skip=500&limit=100`,
      'accounts 500-600/4',
      []
    ],
    ['a shop without accounts gives an empty page', `shop_id=${randomUUID()}`, 'accounts 0-100/0', []],
    ['sort takes a word', `shop_id=${shopId}&sort=-name`, 'accounts 0-100/4', [dan, cid, bob, ada]],
    ['sort takes a pair', `shop_id=${shopId}&sort=["name","DESC"]&limit=1`, 'accounts 0-1/4', [dan]],
    ['sorting puts accounts without the value last', `shop_id=${shopId}&sort=-hash_name&limit=1`, 'accounts 0-1/4', [
      ada
    ]],
    ['sorting by the shop works', `shop_id=${shopId}&sort=shop_name&limit=1`, 'accounts 0-1/4', [ada]],
    ['filter takes fields', `filter=${JSON.stringify({ shop_id: shopId, name: 'Bob' })}`, 'accounts 0-100/1', [bob]],
    ['filter takes lists', `filter=${JSON.stringify({ id: [linked, without] })}`, 'accounts 0-100/2', [ada, dan]],
    [
      'filter finds a customer id',
      `filter=${JSON.stringify({ shop_id: shopId, pay_customer_id: 'cus_1' })}`,
      'accounts 0-100/1',
      [ada]
    ],
    [
      'filter q finds part of the name in either case',
      `filter=${JSON.stringify({ shop_id: shopId, q: 'AD' })}`,
      'accounts 0-100/1',
      [ada]
    ],
    [
      'filter q finds names with all words, in any order',
      `filter=${JSON.stringify({ shop_id: shopId, q: 'A  Ad' })}`,
      'accounts 0-100/1',
      [ada]
    ],
    ['filter q takes % as it is', `filter=${JSON.stringify({ shop_id: shopId, q: '%' })}`, 'accounts 0-100/0', []],
    ['filter q takes _ as it is', `filter=${JSON.stringify({ shop_id: shopId, q: '_' })}`, 'accounts 0-100/0', []],
    [
      'filter finds what details contain',
      `filter=${JSON.stringify({ shop_id: shopId, details: { tier: 'gold' } })}`,
      'accounts 0-100/1',
      [ada]
    ],
    [
      'an empty object is contained in all details',
      `filter=${JSON.stringify({ shop_id: shopId, details: {} })}`,
      'accounts 0-100/4',
      [ada, bob, cid, dan]
    ],
    ['filter finds the shop by its name', `filter=${JSON.stringify({ shop_name: 'Shop List' })}`, 'accounts 0-100/4', [
      ada,
      bob,
      cid,
      dan
    ]],
    [
      'filter finds what is null',
      `filter=${JSON.stringify({ shop_id: shopId, pay_customer_id: null })}`,
      'accounts 0-100/3',
      [bob, cid, dan]
    ],
    [
      'and null among values',
      `filter=${JSON.stringify({ shop_id: shopId, hash_name: [null, 'h1'] })}`,
      'accounts 0-100/4',
      [ada, bob, cid, dan]
    ],
    [
      'filter finds the time of a snapshot',
      `filter=${JSON.stringify({ shop_id: shopId, pay_synced_at: '2026-01-01T00:00:00.000Z' })}`,
      'accounts 0-100/1',
      [ada]
    ],
    ['range is the page of react-admin', `shop_id=${shopId}&range=[1,2]`, 'accounts 1-3/4', [bob, cid]]
  ]
  for (const [title, query, range, accounts] of lists) {
    const response = await call('GET', `/admin/accounts?${encodeURI(query)}`)
    t.equal(response.statusCode, 200, title)
    t.equal(response.headers['content-range'], range, title)
    t.equal(response.headers['access-control-expose-headers'], 'Content-Range', title)
    t.strictSame(response.json(), accounts, title)
  }

  const large = await addShop({ name: 'Shop Large' })
  for (const name of ['A', 'B', 'C']) {
    await addAccount(large, { note: name.repeat(name === 'B' ? 5_000_000 : 2_000_000) }, { name })
  }
  const page = async (skip: number) => {
    const response = await call('GET', `/admin/accounts?shop_id=${large}&sort=-name&skip=${skip}`)
    return [response.headers['content-range'], response.json().map(({ name }: { name: string }) => name)]
  }
  t.strictSame([await page(0), await page(1), await page(2)], [
    ['accounts 0-1/3', ['C']],
    ['accounts 1-2/3', ['B']],
    ['accounts 2-102/3', ['A']]
  ], 'a page ends before it is larger than 4 MiB, and says where the next one starts')

  for (
    const [query, field, message] of [
      ['limit=1001', 'limit', 'limit must be an integer from 1 to 1000'],
      ['foo=bar', 'foo', 'foo is not a known parameter'],
      ['missing_pay=true&Limit=1', 'Limit', 'Limit is not a known parameter'],
      [`${'x'.repeat(300)}=1`, `${'x'.repeat(199)}…`, `${'x'.repeat(199)}… is not a known parameter`],
      ['__proto__=1', '__proto__', '__proto__ is not a known parameter'],
      ['filter={"missing_pay":true}&missing_pay=false', 'missing_pay', 'missing_pay contradicts filter.missing_pay'],
      ['filter={"tier":"gold"}', 'filter/tier', 'filter.tier is not a known field']
    ] as const
  ) {
    const invalid = await call('GET', `/admin/accounts?${encodeURI(query)}`)
    t.equal(invalid.statusCode, 422)
    t.strictSame(invalid.json(), invalidInput(field, message), `${query} gets 422`)
  }

  const one = await call('GET', `/admin/accounts/${linked}`)
  t.equal(one.statusCode, 200)
  t.strictSame(one.json(), ada, 'one account')

  const none = await call('GET', `/admin/accounts/${randomUUID()}`)
  t.equal(none.statusCode, 404)
  t.strictSame(none.json(), notFound, 'an unknown account gets 404')

  const odd = await call('GET', '/admin/accounts/urn:uuid:00000000-0000-4000-8000-000000000001')
  t.equal(odd.statusCode, 404)
  t.strictSame(odd.json(), notFound, 'so does an id that no account could have')
}

const invalidInput = (field: string, message: string) => ({
  statusCode: 422,
  code: 'PAY_RECONCILE_VALIDATION',
  error: 'Unprocessable Entity',
  message,
  field
})

const notFound = {
  statusCode: 404,
  code: 'PAY_RECONCILE_ACCOUNT_NOT_FOUND',
  error: 'Not Found',
  message: 'No such account'
}
const noCustomerId = {
  statusCode: 400,
  code: 'PAY_RECONCILE_NO_CUSTOMER_ID',
  error: 'Bad Request',
  message: 'The account has no pay_customer_id'
}
const noSecretKey = {
  statusCode: 400,
  code: 'PAY_RECONCILE_NO_SECRET_KEY',
  error: 'Bad Request',
  message: 'The shop of the account has no usable pay_secret_key'
}

async function readingCustomers (t: Test, { call, addShop, addAccount, detailsOf, standIn }: World): Promise<void> {
  const shopId = await addShop()
  standIn.account(shopKey).customers.set('cus_live', customer('cus_live', { name: 'Ada Live' }) as never)
  const accountId = await addAccount(shopId, { pay_customer_id: 'cus_live' })

  const live = await call('GET', `/admin/accounts/${accountId}/pay-customer`)
  t.equal(live.statusCode, 200)
  t.strictSame(live.json(), {
    account_id: accountId,
    pay_customer_id: 'cus_live',
    pay_customer: customer('cus_live', { name: 'Ada Live' })
  }, 'the live customer')
  t.strictSame(await detailsOf(accountId), { pay_customer_id: 'cus_live' }, 'a live read stores nothing')

  await refusedReads(t, { call, addShop, addAccount }, 'GET', 'pay-customer')
}

async function refusedReads (
  t: Test,
  { call, addShop, addAccount }: Pick<World, 'call' | 'addShop' | 'addAccount'>,
  method: 'GET' | 'POST',
  route: string
): Promise<void> {
  const shopId = await addShop()
  const without = await addAccount(shopId)
  const missing = await call(method, `/admin/accounts/${without}/${route}`)
  t.equal(missing.statusCode, 400)
  t.strictSame(missing.json(), noCustomerId, `${route} of an account without an id gets 400`)

  for (const key of [null, '', ' ', 'sk_test_with\nnewline', 'pk_test_public', 'sk_test_']) {
    const keyless = await addAccount(await addShop({ key }), { pay_customer_id: 'cus_live' })
    const refused = await call(method, `/admin/accounts/${keyless}/${route}`)
    t.equal(refused.statusCode, 400)
    t.strictSame(refused.json(), noSecretKey, `${route} with the key ${JSON.stringify(key)} gets 400`)
  }

  const unknown = await call(method, `/admin/accounts/${randomUUID()}/${route}`)
  t.equal(unknown.statusCode, 404)
  t.strictSame(unknown.json(), notFound, `${route} of an unknown account gets 404`)

  const lost = await call(
    method,
    `/admin/accounts/${await addAccount(shopId, { pay_customer_id: 'cus_nowhere' })}/${route}`
  )
  t.equal(lost.statusCode, 502)
  const { provider_request_id: requestId, ...body } = lost.json()
  t.match(requestId, /^req_/)
  t.strictSame(body, {
    statusCode: 502,
    code: 'PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND',
    error: 'Bad Gateway',
    message: 'The payment provider has no such customer'
  }, `${route} of a customer the provider does not have gets 502`)
}

async function syncing (t: Test, { call, app, addShop, addAccount, detailsOf, audit, standIn }: World): Promise<void> {
  const shopId = await addShop()
  standIn.account(shopKey).customers.set('cus_sync', customer('cus_sync', { name: 'Nul\0 and \ud800' }) as never)
  const accountId = await addAccount(shopId, { pay_customer_id: 'cus_sync', tier: 'gold', nested: { a: [1, null] } })

  const stored = customer('cus_sync', { name: 'Nul and \ufffd' })
  const synced = await call('POST', `/admin/accounts/${accountId}/sync-pay`)
  t.equal(synced.statusCode, 200)
  const body = synced.json()
  t.match(body.pay_synced_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.strictSame(body, {
    id: accountId,
    pay_customer_id: 'cus_sync',
    pay_synced_at: body.pay_synced_at,
    pay_customer: stored
  }, 'sync answers what it stored')
  t.strictSame(await detailsOf(accountId), {
    pay_customer_id: 'cus_sync',
    tier: 'gold',
    nested: { a: [1, null] },
    pay_customer: stored,
    pay_synced_at: body.pay_synced_at
  }, 'sync keeps all other keys of details')
  const [row, ...more] = await audit(accountId)
  t.strictSame(more, [])
  t.match(row, {
    actor: 'user-1',
    action: 'sync',
    shop_id: shopId,
    run_id: null,
    before: { pay_customer_id: 'cus_sync', pay_synced_at: null, snapshot_sha256: null },
    after: { pay_customer_id: 'cus_sync', pay_synced_at: body.pay_synced_at, snapshot_sha256: /^[0-9a-f]{64}$/ },
    provider_request_id: /^req_/,
    request_id: /^req-/
  }, 'a sync leaves an audit row')

  for (const contentType of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
    const response = await app.inject({
      method: 'POST',
      url: `/admin/accounts/${accountId}/sync-pay`,
      headers: { authorization: 'Bearer superuser', 'content-type': contentType }
    })
    t.equal(response.statusCode, 200, `an empty body that says ${contentType} is fine`)
  }

  const { pay_customer: snapshot, pay_synced_at: _, ...others } = await detailsOf(accountId) ?? {}
  const tombstone = { id: 'cus_sync', object: 'customer', deleted: true } as const
  standIn.account(shopKey).customers.set('cus_sync', tombstone)
  for (const title of ['a deleted customer is stored as returned, beside what was known of it', 'also a second time']) {
    const deleted = await call('POST', `/admin/accounts/${accountId}/sync-pay`)
    t.equal(deleted.statusCode, 200)
    t.strictSame(deleted.json().pay_customer, tombstone)
    t.strictSame(await detailsOf(accountId), {
      ...others,
      pay_customer: tombstone,
      pay_customer_before_deletion: snapshot,
      pay_synced_at: deleted.json().pay_synced_at
    }, title)
  }
  const relinked = await call('POST', `/admin/accounts/${accountId}/link-pay`, { pay_customer_id: 'cus_other' })
  t.strictSame(relinked.json().details, { ...others, pay_customer_id: 'cus_other' }, 'another link drops both')
  const unread = await addAccount(shopId, { pay_customer_id: 'cus_sync' })
  await call('POST', `/admin/accounts/${unread}/sync-pay`)
  t.notOk(
    'pay_customer_before_deletion' in (await detailsOf(unread) ?? {}),
    'of a customer that was never read nothing was known'
  )

  for (const details of [null, 'null']) {
    const odd = await addAccount(shopId, details === null ? null : JSON.parse(details))
    const linked = await call('POST', `/admin/accounts/${odd}/link-pay`, { pay_customer_id: 'cus_1' })
    t.strictSame(
      linked.json().details,
      { pay_customer_id: 'cus_1' },
      `details that are ${String(details)} become an object`
    )
  }
  const list = await addAccount(shopId, [1, 2])
  const refused = await call('POST', `/admin/accounts/${list}/link-pay`, { pay_customer_id: 'cus_1' })
  t.equal(refused.statusCode, 500)
  t.equal(refused.json().code, 'PAY_RECONCILE_DETAILS_NOT_OBJECT')
  t.strictSame(await detailsOf(list), [1, 2], 'details that are a list are left alone')

  await refusedReads(t, { call, addShop, addAccount }, 'POST', 'sync-pay')
}

async function linking (
  t: Test,
  { call, app, knex, addShop, addAccount, detailsOf, audit, standIn }: World
): Promise<void> {
  const shopId = await addShop({ key: null, name: 'Shop Link' })
  const accountId = await addAccount(shopId, { tier: 'gold' }, { name: 'Eve', hash_name: 'h' })
  const before = standIn.requests.length
  const link = (id: unknown) => call('POST', `/admin/accounts/${accountId}/link-pay`, { pay_customer_id: id })
  const eve = (details: object, id: string, syncedAt: string | null = null) => ({
    id: accountId,
    shop_id: shopId,
    shop_name: 'Shop Link',
    name: 'Eve',
    hash_name: 'h',
    details,
    pay_customer_id: id,
    pay_synced_at: syncedAt
  })

  const linked = await link('cus_A')
  t.equal(linked.statusCode, 200)
  t.strictSame(linked.json(), eve({ tier: 'gold', pay_customer_id: 'cus_A' }, 'cus_A'), 'link attaches an id')
  t.equal(standIn.requests.length, before, 'link does not call the payment provider')

  const snapshot = {
    tier: 'gold',
    pay_customer_id: 'cus_A',
    pay_customer: { id: 'cus_A' },
    pay_synced_at: '2026-01-01T00:00:00.000Z'
  }
  await setDetails(snapshot)
  const same = await link('cus_A')
  t.strictSame(same.json(), eve(snapshot, 'cus_A', '2026-01-01T00:00:00.000Z'), 'linking the same id changes nothing')
  t.equal((await audit(accountId)).length, 1, 'and leaves no audit row')

  const relinked = await link('cus_B')
  t.strictSame(
    relinked.json(),
    eve({ tier: 'gold', pay_customer_id: 'cus_B' }, 'cus_B'),
    'linking another id drops the snapshot of the first'
  )
  t.match((await audit(accountId))[1], {
    action: 'link',
    before: { pay_customer_id: 'cus_A', pay_synced_at: '2026-01-01T00:00:00.000Z', snapshot_sha256: /^[0-9a-f]{64}$/ },
    after: { pay_customer_id: 'cus_B', pay_synced_at: null, snapshot_sha256: null },
    provider_request_id: null
  }, 'the audit row says from which id to which')

  const unknown = await call('POST', `/admin/accounts/${randomUUID()}/link-pay`, { pay_customer_id: 'cus_A' })
  t.equal(unknown.statusCode, 404)
  t.strictSame(unknown.json(), notFound, 'linking an unknown account gets 404')

  const invalid: ReadonlyArray<readonly [unknown, string]> = [
    [{}, 'body/pay_customer_id: Expected required property'],
    [{ pay_customer_id: 123 }, 'body/pay_customer_id: Expected string'],
    [{ pay_customer_id: null }, 'body/pay_customer_id: Expected string'],
    [{ pay_customer_id: '' }, "body/pay_customer_id: Expected string to match '^[A-Za-z0-9_-]{1,255}$'"],
    [{ pay_customer_id: '../customers' }, "body/pay_customer_id: Expected string to match '^[A-Za-z0-9_-]{1,255}$'"],
    [{ pay_customer_id: 'cus_1', customer: 'cus_1' }, 'body/customer: Unexpected property'],
    [[], 'body: Expected object'],
    [undefined, 'body: Expected object']
  ]
  for (const [payload, message] of invalid) {
    const response = await app.inject({
      method: 'POST',
      url: `/admin/accounts/${accountId}/link-pay`,
      headers: { authorization: 'Bearer superuser', 'content-type': 'application/json' },
      ...(payload !== undefined && { payload: JSON.stringify(payload) })
    })
    t.equal(response.statusCode, 422)
    const field = /^body\/(\w+)/.exec(message)?.[1] ?? ''
    t.strictSame(response.json(), invalidInput(field, message), `the body ${JSON.stringify(payload)} gets 422`)
  }
  for (
    const [payload, type, status, code] of [
      ['{', 'application/json', 400, 'FST_ERR_CTP_INVALID_JSON_BODY'],
      ['{"__proto__":{"pay_customer_id":"cus_1"}}', 'application/json', 400, 'FST_ERR_CTP_INVALID_JSON_BODY'],
      ['pay_customer_id=cus_1', 'application/x-www-form-urlencoded', 415, 'FST_ERR_CTP_INVALID_MEDIA_TYPE']
    ] as const
  ) {
    const response = await app.inject({
      method: 'POST',
      url: `/admin/accounts/${accountId}/link-pay`,
      headers: { authorization: 'Bearer superuser', 'content-type': type },
      payload
    })
    t.equal(response.statusCode, status)
    t.equal(response.json().code, code, `${payload} as ${type} gets ${status}`)
  }
  t.strictSame(
    await detailsOf(accountId),
    { tier: 'gold', pay_customer_id: 'cus_B' },
    'nothing refused changed anything'
  )

  async function setDetails (details: object): Promise<void> {
    await knex('accounts').where('id', accountId).update({ details: JSON.stringify(details) })
  }
}

async function whoMayCome (t: Test, { app }: World): Promise<void> {
  const id = randomUUID()
  const routes = [
    ['GET', '/admin/accounts'],
    ['GET', `/admin/accounts/${id}`],
    ['GET', `/admin/accounts/${id}/pay-customer`],
    ['POST', `/admin/accounts/${id}/sync-pay`],
    ['POST', `/admin/accounts/${id}/link-pay`],
    ['POST', '/admin/accounts/reconcile'],
    ['GET', '/admin/accounts/reconcile'],
    ['GET', `/admin/accounts/reconcile/${id}`],
    ['DELETE', `/admin/accounts/reconcile/${id}`],
    ['GET', '/admin/accounts/no-uuid']
  ] as const
  for (const [method, url] of routes) {
    const nobody = await app.inject({ method, url })
    t.equal(nobody.statusCode, 401)
    t.strictSame(nobody.json(), {
      statusCode: 401,
      code: 'HOST_UNAUTHORIZED',
      error: 'Unauthorized',
      message: 'Log in first'
    }, `${method} ${url} without credentials gets 401`)
    const user = await app.inject({ method, url, headers: { authorization: 'Bearer user' } })
    t.equal(user.statusCode, 403)
    t.strictSame(user.json(), {
      statusCode: 403,
      code: 'HOST_FORBIDDEN',
      error: 'Forbidden',
      message: 'For superusers only'
    }, `${method} ${url} of a user who is no admin gets 403`)
  }
}
