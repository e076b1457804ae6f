import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPayStandIn } from 'pay-reconcile/testing'
import t from 'tap'
import { keyRing } from '../src/pay/key-ring.ts'
import { bearer, build, client, createShop, INSTANT, openIdentityProvider, openTestDatabase, UUID } from './build.ts'

/** Parts of the keys that must never be seen. */
const [KEY, WRONG, RESTRICTED, LIVE] = [
  'sk_test_canaryRight',
  'sk_test_canaryWrong',
  'rk_test_canaryLimited',
  'sk_live_canaryLive'
]
const CANARY = /canary/
const UNKNOWN = '00000000-0000-4000-8000-000000000000'

const standIn = await startPayStandIn({
  accounts: { [KEY]: {}, [RESTRICTED]: { permissions: ['payments:read'] } },
  log: () => {}
})
t.teardown(async () => await standIn.close())
const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['member', 'admin'])

const seen: string[] = []
const stream = new Writable({
  write (line, _encoding, done) {
    seen.push(String(line))
    done()
  }
})
const settings = { PAY_API_URL: standIn.url }
const app = await build(t, database, idp, { settings, logger: { level: 'trace', stream } })

const here = await createShop(database, 'here')
const machine = bearer(await idp.machineToken())
const [member, admin] = await Promise.all(['member', 'admin'].map(async (name) => {
  const token = bearer(await idp.userToken(name))
  await app.inject({ url: `/shops/${here}/tags`, headers: token })
  return token
})) as [Person, Person]
type Person = ReturnType<typeof bearer>
const idOf = async (name: string): Promise<string> => (await knex('users').where({ name }).first('id')).id
await knex('shop_members').insert({ shop_id: here, user_id: await idOf('member'), role: 'owner' })
await knex('users').where({ name: 'admin' }).update({ roles: ['admin'] })

const shop = client(app, `/shops/${here}`, member)
const superuser = client(app, '/admin/accounts', admin)
const problem = (statusCode: number, code: string, error: string, message: string) => ({
  statusCode,
  code,
  error,
  message
})
const accountIn = async (shopId: string, name: string, details: object = {}): Promise<string> =>
  (await client(app, `/shops/${shopId}`, machine)('POST', '/accounts', { name, details })).body.id
const detailsOf = async (id: string): Promise<Record<string, unknown>> =>
  (await knex('accounts').where({ id }).first('details')).details
const sealedIn = async (id: string): Promise<string | null> =>
  (await knex('shops').where({ id }).first('pay_secret_key')).pay_secret_key
const withKey = async (secretKey: string): Promise<void> => {
  await shop('PUT', '/pay/key', { pay_secret_key: secretKey })
}
const product = (await shop('POST', '/products', { name: 'Cup', status: 'active', price_amount: 500 })).body.id
const orderOf = async (accountId: string): Promise<string> =>
  (await shop('POST', '/orders', { account_id: accountId, lines: [{ product_id: product }] })).body.id

