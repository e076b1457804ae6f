import t, { type Test } from 'tap'
import { randomUUID } from 'node:crypto'
import { knexAccountStore } from '../src/knex/index.ts'
import { untilOver } from './bulk.ts'
import { engines } from './database.ts'
import { build, host, type World } from './world.ts'

const fast = {
  perSecond: 2000,
  accountsAtOnce: 4,
  leaseDuration: 60_000,
  callTimeout: 20_000,
  attemptTimeout: 10_000,
  breakDuration: 50
}

/** Ids in a known order, since a run goes by id. */
const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

async function finished (world: World, runId: string) {
  await untilOver(world, runId)
  return (await world.call('GET', `/admin/accounts/reconcile/${runId}`)).json()
}

async function runOver (world: World, body: object) {
  const response = await world.call('POST', '/admin/accounts/reconcile', body)
  return finished(world, response.json().id)
}

/** The lines of the log with this message. */
const logged = ({ logs }: World, message: string): Array<Record<string, unknown>> =>
  logs().split('\n').filter((line) => line.includes(`"msg":"${message}"`)).map((line) => JSON.parse(line))

const item = (accountId: string, shopId: string, fields: object) => ({
  account_id: accountId,
  account_name: 'Ada',
  shop_id: shopId,
  shop_name: 'Shop A',
  before: null,
  after: null,
  reason: null,
  differences: [],
  fields: [],
  candidates: [],
  error_code: null,
  ...fields
})

const candidate = (customerId: string, match: string, facts: object = {}) => ({
  pay_customer_id: customerId,
  match,
  name: null,
  email: null,
  metadata: {},
  linked: false,
  ...facts
})

const withoutIds = (items: Array<Record<string, unknown>>) =>
  items.map(({ id: _, provider_request_id: __, ...rest }) => rest)

/** What every account of the shop has in its details. */
async function allDetails ({ knex }: World, shopId: string): Promise<unknown[]> {
  return (await knex('accounts').where('shop_id', shopId).orderBy('id').select('details')).map(({ details }) => details)
}

