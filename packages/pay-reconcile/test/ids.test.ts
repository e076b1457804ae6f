import t, { type Test } from 'tap'
import { randomUUID } from 'node:crypto'
import { csv } from '../src/csv/index.ts'
import { dropPayReconcileTables, forgetAccounts } from '../src/knex/index.ts'
import { start, untilOver } from './bulk.ts'
import { engines, pglite } from './database.ts'
import { build, namespaceFor, shopKey, type World } from './world.ts'

interface Ids {
  readonly type: string
  readonly shops: readonly [string, string]
  /** Of accounts, in the order of the column. */
  readonly accounts: readonly [string, string, string, string]
  /** That no account has; the column could not hold most of them. */
  readonly unknown: readonly string[]
}

const uuids = [1, 2, 9, 10].map((n) =>
  `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
) as unknown as Ids['accounts']
const never = ['0', 'no-id', 'a\0b', "' or true --", '9'.repeat(40), '1.5', '%']

const kinds: readonly Ids[] = [
  {
    type: 'text collate "C"',
    shops: ['shop/ä', 'Shop 2'],
    accounts: ['Acct 10', 'acct_10', "acct_9'?", 'acct_9/ü'],
    unknown: [...never, 'acct_9/Ü', 'acct_9']
  },
  {
    type: 'varchar(8)',
    shops: ['a', 'b'],
    accounts: ['10', '2', 'abcdefgh', 'abcdefgi'],
    unknown: [...never, 'abcdefghi']
  },
  {
    type: 'char(4)',
    shops: ['s001', 's002'],
    accounts: ['a001', 'a002', 'a003', 'a010'],
    unknown: [...never, 'a0021']
  },
  {
    type: 'bigint',
    shops: ['7', '70'],
    accounts: ['-2', '9', '10', '9007199254740993'],
    unknown: [...never, '09', '+9', ' 9', '9223372036854775808', '9007199254740992']
  },
  {
    type: 'integer',
    shops: ['7', '70'],
    accounts: ['1', '9', '10', '2147483647'],
    unknown: [...never, '2147483648', '1e3', '01']
  },
  {
    type: 'uuid',
    shops: [randomUUID(), randomUUID()],
    accounts: uuids,
    unknown: [...never, randomUUID(), `urn:uuid:${uuids[0]}`, uuids[0].replaceAll('-', ''), `{${uuids[0]}}`]
  }
]

const notFound = {
  statusCode: 404,
  code: 'PAY_RECONCILE_ACCOUNT_NOT_FOUND',
  error: 'Not Found',
  message: 'No such account'
}
const path = (id: string) => `/admin/accounts/${encodeURIComponent(id)}`
const filter = (value: object) => `/admin/accounts?sort=id&filter=${encodeURIComponent(JSON.stringify(value))}`
/** Pages of two accounts. */
const options = { perSecond: 2, accountsAtOnce: 1, extensions: [csv()] }

for (const engine of engines) {
  for (const ids of kinds) {
    // The others differ in what a column holds, and not in how an engine compares it.
    if (engine !== pglite && !['text collate "C"', 'bigint'].includes(ids.type)) continue
    t.test(`ids of the type ${ids.type} on ${engine.name}`, { skip: engine.skip }, async (t) => {
      const world = await build(t, await engine.connect(t, 'jsonb', ids.type), {
        ...options,
        ...namespaceFor(ids.type)
      })
      await everyRoute(t, world, ids)
    })
  }
}

async function everyRoute (
  t: Test,
  world: World,
  { shops: [shopId, otherShop], accounts, unknown }: Ids
): Promise<void> {
  const { call, app, addShop, addAccount, audit, detailsOf, standIn } = world
  const { customers } = standIn.account(shopKey)
  await addShop({ id: shopId })
  await addShop({ id: otherShop })
  const other = accounts[3]
  for (const id of [...accounts].reverse()) await addAccount(id === other ? otherShop : shopId, {}, { id })
  const listed = async (url: string): Promise<string[]> => {
    const response = await call('GET', url)
    t.equal(response.statusCode, 200, url)
    return response.json().map(({ id }: { id: string }) => id)
  }

  t.strictSame(await listed('/admin/accounts?sort=id'), accounts, 'a list is in the order of the column')
  t.strictSame(await listed('/admin/accounts?sort=-id&skip=1&limit=2'), [accounts[2], accounts[1]])
  t.strictSame(
    await listed(filter({ id: [...unknown.filter((id) => !id.includes('\0')), accounts[2], accounts[0]] })),
    [accounts[0], accounts[2]]
  )
  t.strictSame(await listed(filter({ id: 'no-id' })), [])
  t.strictSame(await listed(filter({ shop_id: [otherShop, 'no-id'] })), [other])
  t.strictSame(await listed(`/admin/accounts?sort=id&shop_id=${encodeURIComponent(shopId)}`), accounts.slice(0, 3))
  for (
    const [query, field] of [
      ['?shop_id=no-id', 'shop_id'],
      ['?shop_id=', 'shop_id'],
      ['?filter={"shop_id":"no-id"}', 'filter/shop_id']
    ] as const
  ) {
    for (const list of field === 'shop_id' ? [''] : ['', '/audit', '/reconcile']) {
      t.match((await call('GET', `/admin/accounts${list}${query}`)).json(), {
        statusCode: 422,
        code: 'PAY_RECONCILE_VALIDATION',
        field,
        message: `${field.replace('/', '.')} must be the id of a shop`
      }, `${list}${query}`)
    }
  }
  t.match((await call('GET', '/admin/accounts/audit?format=csv&filter={"shop_id":"no-id"}')).statusCode, 422)
  t.strictSame(
    (await call('GET', `/admin/accounts/audit?filter={"shop_id":${JSON.stringify(encodeURIComponent(otherShop))}}`))
      .json(),
    [],
    'a shop without records has an empty list'
  )

  const account = {
    id: other,
    shop_id: otherShop,
    shop_name: 'Shop A',
    name: 'Ada',
    hash_name: null,
    details: {},
    pay_customer_id: null,
    pay_synced_at: null
  }
  t.strictSame((await call('GET', path(other))).json(), account)
  customers.set('cus_1', { id: 'cus_1', object: 'customer' })
  const details = { pay_customer_id: 'cus_1' }
  t.strictSame((await call('POST', `${path(other)}/link-pay`, details)).json(), { ...account, ...details, details })
  t.match((await call('GET', `${path(other)}/pay-customer`)).json(), { account_id: other, pay_customer_id: 'cus_1' })
  t.match((await call('POST', `${path(other)}/sync-pay`)).json(), { id: other, pay_customer: { id: 'cus_1' } })
  t.match(await audit(other), [{ action: 'link', shop_id: otherShop }, { action: 'sync' }])
  const { customerId } = await app.payReconcile.ensureCustomer({ accountId: accounts[0], actor: 'buyer' })
  t.match(customers.get(customerId), { metadata: { account_id: accounts[0] } })
  t.match(await detailsOf(accounts[0]), { pay_customer_id: customerId })

  for (const id of unknown) t.strictSame((await call('GET', path(id))).json(), notFound, `${path(id)} gets 404`)
  for (const id of ['no-id', 'a\0b']) {
    for (
      const [method, route, payload] of [
        ['GET', '/pay-customer', undefined],
        ['POST', '/sync-pay', undefined],
        ['POST', '/link-pay', details],
        ['POST', '/unlink-pay', undefined]
      ] as const
    ) {
      const response = await call(method, path(id) + route, payload)
      t.strictSame([response.statusCode, response.json()], [404, notFound], `${method} ${path(id)}${route} gets 404`)
    }
    await t.rejects(app.payReconcile.ensureCustomer({ accountId: id, actor: 'buyer' }), { code: notFound.code })
    const run = await call('POST', '/admin/accounts/reconcile', { mode: 'check', shop_id: id })
    t.match([run.statusCode, run.json()], [404, { code: 'PAY_RECONCILE_NOT_FOUND' }])
  }
  for (const method of ['GET', 'DELETE'] as const) {
    t.match((await call(method, '/admin/accounts/reconcile/no-id')).json(), {
      statusCode: 404,
      code: 'PAY_RECONCILE_NOT_FOUND'
    })
  }

  await call('POST', `${path(accounts[0])}/link-pay`, { pay_customer_id: 'cus_1' })
  const changed = await finished(world, { mode: 'sync', dry_run: false, shop_id: shopId })
  t.match(
    changed,
    { shop_id: shopId, status: 'done', processed: 3, outcomes: { synced: 1, skipped: 2 } },
    'a run scans one page after another'
  )
  t.strictSame(changed.items.map((item: { account_id: string }) => item.account_id).sort(), accounts.slice(0, 3).sort())
  t.equal((await audit(accounts[0])).length, 3)
  t.match(await finished(world, { mode: 'check' }), { status: 'done', processed: 4, shops: { total: 2, stopped: [] } })
}

async function finished (world: World, body: object) {
  const id = await start(world, body)
  await untilOver(world, id)
  return (await world.call('GET', `/admin/accounts/reconcile/${id}`)).json()
}

t.test('a UUID in capitals is the same id', async (t) => {
  const world = await build(t, await pglite.connect(t))
  const { app, call, addShop, addAccount, standIn } = world
  const shopId = await addShop()
  const accountId = await addAccount(shopId, {})
  t.equal((await call('GET', path(accountId.toUpperCase()))).json().id, accountId)
  t.match((await call('GET', filter({ id: accountId.toUpperCase() }))).json(), [{ id: accountId }])
  await app.payReconcile.ensureCustomer({ accountId: accountId.toUpperCase(), actor: 'buyer' })
  t.match([...standIn.account(shopKey).customers.values()], [{ metadata: { account_id: accountId } }])
  t.match(await finished(world, { mode: 'check', shop_id: shopId.toUpperCase() }), { shop_id: shopId })

  const sync = await finished(world, { mode: 'sync', dry_run: false, accounts: [accountId.toUpperCase()] })
  const [ACCOUNT, SHOP] = [accountId.toUpperCase(), shopId.toUpperCase()]
  for (
    const url of [
      `/admin/accounts/audit?filter=${JSON.stringify({ account_id: ACCOUNT })}`,
      `/admin/accounts/audit?filter=${JSON.stringify({ account_id: [ACCOUNT, randomUUID()], shop_id: SHOP })}`,
      `/admin/accounts/reconcile?filter=${JSON.stringify({ shop_id: SHOP })}`,
      `/admin/accounts?shop_id=${SHOP}`
    ]
  ) t.ok((await call('GET', encodeURI(url))).json().length > 0, url)
  for (const query of [`shop_id=${SHOP}`, `filter=${JSON.stringify({ account_id: ACCOUNT, shop_id: SHOP })}`]) {
    t.match((await call('GET', encodeURI(`/admin/accounts/reconcile/${sync.id}?${query}`))).json().items, [{
      account_id: accountId
    }], query)
  }
  await forgetAccounts(world.knex, { accountId: ACCOUNT })
  t.strictSame(await world.knex('pay_reconcile_items').where('account_id', accountId), [], 'nor is it left behind')
})

for (const engine of engines) {
  t.test(`no answer holds a statement of the database, on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const knex = await engine.connect(t)
    const world = await build(t, knex)
    const { call, logs } = world
    const accountId = await world.addAccount(await world.addShop())
    await dropPayReconcileTables(knex)
    await knex.raw('alter table accounts rename to people')
    const failed = {
      statusCode: 500,
      code: 'PAY_RECONCILE_STORE_FAILED',
      error: 'Internal Server Error',
      message: 'Accounts, shops or runs could not be read or stored'
    }
    for (
      const [method, url, payload] of [
        ['GET', ''],
        ['GET', '?filter={"q":"a"}'],
        ['GET', `/${accountId}`],
        ['GET', `/${accountId}/pay-customer`],
        ['POST', `/${accountId}/sync-pay`],
        ['POST', `/${accountId}/link-pay`, { pay_customer_id: 'cus_1' }],
        ['POST', `/${accountId}/unlink-pay`],
        ['GET', '/audit'],
        ['GET', `/audit/${accountId}/snapshot`],
        ['POST', '/reconcile', { mode: 'link', accept: ['1'] }],
        ['GET', `/unlinked-customers?shop_id=${accountId}`],
        ['POST', '/reconcile', { mode: 'check' }],
        ['GET', '/reconcile'],
        ['GET', `/reconcile/${accountId}`],
        ['DELETE', `/reconcile/${accountId}`]
      ] as const
    ) {
      const response = await call(method, `/admin/accounts${url}`, payload)
      t.strictSame([response.statusCode, response.json()], [500, failed], `${method} ${url}`)
    }
    t.match(logs(), /select .*accounts/, 'the log has the statement')
    const error = await world.app.payReconcile.ensureCustomer({ accountId, actor: 'buyer' }).then(
      () => undefined,
      (thrown) => thrown
    )
    t.match(
      error,
      { code: failed.code, message: failed.message, cause: { code: '42P01' } },
      'nor does an error that a host may answer with'
    )
  })
}