t.test('the workflow: list what misses a customer, link it, sync it', async (t) => {
  await withKey(KEY)
  const id = await accountIn(here, 'Ada', { note: 'kept' })
  await accountIn(await createShop(database, 'elsewhere'), 'Bob')
  standIn.account(KEY).customers.set('cus_ada', { id: 'cus_ada', object: 'customer', email: 'ada@example.com' })
  const before = {
    id,
    shop_id: here,
    shop_name: 'here',
    name: 'Ada',
    hash_name: null,
    details: { note: 'kept' },
    pay_customer_id: null,
    pay_synced_at: null
  }

  const missing = await superuser('GET', `?missing_pay=true&shop_id=${here}`)
  t.strictSame([missing.status, missing.headers['content-range'], missing.body], [200, 'accounts 0-100/1', [before]])
  const all = await superuser('GET', '?range=[0,0]&sort=["name","DESC"]&filter={"q":"o"}')
  t.match(
    [all.status, all.headers['content-range'], all.body],
    [200, 'accounts 0-1/1', [{ name: 'Bob' }]],
    'in the dialect of react-admin'
  )

  const none = await superuser('POST', `/${id}/sync-pay`)
  t.strictSame([none.status, none.body], [
    400,
    problem(400, 'PAY_RECONCILE_NO_CUSTOMER_ID', 'Bad Request', 'The account has no pay_customer_id')
  ])
  const bad = await superuser('POST', `/${id}/link-pay`, {})
  t.match([bad.status, bad.body], [422, {
    statusCode: 422,
    code: 'PAY_RECONCILE_VALIDATION',
    field: 'pay_customer_id'
  }])

  const linked = { ...before, details: { note: 'kept', pay_customer_id: 'cus_ada' }, pay_customer_id: 'cus_ada' }
  const link = await superuser('POST', `/${id}/link-pay`, { pay_customer_id: 'cus_ada' })
  t.strictSame([link.status, link.body], [200, linked])

  const customer = { id: 'cus_ada', object: 'customer', email: 'ada@example.com' }
  const live = await superuser('GET', `/${id}/pay-customer`)
  t.strictSame([live.status, live.body], [200, { account_id: id, pay_customer_id: 'cus_ada', pay_customer: customer }])
  t.strictSame(await detailsOf(id), linked.details, 'nothing was stored')

  const sync = await superuser('POST', `/${id}/sync-pay`)
  const syncedAt = sync.body.pay_synced_at
  t.match(syncedAt, INSTANT)
  t.strictSame([sync.status, sync.body], [200, {
    id,
    pay_customer_id: 'cus_ada',
    pay_synced_at: syncedAt,
    pay_customer: customer
  }])
  const synced = await superuser('GET', `/${id}`)
  t.strictSame([synced.status, synced.body], [200, {
    ...linked,
    details: { ...linked.details, pay_customer: customer, pay_synced_at: syncedAt },
    pay_synced_at: syncedAt
  }])
  t.match(await knex('pay_reconcile_audit').where({ account_id: id }).orderBy('at').select('actor', 'action'), [
    { actor: await idOf('admin'), action: 'link' },
    { actor: await idOf('admin'), action: 'sync' }
  ])
})

t.test('a fault of the provider is told as its own, with the id to ask about', async (t) => {
  const id = await accountIn(here, 'Lost')
  await superuser('POST', `/${id}/link-pay`, { pay_customer_id: 'cus_lost' })
  const { status, body } = await superuser('GET', `/${id}/pay-customer`)
  t.match(body.provider_request_id, /^req_/)
  t.strictSame([status, body], [502, {
    ...problem(
      502,
      'PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND',
      'Bad Gateway',
      'The payment provider has no such customer'
    ),
    provider_request_id: body.provider_request_id
  }])
})

t.test('the key of a shop that is deleted meanwhile is not said to be removed', async (t) => {
  const shopId = await createShop(database, 'vanishing')
  const deletion = await knex.transaction()
  await deletion('shops').where({ id: shopId }).delete()
  const removal = client(app, `/shops/${shopId}`, machine)('DELETE', '/pay/key')
  await sleep(100)
  await deletion.commit()
  t.equal((await removal).status, 404)
})

t.test('a bulk run over a shop says what it found', async (t) => {
  const shopId = await createShop(database, 'bulk')
  await client(app, `/shops/${shopId}`, machine)('PUT', '/pay/key', { pay_secret_key: KEY })
  const accountId = await accountIn(shopId, 'Cleo')
  standIn.account(KEY).customers.set('cus_cleo', {
    id: 'cus_cleo',
    object: 'customer',
    metadata: { account_id: accountId }
  })
  const started = await superuser('POST', '/reconcile', { mode: 'link', shop_id: shopId, dry_run: false })
  t.match([started.status, started.body], [202, { id: UUID, mode: 'link', dry_run: false }])
  let run = started.body
  while (run.status === 'running') {
    await sleep(20)
    run = (await superuser('GET', `/reconcile/${run.id}`)).body
  }
  t.match(run, { status: 'done', total: 1, processed: 1, started_at: INSTANT, finished_at: INSTANT })
  t.strictSame(await detailsOf(accountId), { pay_customer_id: 'cus_cleo' })
})