for (const engine of engines) {
  t.test(`on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const knex = await engine.connect(t)
    const world = await build(t, knex, fast)
    await t.test('check', (t) => checking(t, world))
    await t.test('link', (t) => linking(t, world))
    await t.test('link reads what a search shows', (t) => linkingByHints(t, world))
    await t.test('link works without a search', (t) => linkingWithoutSearch(t, world))
    await t.test('sync', (t) => syncing(t, world))
    await t.test('shops apart', (t) => shopsApart(t, world))
    await t.test('who may go on', (t) => goingOn(t, world))
    await t.test('what fails alone', (t) => failingAlone(t, world))
    await t.test('requests', (t) => requests(t, world))
    await t.test('one run per shop', (t) => oneRunPerShop(t, world))
    await t.test('lists of runs are filtered by every field and sorted by those of one value', (t) =>
      filtering(t, world))
  })
}

async function checking (t: Test, world: World): Promise<void> {
  const key = 'sk_test_check'
  world.standIn.addAccount(key, {
    customers: [
      { id: 'cus_same', name: 'Same', created: 1 },
      { id: 'cus_new', created: 1 },
      { id: 'cus_gone', deleted: true },
      { id: 'cus_diff', name: 'After', email: 'after@example.org', created: 1 },
      { id: 'cus_twice', created: 1 }
    ]
  })
  const { customers } = world.standIn.account(key)
  const shopId = await world.addShop({ key })
  const snapshot = (id: string, change = {}) => ({
    pay_customer_id: id,
    pay_synced_at: '2026-01-01T00:00:00.000Z',
    pay_customer: { ...customers.get(id), ...change }
  })
  const accounts: readonly object[] = [
    snapshot('cus_same'),
    { pay_customer_id: 'cus_new' },
    snapshot('cus_gone', { deleted: undefined, name: 'Was here' }),
    snapshot('cus_diff', { name: 'Before', email: null }),
    snapshot('cus_twice'),
    snapshot('cus_twice'),
    { pay_customer_id: 'cus_nowhere' },
    {}
  ]
  for (const [i, details] of accounts.entries()) await world.addAccount(shopId, details, { id: id(100 + i) })
  const before = await allDetails(world, shopId)

  const run = await runOver(world, { mode: 'check', shop_id: shopId, dry_run: false })
  const { id: runId, started_at: startedAt, finished_at: finishedAt, items, ...rest } = run
  t.match([startedAt, finishedAt], [/^\d{4}-.*Z$/, /^\d{4}-.*Z$/])
  t.strictSame(rest, {
    mode: 'check',
    dry_run: false,
    shop_id: shopId,
    status: 'done',
    cancel_requested: false,
    actor: 'user-1',
    scheduled_for: null,
    total: 8,
    processed: 8,
    outcomes: { unchanged: 1, different: 7 },
    differences: { missing: 1, not_found: 1, deleted: 1, duplicate: 2, never_synced: 1, differs: 2 },
    selection: {},
    shops: { total: 1, finished: 1, stopped: [] },
    items_count: 7
  }, 'the report counts differences by kind')
  const different = (n: number, customerId: string | null, fields: object) =>
    item(id(n), shopId, { outcome: 'different', before: customerId, after: customerId, ...fields })
  t.strictSame(withoutIds(items), [
    different(101, 'cus_new', { differences: ['never_synced'] }),
    different(102, 'cus_gone', { differences: ['deleted', 'differs'], fields: [{ field: 'deleted', live: true }] }),
    different(103, 'cus_diff', {
      differences: ['differs'],
      fields: [
        { field: 'email', stored: null, live: 'after@example.org' },
        { field: 'name', stored: 'Before', live: 'After' }
      ]
    }),
    different(104, 'cus_twice', { differences: ['duplicate'] }),
    different(105, 'cus_twice', { differences: ['duplicate'] }),
    different(106, 'cus_nowhere', { differences: ['not_found'] }),
    different(107, null, { differences: ['missing'] })
  ], 'the items say which account, which kind and which fields')
  t.strictSame(await allDetails(world, shopId), before, 'a check changes nothing, whatever dry_run says')

  const page = async (query: string) => {
    const { items: found, items_count: count } =
      (await world.call('GET', `/admin/accounts/reconcile/${runId}?${query}`)).json()
    return [found.map((one: { account_id: string }) => Number(one.account_id.slice(-3))), count]
  }
  t.strictSame(await page('skip=5&limit=1'), [[106], 7], 'items come in pages')
  t.strictSame(await page('skip=1000000'), [[], 7])
  t.strictSame(await page('outcome=failed'), [[], 0], 'and by outcome')
  t.strictSame(await page('differences=differs'), [[102, 103], 2], 'by difference')
  t.strictSame(await page(`shop_id=${shopId}&limit=2`), [[101, 102], 7], 'by shop')
  t.match((await world.call('GET', `/admin/accounts/reconcile/${runId}?shop_id=' or true --`)).json(), {
    statusCode: 422,
    field: 'shop_id'
  })
  const filter = (value: object) => `filter=${encodeURIComponent(JSON.stringify(value))}`
  t.strictSame(
    await page(filter({ differences: ['deleted', 'missing'], outcome: 'different' })),
    [[102, 107], 2],
    'by several'
  )
  t.strictSame(await page(filter({ account_id: [id(103), "') or ('1'='1"] })), [[103], 1])
  t.strictSame(await page(`differences=missing&${filter({ differences: ['missing', 'differs'] })}`), [[107], 1])

  // 103 differs in another way, 105 is no duplicate any more and so neither is 104, 106 and 107 stay as they were.
  customers.set('cus_diff', { ...customers.get('cus_diff')!, name: 'Later' })
  await world.knex('accounts').where('id', id(105)).update({ details: '{}', name: 'Renamed' })
  await world.knex('accounts').where('id', id(106)).update({ name: 'Renamed' })
  const later = await runOver(world, { mode: 'check', shop_id: shopId })
  const since = async (run: string, earlier: string) => {
    const response = await world.call('GET', `/admin/accounts/reconcile/${run}?since=${earlier}&limit=2`)
    t.equal(response.statusCode, 200)
    return [
      response.json().items.map((one: { account_id: string }) => Number(one.account_id.slice(-3))),
      response.json().items_count
    ]
  }
  t.strictSame(await since(later.id, runId), [[103, 105], 2], 'what is new since an earlier run')
  t.strictSame(await since(runId, later.id), [[103, 104], 3], 'the other way round: what is gone')
  t.strictSame(await since(runId, runId.toUpperCase()), [[], 0])
  await world.knex('accounts').where('id', id(100)).update({
    details: JSON.stringify({
      ...snapshot('cus_same'),
      pay_customer: { ...customers.get('cus_same')!, object: 'person', email: null, sources: [] }
    })
  })
  const check = async (on: World) =>
    (await runOver(on, { mode: 'check', shop_id: shopId })).items
      .filter((one: { account_id: string }) => one.account_id === id(100)).flatMap((one: { fields: unknown[] }) =>
        one.fields
      )
  t.strictSame(await check(world), [], 'a field that another version of the API has is no difference')
  const strict = await host(t, world.knex, world.standIn, { ...fast, comparedFields: ['object', 'sources'] })
  t.strictSame(await check(strict), [
    { field: 'object', stored: 'person', live: 'customer' },
    { field: 'sources', stored: [] }
  ], 'unless the option says so')

  const other = await runOver(world, { mode: 'sync', shop_id: shopId })
  for (const earlier of [other.id, randomUUID(), 'x', "' or true --"]) {
    const response = await world.call('GET', `/admin/accounts/reconcile/${runId}?since=${encodeURIComponent(earlier)}`)
    t.match([response.statusCode, response.json()], [422, { field: 'since' }], earlier)
  }
}

async function linking (t: Test, world: World): Promise<void> {
  const key = 'sk_test_link'
  const of = (n: number) => ({ metadata: { account_id: id(n) } })
  world.standIn.addAccount(key, {
    customers: [
      { id: 'cus_meta', ...of(200) },
      { id: 'cus_two_a', ...of(201) },
      { id: 'cus_two_b', ...of(201) },
      { id: 'cus_mail', name: "O'Hara", email: "o'hara@example.org" },
      { id: 'cus_taken', ...of(204) },
      { id: 'cus_linked' }
    ]
  })
  const shopId = await world.addShop({ key })
  const accounts: readonly object[] = [
    { tier: 'gold' },
    {},
    { email: " O'Hara@Example.org\u00a0" },
    { email: 'unknown@example.org' },
    {},
    { pay_customer_id: 'cus_taken' },
    { pay_customer_id: 'cus_linked' }
  ]
  for (const [i, details] of accounts.entries()) await world.addAccount(shopId, details, { id: id(200 + i) })
  const before = await allDetails(world, shopId)
  const expected = [
    item(id(200), shopId, { outcome: 'linked', after: 'cus_meta', reason: 'metadata' }),
    item(id(201), shopId, {
      outcome: 'ambiguous',
      reason: 'metadata',
      candidates: [candidate('cus_two_a', 'metadata', of(201)), candidate('cus_two_b', 'metadata', of(201))]
    }),
    item(id(202), shopId, {
      outcome: 'suggested',
      reason: 'email',
      candidates: [candidate('cus_mail', 'email', { name: "O'Hara", email: "o'hara@example.org" })]
    }),
    item(id(203), shopId, { outcome: 'unmatched' }),
    item(id(204), shopId, {
      outcome: 'ambiguous',
      reason: 'linked_to_another_account',
      candidates: [candidate('cus_taken', 'metadata', { ...of(204), linked: true })]
    })
  ]

  const dry = await runOver(world, { mode: 'link', shop_id: shopId })
  t.equal(dry.dry_run, true, 'dry_run is the default')
  t.strictSame(withoutIds(dry.items), expected)
  t.strictSame(await allDetails(world, shopId), before, 'a dry run changes nothing')
  t.strictSame(await world.audit(id(200)), [])

  const real = await runOver(world, { mode: 'link', shop_id: shopId, dry_run: false })
  t.strictSame(withoutIds(real.items), expected, 'the real run finds the same')
  t.strictSame(real.outcomes, { linked: 1, ambiguous: 2, suggested: 1, unmatched: 1, unchanged: 2 })
  t.strictSame(
    await allDetails(world, shopId),
    [{ tier: 'gold', pay_customer_id: 'cus_meta' }, ...before.slice(1)],
    "only the account that a customer's metadata name is linked"
  )
  const [row] = await world.audit(id(200))
  t.match(row, {
    actor: 'user-1',
    action: 'link',
    run_id: real.id,
    after: { pay_customer_id: 'cus_meta' },
    provider_request_id: /^req_/
  })
}