t.test('a bulk run is told which one is in its way, and the list has it', async (t) => {
  const shopId = await createShop(database, 'busy')
  await client(app, `/shops/${shopId}`, machine)('PUT', '/pay/key', { pay_secret_key: KEY })
  const id = await accountIn(shopId, 'Busy')
  await superuser('POST', `/${id}/link-pay`, { pay_customer_id: 'cus_cleo' })
  const end = standIn.fault({ kind: 'slow', delay: 8000, path: 'cus_cleo' })
  const first = (await superuser('POST', '/reconcile', { mode: 'check', shop_id: shopId })).body.id
  const second = await superuser('POST', '/reconcile', { mode: 'sync', shop_id: shopId })
  t.strictSame([second.status, second.body], [409, {
    ...problem(
      409,
      'PAY_RECONCILE_RUN_ACTIVE',
      'Conflict',
      `The reconciliation run ${first} is still processing the shop ${shopId}`
    ),
    run_id: first,
    shop_id: shopId
  }])
  const { status, headers, body } = await superuser('GET', '/reconcile?status=running')
  t.match([status, headers['content-range'], body], [200, 'runs 0-100/1', [{
    id: first,
    shop_id: shopId,
    status: 'running'
  }]])
  await superuser('DELETE', `/reconcile/${first}`)
  end()
})

t.test('two checkouts at once create one customer', async (t) => {
  const id = await accountIn(here, 'Dora', { email: 'dora@example.com' })
  const orders = [await orderOf(id), await orderOf(id)]
  const checkouts = await Promise.all(
    orders.map(async (order) => await shop('POST', '/pay/checkout', { order_id: order }))
  )
  const [customer, ...more] = [...standIn.account(KEY).customers.values()].filter(({ name }) => name === 'Dora')
  t.strictSame(more, [])
  t.match(customer, { email: 'dora@example.com', metadata: { account_id: id } })
  for (const [index, { status, body }] of checkouts.entries()) {
    t.strictSame([status, body], [200, {
      order_id: orders[index],
      account_id: id,
      pay_customer_id: customer!.id,
      created: body.created
    }])
  }
  t.strictSame(checkouts.map(({ body }) => body.created).toSorted(), [false, true])
  t.strictSame(await detailsOf(id), { email: 'dora@example.com', pay_customer_id: customer!.id })
  t.match(await knex('pay_reconcile_audit').where({ account_id: id }), [{
    actor: await idOf('member'),
    action: 'create',
    request_id: UUID
  }])

  const again = await shop('POST', '/pay/checkout', { order_id: orders[0]! })
  t.strictSame(again.body, { order_id: orders[0], account_id: id, pay_customer_id: customer!.id, created: false })
})

t.test('only a pending order of an account of this shop is checked out', async (t) => {
  const checkout = async (order: string) => {
    const { status, body } = await shop('POST', '/pay/checkout', { order_id: order })
    return [status, body]
  }
  const conflict = (
    message: string
  ) => [409, { ...problem(409, 'SHOP_CONFLICT', 'Conflict', message), field: 'order_id' }]
  const owner = await accountIn(here, 'Eve')
  const paid = await orderOf(owner)
  await shop('PATCH', `/orders/${paid}`, { status: 'paid' })
  const orphan = await orderOf(owner)
  await shop('DELETE', `/accounts/${owner}`)
  t.strictSame(await checkout(paid), conflict('The order is paid'))
  t.strictSame(await checkout(orphan), conflict('The account of the order was deleted'))

  const elsewhere = client(app, `/shops/${await createShop(database, 'third')}`, machine)
  const foreignProduct =
    (await elsewhere('POST', '/products', { name: 'Cup', status: 'active', price_amount: 1 })).body.id
  const foreignAccount = (await elsewhere('POST', '/accounts', { name: 'Foreign' })).body.id
  const foreign =
    (await elsewhere('POST', '/orders', { account_id: foreignAccount, lines: [{ product_id: foreignProduct }] })).body
      .id
  t.strictSame(await checkout(foreign), [404, problem(404, 'SHOP_NOT_FOUND', 'Not Found', `No order ${foreign}`)])
  const unpaid = await elsewhere('POST', '/pay/checkout', { order_id: foreign })
  t.strictSame([unpaid.status, unpaid.body], [
    400,
    problem(400, 'PAY_RECONCILE_NO_SECRET_KEY', 'Bad Request', 'The shop of the account has no usable pay_secret_key')
  ])
})