async function linkingByHints (t: Test, world: World): Promise<void> {
  const key = 'sk_test_hints'
  const shopId = await world.addShop({ key })
  for (let n = 250; n < 254; n++) {
    await world.addAccount(shopId, { email: 'hints@example.org' }, { id: id(n), name: 'Hinted' })
  }
  const { customers, unsearchable } = world.standIn.addAccount(key)
  const add = (customerId: string, seen: number, now: object | undefined) => {
    const customer = { id: customerId, object: 'customer', metadata: { account_id: id(seen) } } as const
    unsearchable.set(customerId, { until: Date.now() + 3_600_000, before: customer })
    if (now) customers.set(customerId, { ...customer, ...now })
  }
  add('cus_dead', 250, { metadata: {}, deleted: true })
  add('cus_gone', 251, { deleted: true })
  add('cus_live', 251, {})
  add('cus_moved', 252, { metadata: { account_id: id(253) } })
  // A search shows what it can find.
  customers.set('cus_unknown', { id: 'cus_unknown', object: 'customer', metadata: {} })
  const run = await runOver(world, { mode: 'link', shop_id: shopId, dry_run: false })
  t.strictSame(run.items.map(({ outcome, after }: Record<string, unknown>) => [outcome, after]), [
    ['unmatched', null],
    ['linked', 'cus_live'],
    ['unmatched', null],
    ['unmatched', null]
  ])
  t.strictSame(
    (await allDetails(world, shopId) as Array<Record<string, unknown>>).map((details) => details.pay_customer_id),
    [undefined, 'cus_live', undefined, undefined]
  )
  // Deleted after the last reading, whether before the link was stored or after it: a check says so.
  customers.set('cus_live', { id: 'cus_live', object: 'customer', deleted: true })
  const check = await runOver(world, { mode: 'check', shop_id: shopId })
  t.match([
    check.differences.deleted,
    check.items.find((found: Record<string, unknown>) => found.account_id === id(251))
  ], [1, { outcome: 'different', differences: ['deleted', 'never_synced'] }])
}

async function linkingWithoutSearch (t: Test, world: World): Promise<void> {
  const key = 'sk_test_nosearch'
  world.standIn.addAccount(key, {
    customers: [
      { id: 'cus_named', email: 'named@example.org', metadata: { account_id: id(260) } },
      { id: 'cus_namesake', email: 'named@example.org' },
      { id: 'cus_mail', email: 'mail@example.org' },
      { id: 'cus_shared', email: 'shared@example.org' }
    ]
  })
  const [shopId, sharing] = [await world.addShop({ key }), await world.addShop({ key })]
  for (
    const [i, details] of [
      { email: 'named@example.org' },
      { email: 'mail@example.org' },
      { email: 'shared@example.org' },
      { email: 'none@example.org' },
      {}
    ].entries()
  ) {
    await world.addAccount(shopId, details, { id: id(260 + i) })
  }
  await world.addAccount(sharing, { pay_customer_id: 'cus_shared' })
  const end = world.standIn.fault({
    kind: 'answer',
    status: 400,
    secretKey: key,
    path: '/search',
    body: { error: { type: 'invalid_request_error' } }
  })
  const run = await runOver(world, { mode: 'link', shop_id: shopId, dry_run: false })
  end()
  t.strictSame(
    run.items.map((
      { outcome, after, reason, candidates }: Record<string, unknown>
    ) => [
      outcome,
      after,
      reason,
      (candidates as Array<Record<string, unknown>>).map((one) => [one.pay_customer_id, one.linked])
    ]),
    [
      ['linked', 'cus_named', 'metadata', []],
      ['suggested', null, 'email', [['cus_mail', false]]],
      ['suggested', null, 'email', [['cus_shared', true]]],
      ['unmatched', null, 'search_refused', []],
      ['unmatched', null, 'search_refused', []]
    ],
    'by e-mail address; a customer of another shop with the same key is taken'
  )
  const accepted = await runOver(world, { mode: 'link', dry_run: false, shop_id: shopId, accept: [run.items[2].id] })
  t.match(accepted.items, [{ outcome: 'skipped', reason: 'linked_to_another_account' }])
}

async function syncing (t: Test, world: World): Promise<void> {
  const key = 'sk_test_sync'
  world.standIn.addAccount(key, { customers: [{ id: 'cus_1', name: 'One' }, { id: 'cus_gone', deleted: true }] })
  const shopId = await world.addShop({ key })
  for (
    const [i, details] of [{ pay_customer_id: 'cus_1', tier: 'gold' }, { pay_customer_id: 'cus_gone' }, {
      pay_customer_id: 'cus_nowhere'
    }, {}].entries()
  ) {
    await world.addAccount(shopId, details, { id: id(300 + i) })
  }
  const before = await allDetails(world, shopId)
  const same = (customerId: string | null, fields: object) => ({ before: customerId, after: customerId, ...fields })
  const expected = [
    item(id(300), shopId, same('cus_1', { outcome: 'synced', differences: ['never_synced'] })),
    item(id(301), shopId, same('cus_gone', { outcome: 'synced', differences: ['deleted', 'never_synced'] })),
    item(
      id(302),
      shopId,
      same('cus_nowhere', {
        outcome: 'failed',
        differences: ['not_found'],
        error_code: 'PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND'
      })
    ),
    item(id(303), shopId, { outcome: 'skipped', reason: 'no_customer_id' })
  ]
  const dry = await runOver(world, { mode: 'sync', shop_id: shopId })
  t.strictSame(withoutIds(dry.items), expected)
  t.strictSame(await allDetails(world, shopId), before, 'a dry run changes nothing')

  const real = await runOver(world, { mode: 'sync', shop_id: shopId, dry_run: false })
  t.strictSame(withoutIds(real.items), expected)
  const [first, gone, ...others] = await allDetails(world, shopId) as Array<Record<string, unknown>>
  t.match(first, {
    pay_customer_id: 'cus_1',
    tier: 'gold',
    pay_customer: { id: 'cus_1', name: 'One' },
    pay_synced_at: /Z$/
  })
  t.match(gone?.pay_customer, { id: 'cus_gone', object: 'customer', deleted: true })
  t.strictSame(others, before.slice(2))
}

async function shopsApart (t: Test, world: World): Promise<void> {
  await world.knex('accounts').delete()
  await world.knex('shops').delete()
  world.standIn.addAccount('sk_test_fine', { customers: [{ id: 'cus_1' }] })
  world.standIn.addAccount('rk_test_narrow', { permissions: [] })
  world.standIn.addAccount('sk_test_down', { customers: [{ id: 'cus_1' }] })
  world.standIn.addAccount('sk_test_busy', { customers: [{ id: 'cus_1' }] })
  const shops: Record<string, string> = {}
  for (const key of ['sk_test_fine', 'sk_test_wrong', 'rk_test_narrow', 'sk_test_down', 'sk_test_busy', null]) {
    shops[String(key)] = await world.addShop({ key })
    for (let i = 0; i < 20; i++) await world.addAccount(String(shops[String(key)]), { pay_customer_id: 'cus_1' })
  }
  await world.addShop({ key: null })
  world.standIn.fault({ kind: 'answer', status: 500, secretKey: 'sk_test_down' })
  world.standIn.fault({
    kind: 'answer',
    status: 429,
    secretKey: 'sk_test_busy',
    headers: { 'retry-after': '0.05' },
    times: 10
  })

  const run = await runOver(world, { mode: 'sync', dry_run: false })
  const reasons = Object.fromEntries(
    run.shops.stopped.map(({ shop_id: shop, reason }: Record<string, string>) => [shop, reason])
  )
  t.strictSame(reasons, {
    [String(shops.sk_test_wrong)]: 'PAY_RECONCILE_PROVIDER_KEY_REJECTED',
    [String(shops.rk_test_narrow)]: 'PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN',
    [String(shops.sk_test_down)]: 'PAY_RECONCILE_PROVIDER_UNAVAILABLE',
    [String(shops.null)]: 'PAY_RECONCILE_NO_SECRET_KEY'
  }, 'a shop whose key is wrong, or whose provider is down, stops alone')
  t.equal(run.status, 'done')
  t.equal(run.outcomes.synced, 40, 'all accounts of the others are synced, also where the provider asked to wait')
  t.match(run.shops, { total: 6, finished: 6 }, 'a shop without accounts is left out')
  const asked = world.standIn.requests.filter(({ secretKey }) => secretKey === 'sk_test_wrong').length
  t.ok(asked <= fast.accountsAtOnce, `a wrong key is not tried for every account (${asked} requests)`)
}