t.test('a secret key is set, verified and removed, and never shown', async (t) => {
  const id = await createShop(database, 'keys')
  await accountIn(id, 'Fay')
  const keys = client(app, `/shops/${id}/pay`, machine)
  const answer = async (...request: Parameters<typeof keys>) => {
    const { status, body } = await keys(...request)
    t.notMatch(JSON.stringify(body), CANARY)
    return [status, body]
  }
  const status = (configured: boolean) => [200, { configured, readable: configured, accounts: 1, linked: 0, synced: 0 }]
  const noKey = [
    400,
    problem(400, 'PAY_RECONCILE_NO_SECRET_KEY', 'Bad Request', 'The shop of the account has no usable pay_secret_key')
  ]

  t.strictSame(await answer('GET', '/status'), status(false))
  t.strictSame(await answer('POST', '/key/verify'), noKey)
  for (
    const [secretKey, verdict] of [
      [KEY, { valid: true }],
      [WRONG, { valid: false, code: 'PAY_RECONCILE_PROVIDER_KEY_REJECTED' }],
      [LIVE, { valid: false, code: 'PAY_RECONCILE_PROVIDER_KEY_REJECTED' }],
      [RESTRICTED, { valid: false, code: 'PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN' }]
    ] as const
  ) {
    t.strictSame(await answer('PUT', '/key', { pay_secret_key: secretKey }), status(true))
    t.strictSame(await answer('POST', '/key/verify'), [200, verdict])
  }
  for (const bad of ['', 'pk_test_canary', `${KEY}\n`, ` ${KEY}`, `${KEY}-`]) {
    t.match(await answer('PUT', '/key', { pay_secret_key: bad }), [422, {
      code: 'SHOP_INVALID',
      field: 'pay_secret_key'
    }], JSON.stringify(bad))
  }
  const end = standIn.fault({ kind: 'html' })
  t.match(
    await answer('POST', '/key/verify'),
    [502, { code: 'PAY_RECONCILE_PROVIDER_ERROR' }],
    'when the provider is in trouble, nothing is known of the key'
  )
  end()
  t.strictSame(await answer('DELETE', '/key'), [204, null])
  const { updated_at: removed } = await knex('shops').where({ id }).first('updated_at')
  t.strictSame(await answer('DELETE', '/key'), [204, null], 'again')
  t.match(await knex('shops').where({ id }), [{ updated_at: removed }], 'which changes nothing')
  t.strictSame(await answer('GET', '/status'), status(false))
  t.equal(await sealedIn(id), null)
})

t.test('a secret key is encrypted for its shop alone', async (t) => {
  await withKey(KEY)
  const sealed = (await sealedIn(here))!
  t.notMatch(sealed, KEY)
  t.notMatch(sealed, CANARY)
  const ring = keyRing([idp.settings['PAY_KEY_SECRETS']!])
  t.equal(ring.open(sealed, here), KEY)

  const thief = await createShop(database, 'thief')
  await knex('shops').where({ id: thief }).update({ pay_secret_key: sealed })
  t.throws(() => ring.open(sealed, thief), { code: 'SHOP_PAY_KEY_UNREADABLE' })
  const sent = standIn.requests.length
  const id = await accountIn(thief, 'Gil')
  await superuser('POST', `/${id}/link-pay`, { pay_customer_id: 'cus_ada' })
  for (
    const { status, body } of [
      await superuser('GET', `/${id}/pay-customer`),
      await client(app, `/shops/${thief}`, machine)('POST', '/pay/key/verify')
    ]
  ) {
    t.match([status, body], [500, {
      statusCode: 500,
      code: 'SHOP_INTERNAL',
      message: /^Internal server error; request id \S+$/
    }])
  }
  t.equal(standIn.requests.length, sent, 'nothing was sent')
  t.match((await client(app, `/shops/${thief}`, machine)('GET', '/pay/status')).body, {
    configured: true,
    readable: false
  }, 'and the status says why')
})