async function goingOn (t: Test, world: World): Promise<void> {
  await world.knex('accounts').delete()
  await world.knex('shops').delete()
  const key = 'sk_test_going'
  world.standIn.addAccount(key, { customers: [{ id: 'cus_1', created: 1 }] })
  const shops = [await world.addShop({ key }), await world.addShop({ key })].sort()
  // So few that they are read one by one.
  for (const shopId of shops) for (let n = 0; n < 9; n++) await world.addAccount(shopId, { pay_customer_id: 'cus_1' })
  const asked: object[] = []
  const answers = [
    () => {
      throw new RangeError('not known right now')
    },
    () => true,
    () => false,
    () => false
  ]
  const other = await host(t, world.knex, world.standIn, {
    ...fast,
    perSecond: 6,
    shopsAtOnce: 1,
    leaseDuration: 1000,
    actor: () => 'user-7',
    mayContinue: async (run) => {
      asked.push(run)
      return answers.shift()!()
    }
  })

  const dry = await runOver(other, { mode: 'sync' })
  t.match(dry, { status: 'done', processed: 18, shops: { stopped: [] } }, 'a dry run goes on')
  t.strictSame(asked, [])

  const run = await runOver(other, { mode: 'sync', dry_run: false })
  t.strictSame(asked, Array(4).fill({ id: run.id, actor: 'user-7' }), 'before each page, and again where it failed')
  t.match(logged(other, 'reconciliation interrupted'), [{
    level: 50,
    runId: run.id,
    err: { message: 'not known right now' }
  }])
  t.match(run, { status: 'done', processed: 6, outcomes: { synced: 6 } }, 'after the page in work nothing is changed')
  t.strictSame(
    run.shops.stopped.map(({ shop_id: shop, reason }: Record<string, string>) => [shop, reason]).sort(),
    shops.map((shop) => [shop, 'PAY_RECONCILE_RUN_FORBIDDEN'])
  )
  t.equal(
    (await allDetails(world, shops[0]!)).concat(await allDetails(world, shops[1]!)).filter((details) =>
      'pay_synced_at' in (details as object)
    ).length,
    6
  )
}

async function failingAlone (t: Test, world: World): Promise<void> {
  const key = 'sk_test_alone'
  const shopId = await world.addShop({ key })
  const [list, fine] = [await world.addAccount(shopId, [1]), await world.addAccount(shopId, {})]
  world.standIn.addAccount(key, {
    customers: [{ id: 'cus_list', metadata: { account_id: list } }, { id: 'cus_fine', metadata: { account_id: fine } }]
  })
  const run = await runOver(world, { mode: 'link', shop_id: shopId, dry_run: false })
  t.match(
    run,
    { status: 'done', outcomes: { linked: 1, failed: 1 }, shops: { stopped: [] } },
    'an account that cannot be linked fails alone'
  )
  const failed = run.items.find(({ outcome }: { outcome: string }) => outcome === 'failed')
  t.match(failed, { account_id: list, error_code: 'PAY_RECONCILE_DETAILS_NOT_OBJECT' })

  const accounts = knexAccountStore(world.knex, {
    openKey: () => {
      throw new RangeError('sealed with another secret')
    }
  })
  const other = await host(t, world.knex, world.standIn, { ...fast, accounts })
  const sealed = await runOver(other, { mode: 'link', shop_id: shopId })
  t.match(
    sealed.shops.stopped,
    [{ shop_id: shopId, reason: 'PAY_RECONCILE_STORE_FAILED' }],
    'a shop whose key cannot be opened stops'
  )
  t.match(
    logged(other, 'the secret key of the shop could not be read'),
    [{ level: 50, shopId, runId: sealed.id }],
    'and the log says where'
  )
  t.match(other.logs(), 'sealed with another secret', 'and why')

  const failing = await host(t, world.knex, world.standIn, {
    ...fast,
    accounts: { ...knexAccountStore(world.knex), link: () => Promise.reject(new RangeError('cannot be stored')) }
  })
  await world.knex('accounts').where('id', fine).update({ details: '{}' })
  const stored = await runOver(failing, { mode: 'link', shop_id: shopId, dry_run: false })
  t.match(stored, {
    status: 'done',
    outcomes: { failed: 2 },
    items: [{ error_code: 'PAY_RECONCILE_STORE_FAILED' }, {}]
  })
  const failures = logged(failing, 'the account was not reconciled')
  t.strictSame(failures.map(({ accountId }) => accountId).sort(), [list, fine].sort())
  t.match(failures, Array(2).fill({ level: 50, runId: stored.id, err: { message: 'cannot be stored' } }))
}

async function requests (t: Test, world: World): Promise<void> {
  const unknown = randomUUID()
  for (
    const [method, url, payload, status, code, message] of [
      ['POST', '', { mode: 'sync', shop_id: unknown }, 404, 'PAY_RECONCILE_NOT_FOUND'],
      [
        'POST',
        '',
        { mode: 'sync', dry_run: 'false' },
        422,
        'PAY_RECONCILE_VALIDATION',
        'body/dry_run: Expected true or false'
      ],
      ...[{ mode: 'everything' }, { mode: 'sync', dryrun: false }, undefined].map((body) =>
        ['POST', '', body, 422, 'PAY_RECONCILE_VALIDATION'] as const
      ),
      ...[
        '?status=odd',
        '?status=done&status=running',
        '?state=done',
        '?filter={"state":"done"}',
        '?filter={"status":"odd"}',
        '?filter={"status":"done"}&status=running',
        '?sort=shops',
        '?limit=1001',
        ...[
          'outcome=odd',
          'differences=odd',
          'sort=differences',
          'filter={"differences":["\' or true --"]}',
          'filter={"item":"x"}',
          'filter={"outcome":"failed"}&outcome=linked'
        ].map((query) => `/${unknown}?${query}`)
      ].map((url) => ['GET', url, undefined, 422, 'PAY_RECONCILE_VALIDATION'] as const),
      ['GET', `/${unknown}`, undefined, 404, 'PAY_RECONCILE_NOT_FOUND'],
      ['DELETE', `/${unknown}`, undefined, 404, 'PAY_RECONCILE_NOT_FOUND'],
      ['GET', '/x', undefined, 404, 'PAY_RECONCILE_NOT_FOUND']
    ] as const
  ) {
    const response = await world.call(method, `/admin/accounts/reconcile${url}`, payload)
    t.equal(response.statusCode, status, `${method} ${url} ${JSON.stringify(payload)}`)
    t.equal(response.json().code, code)
    if (message !== undefined) t.equal(response.json().message, message)
  }
  const { body } = await world.call('POST', '/admin/accounts/reconcile', { mode: 'sync', ['x'.repeat(400_000)]: 1 })
  const name = `/${'x'.repeat(198)}…`
  t.strictSame(JSON.parse(body), {
    statusCode: 422,
    code: 'PAY_RECONCILE_VALIDATION',
    error: 'Unprocessable Entity',
    message: `body${name}: Unexpected property`,
    field: name.slice(1)
  })
}

/** Lists runs, of which only one is unfinished. */
async function listing (t: Test, { call, knex }: World, running: string): Promise<void> {
  const list = async (query: string) => {
    const response = await call('GET', `/admin/accounts/reconcile${query}`)
    t.equal(response.statusCode, 200, query)
    t.equal(response.headers['access-control-expose-headers'], 'Content-Range')
    return { range: response.headers['content-range'], runs: response.json() }
  }
  const rows: Array<{ id: string }> = await knex('pay_reconcile_runs').orderBy([
    { column: 'started_at', order: 'desc' },
    { column: 'id', order: 'desc' }
  ])
  const ids = rows.map((row) => row.id)
  const count = ids.length
  t.ok(count > 5)
  const all = await list('')
  t.equal(all.range, `runs 0-100/${count}`)
  t.strictSame(all.runs.map((run: { id: string }) => run.id), ids, 'runs are listed, newest first')
  t.equal(ids[0], running)
  for (const run of all.runs) {
    const { items: _, items_count: __, ...alone } = (await call('GET', `/admin/accounts/reconcile/${run.id}`)).json()
    if (run.id !== running) t.strictSame(run, alone, 'each as it is alone, without its items')
  }
  t.match(
    await list('?skip=1&limit=2'),
    { range: `runs 1-3/${count}`, runs: [{ id: ids[1] }, { id: ids[2] }] },
    'in pages'
  )
  t.match(await list('?range=[1,2]'), { range: `runs 1-3/${count}` })
  t.strictSame(await list('?skip=500'), { range: `runs 500-600/${count}`, runs: [] })
  t.match(
    await list('?status=running'),
    { range: 'runs 0-100/1', runs: [{ id: running, status: 'running' }] },
    'a lost run is found'
  )
  t.strictSame(await list('?status=cancelled'), { range: 'runs 0-100/0', runs: [] })
  t.match(await list('?status=done&limit=1'), {
    range: `runs 0-1/${count - 1}`,
    runs: [{ id: ids[1], status: 'done' }]
  })
}