t.test('no secret key shows in a log', async (t) => {
  t.ok(seen.length > 50)
  t.match(seen.join(''), /SHOP_PAY_KEY_UNREADABLE/, 'the log is the one of these requests')
  t.notMatch(seen.join(''), CANARY)
})

t.test('PAY_ROUTES_PUBLIC opens the payment routes of shops, nothing else, and says so', async (t) => {
  const warned: string[] = []
  const log = new Writable({
    write (line, _encoding, done) {
      warned.push(String(line))
      done()
    }
  })
  const open = await build(t, database, idp, {
    settings: { ...settings, PAY_ROUTES_PUBLIC: true },
    logger: { level: 'warn', stream: log }
  })
  t.match(warned.map((line) => JSON.parse(line)), [{ level: 40, msg: /^PAY_ROUTES_PUBLIC is true: anyone can/ }])
  t.notMatch(seen.join(''), /PAY_ROUTES_PUBLIC/, 'by default it is off')

  const anybody = client(open, `/shops/${here}`, {})
  t.equal((await anybody('PUT', '/pay/key', { pay_secret_key: KEY })).status, 200)
  t.strictSame((await anybody('POST', '/pay/key/verify')).body, { valid: true })
  const id = await accountIn(here, 'Hal')
  t.match((await anybody('POST', '/pay/checkout', { order_id: await orderOf(id) })).body, {
    account_id: id,
    created: true
  })
  t.match(await knex('pay_reconcile_audit').where({ account_id: id }), [{ actor: 'anybody' }])
  t.equal((await anybody('DELETE', '/pay/key')).status, 204)
  t.match(await client(open, `/shops/${UNKNOWN}`, {})('GET', '/pay/status'), {
    status: 404,
    body: { code: 'SHOP_NOT_FOUND' }
  })

  await knex('shops').where({ id: here }).update({ status: 'archived' })
  t.equal((await anybody('GET', '/pay/status')).status, 404, 'an archived shop is closed to everybody')
  await knex('shops').where({ id: here }).update({ status: 'active' })

  for (
    const path of [`/shops/${here}/accounts`, `/shops/${here}/orders`, `/shops/${here}/products`, '/admin/accounts']
  ) {
    t.equal((await client(open, '', {})('GET', path)).status, 401, path)
  }
  t.equal((await client(app, `/shops/${here}`, {})('GET', '/pay/status')).status, 401, 'by default they are closed')
})

t.test('a provider that is slow is said to be slow, not unreachable, and the limit is a setting', async (t) => {
  const METRICS_TOKEN = 'metrics-token-of-the-test'
  const hurried = await build(t, database, idp, { settings: { ...settings, PAY_TIMEOUT: 100, METRICS_TOKEN } })
  const id = await createShop(database, 'slow')
  const accountId = await accountIn(id, 'Slow')
  await client(app, '/admin/accounts', admin)('POST', `/${accountId}/link-pay`, { pay_customer_id: 'cus_ada' })
  await client(hurried, `/shops/${id}`, machine)('PUT', '/pay/key', { pay_secret_key: KEY })
  t.teardown(standIn.fault({ kind: 'slow', delay: 2000 }))
  const timeout = {
    status: 502,
    body: { code: 'PAY_RECONCILE_PROVIDER_TIMEOUT', message: 'The payment provider did not respond in time' }
  }
  t.match(await client(hurried, `/shops/${id}`, machine)('POST', '/pay/key/verify'), timeout)
  t.match(await client(hurried, '/admin/accounts', admin)('POST', `/${accountId}/sync-pay`), timeout)
  const outcomes = (await hurried.inject({ url: '/metrics', headers: bearer(METRICS_TOKEN) })).body.match(
    /^pay_provider_requests_total\{[^}]*\} [1-9].*$/gm
  )
  t.ok(
    outcomes !== null && outcomes.every((line) => line.includes('outcome="PAY_RECONCILE_PROVIDER_TIMEOUT"')),
    String(outcomes)
  )
})