/** Filters and sorts runs while none is going on. */
async function filtering (t: Test, { call }: World): Promise<void> {
  const list = async (query: Record<string, string>): Promise<Array<Record<string, unknown>>> => {
    const response = await call('GET', `/admin/accounts/reconcile?${new URLSearchParams(query).toString()}`)
    t.equal(response.statusCode, 200, JSON.stringify(query))
    return response.json()
  }
  const all = await list({})
  const [newest] = all
  t.strictSame(await list({ sort: 'started_at' }), all.toReversed(), 'oldest first')
  t.strictSame(await list({ sort: '["started_at","DESC"]' }), all)
  for (const [field, value] of Object.entries(newest ?? {})) {
    if (!['outcomes', 'differences', 'selection', 'shops'].includes(field)) {
      t.equal((await list({ sort: `-${field}` })).length, all.length, `sort by ${field}`)
    }
    t.strictSame(
      await list({ filter: JSON.stringify({ id: [newest?.id], [field]: value }) }),
      [newest],
      `filter by ${field}`
    )
  }
  t.strictSame(await list({ filter: '{"total":[-1]}' }), [])
  t.strictSame(await list({ filter: '{"finished_at":null}' }), [])
}

async function oneRunPerShop (t: Test, world: World): Promise<void> {
  world.standIn.addAccount('sk_test_slow', { customers: [{ id: 'cus_1' }] })
  const shopId = await world.addShop({ key: 'sk_test_slow' })
  for (let i = 0; i < 20; i++) await world.addAccount(shopId, { pay_customer_id: 'cus_1' })
  const end = world.standIn.fault({ kind: 'slow', secretKey: 'sk_test_slow', delay: 8000 })
  const started = await world.call('POST', '/admin/accounts/reconcile', { mode: 'check', shop_id: shopId })
  t.equal(started.statusCode, 202)
  t.equal(started.headers.location, `/admin/accounts/reconcile/${started.json().id}`)
  t.match(started.json(), { status: 'running', total: 20, processed: 0 })

  const other = await host(t, world.knex, world.standIn, fast)
  for (const body of [{ mode: 'sync', shop_id: shopId }, { mode: 'sync' }]) {
    const second = await other.call('POST', '/admin/accounts/reconcile', body)
    t.equal(second.statusCode, 409)
    const runId = started.json().id
    t.strictSame(second.json(), {
      statusCode: 409,
      code: 'PAY_RECONCILE_RUN_ACTIVE',
      error: 'Conflict',
      message: `The reconciliation run ${runId} is still processing the shop ${shopId}`,
      run_id: runId,
      shop_id: shopId
    }, 'a second run over the same shop gets 409, with the run in its way')
  }
  await listing(t, other, started.json().id)

  const cancelled = await other.call('DELETE', `/admin/accounts/reconcile/${started.json().id}`)
  t.equal(cancelled.statusCode, 200, 'any process may cancel')
  end()
  const run = await finished(world, started.json().id)
  t.match(run, { status: 'cancelled', cancel_requested: true })
  const ended = (await world.call('GET', '/admin/accounts/reconcile?status=cancelled')).json()
  t.match(ended, [{ id: run.id, status: 'cancelled' }])
  const again = await runOver(world, { mode: 'check', shop_id: shopId })
  t.match(again, { status: 'done', processed: 20 }, 'after that the shop is free')
}
