import t, { type Test } from 'tap'
import type { Knex } from 'knex'
import { providerError, type PayProvider, type PayReconcileOptions } from '../src/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { fast, finished, pause, start, writes } from './bulk.ts'
import { engines } from './database.ts'
import { build, host, type World } from './world.ts'

t.setTimeout(300_000)

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

for (const engine of engines) {
  t.test(`pages of customers, on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const knex = await engine.connect(t)
    const world = await build(t, knex, apart(knex))
    await t.test('check and sync find the same as one by one, with one request for a hundred customers', (t) =>
      sameFindings(t, world))
    await t.test('few accounts are read one by one', (t) => fewAccounts(t, world))
    await t.test('pages end where other customers by far outnumber the accounts', (t) => manyCustomers(t, world))
    await t.test('accounts that share a customer are all reconciled', (t) => sharedCustomer(t, world))
    await t.test('a list that fails', (t) => failingList(t, world))
    await t.test('what changes during the run', (t) => changesMeanwhile(t, world))
    await t.test('a snapshot stored since the page was read is not replaced by an older one', (t) =>
      newerSnapshot(t, world))
    await t.test('accounts that a cancelled run did not reach', (t) => cancelledRun(t, world))
  })
}

/** A host that does its own runs and no others, so that the requests are those of its provider. */
function apart (knex: Knex): Partial<PayReconcileOptions> {
  return { ...fast, leaseDuration: 60_000, runs: { ...knexRunStore(knex), claimable: async () => [] } }
}

/** Counts the requests under a key from now on: those for pages, and all others. */
function counter ({ standIn }: World, key: string) {
  const from = standIn.requested
  return () => {
    const seen = standIn.requests.slice(from - standIn.requested).filter(({ secretKey }) => secretKey === key)
    const pages = seen.filter(({ url }) => url.startsWith('/v1/customers?')).length
    return { pages, single: seen.length - pages }
  }
}

const customers = (count: number, prefix = 'cus_') =>
  Array.from({ length: count }, (_, n) => ({ id: `${prefix}${n}`, name: `Customer ${n}`, created: 1000 + n }))

/** A shop of its own with accounts linked to the first customers of its key. */
async function shopOf ({ addShop, knex }: World, key: string, accounts: number, first: number): Promise<string> {
  const shopId = await addShop({ key })
  await knex('accounts').insert(
    Array.from(
      { length: accounts },
      (_, n) => ({
        id: id(first + n),
        shop_id: shopId,
        name: `Account ${n}`,
        details: JSON.stringify({ pay_customer_id: `cus_${n}` })
      })
    )
  )
  return shopId
}

/** A provider whose customers can only be read one by one. */
function withoutLists ({ standIn: { host, port, protocol } }: World): PayProvider {
  return {
    ...stripeProvider({ host, port, protocol }),
    listCustomers: async () => {
      throw providerError('refused')
    }
  }
}

async function itemsOf (world: World, runId: string): Promise<object[]> {
  const { items } = (await world.call('GET', `/admin/accounts/reconcile/${runId}?limit=1000`)).json()
  return items.map(({ id: _, provider_request_id: __, ...item }: Record<string, unknown>) => item)
}

async function sameFindings (t: Test, world: World): Promise<void> {
  const key = 'sk_test_same'
  const shopId = await shopOf(world, key, 130, 1000)
  world.standIn.addAccount(key, {
    customers: [...customers(120).filter(({ id }) => id !== 'cus_7'), { id: 'cus_121', deleted: true }, {
      id: 'cus_foreign'
    }]
  })
  await world.knex('accounts').where('id', id(1003)).update({ details: '{}' })
  await world.knex('accounts').where('id', id(1004)).update({ details: JSON.stringify({ pay_customer_id: 'cus_5' }) })
  await world.knex('accounts').where('id', id(1006)).update({
    details: JSON.stringify({ pay_customer_id: 'cus_6', pay_customer: { id: 'cus_6', name: 'Before' } })
  })
  const single = await host(t, world.knex, world.standIn, { ...apart(world.knex), provider: withoutLists(world) })

  // Not in the pages: customer 7, the deleted 121, and 120 and 122 to 129, which there never were. Account 3 has none.
  for (
    const [body, outcomes] of [
      [{ mode: 'check' }, { different: 130 }],
      [{ mode: 'sync' }, { synced: 119, skipped: 1, failed: 10 }],
      [{ mode: 'sync', dry_run: false }, { synced: 119, skipped: 1, failed: 10 }],
      [{ mode: 'check' }, { unchanged: 116, different: 14 }]
    ] as const
  ) {
    const count = counter(world, key)
    const runId = await start(world, { ...body, shop_id: shopId })
    const run = await finished(world, runId)
    t.match(run, { status: 'done', total: 130, processed: 130, outcomes, shops: { stopped: [] } })
    t.strictSame(count(), { pages: 2, single: 11 }, 'single reads for what the pages do not hold')
    if (!('dry_run' in body)) {
      t.strictSame(
        await itemsOf(world, runId),
        await itemsOf(single, await finishedRun(single, { ...body, shop_id: shopId })),
        'the same items'
      )
    } else t.equal(await writes(world.knex, runId), 119)
  }
  t.match(await world.detailsOf(id(1121)), { pay_customer: { deleted: true } })
  t.equal(
    Number((await world.knex('pay_reconcile_unchanged').count())[0]?.count),
    0,
    'what a finished run recorded is deleted'
  )
}

async function finishedRun (world: World, body: object): Promise<string> {
  const runId = await start(world, body)
  await finished(world, runId)
  return runId
}

async function fewAccounts (t: Test, world: World): Promise<void> {
  const key = 'sk_test_few'
  world.standIn.addAccount(key, { customers: customers(30) })
  const shopId = await shopOf(world, key, 30, 2000)
  const count = counter(world, key)
  t.match(
    await finished(world, await start(world, { mode: 'sync', shop_id: shopId, accounts: [2001, 2003, 2009].map(id) })),
    { processed: 3, outcomes: { synced: 3 } }
  )
  t.strictSame(count(), { pages: 0, single: 3 })
}

async function manyCustomers (t: Test, world: World): Promise<void> {
  const key = 'sk_test_many'
  world.standIn.addAccount(key, {
    customers: [...customers(50), ...customers(3000, 'cus_other')].map((customer, n) => ({ ...customer, created: n }))
  })
  const shopId = await shopOf(world, key, 50, 2100)
  const count = counter(world, key)
  t.match(await finished(world, await start(world, { mode: 'check', shop_id: shopId })), {
    processed: 50,
    differences: { never_synced: 50 }
  })
  t.strictSame(count(), { pages: 5, single: 50 }, 'a tenth is tried')
}

async function sharedCustomer (t: Test, world: World): Promise<void> {
  const key = 'sk_test_shared'
  world.standIn.addAccount(key, { customers: customers(2) })
  const shopId = await shopOf(world, key, 510, 10_000)
  await world.knex('accounts').where('shop_id', shopId).update({
    details: JSON.stringify({ pay_customer_id: 'cus_1' })
  })
  const count = counter(world, key)
  const runId = await start(world, { mode: 'check', shop_id: shopId })
  t.match(await finished(world, runId), { processed: 510, differences: { duplicate: 510 } })
  t.strictSame(count(), { pages: 2, single: 0 }, 'the page is read again for every 500')
}

async function failingList (t: Test, world: World): Promise<void> {
  const key = 'sk_test_list'
  world.standIn.addAccount(key, { customers: customers(120) })
  const shopId = await shopOf(world, key, 120, 2200)
  const list = '/v1/customers?'
  const sync = { mode: 'sync', shop_id: shopId }
  const outcome = async () => {
    const count = counter(world, key)
    const run = await finished(world, await start(world, sync))
    return {
      ...count(),
      synced: run.outcomes.synced,
      stopped: run.shops.stopped.map(({ reason }: { reason: string }) => reason)
    }
  }
  world.standIn.fault({ kind: 'answer', status: 429, secretKey: key, path: list, times: 3 })
  t.match(await outcome(), { single: 0, synced: 120, stopped: [] }, '429 only slows it down')

  world.standIn.fault({ kind: 'answer', status: 500, secretKey: key, path: list, times: 2 })
  t.match(await outcome(), { single: 0, synced: 120, stopped: [] }, 'a page is tried again')

  const end = world.standIn.fault({
    kind: 'answer',
    status: 400,
    secretKey: key,
    path: list,
    body: { error: { type: 'invalid_request_error' } }
  })
  t.strictSame(
    await outcome(),
    { pages: 1, single: 120, synced: 120, stopped: [] },
    'without lists, they are read one by one'
  )
  const warnings = world.logs().split('\n').filter((line) => line.includes('the customers cannot be listed')).map((
    line
  ) => JSON.parse(line))
  t.match(
    warnings,
    [{ level: 40, shopId, runId: /^[\w-]{36}$/, err: { code: 'PAY_RECONCILE_PROVIDER_REFUSED' } }],
    'and the log names the shop and the run'
  )
  end()

  world.standIn.fault({
    kind: 'answer',
    status: 404,
    secretKey: key,
    path: 'starting_after',
    body: { error: { type: 'invalid_request_error', code: 'resource_missing' } }
  })
  t.strictSame(
    await outcome(),
    { pages: 2, single: 20, synced: 120, stopped: [] },
    'so are the accounts behind a cursor that was deleted'
  )

  world.standIn.fault({ kind: 'answer', status: 401, secretKey: key, path: list, times: 1 })
  t.strictSame(await outcome(), {
    pages: 1,
    single: 0,
    synced: undefined,
    stopped: ['PAY_RECONCILE_PROVIDER_KEY_REJECTED']
  })
}

async function changesMeanwhile (t: Test, world: World): Promise<void> {
  const { knex, standIn } = world
  const key = 'sk_test_moving'
  standIn.addAccount(key, { customers: customers(400) })
  const shopId = await shopOf(world, key, 300, 3000)
  const account = standIn.account(key)
  const slow = standIn.fault({ kind: 'slow', delay: 400, secretKey: key, path: '/v1/customers?' })
  const runId = await start(world, { mode: 'sync', dry_run: false, shop_id: shopId })
  // Newest first: the second page is customers 299 to 200, the third 199 to 100.
  while (await writes(knex, runId) < 100) await pause(5)
  const link = (n: number, customer: number) =>
    world.call('POST', `/admin/accounts/${id(3000 + n)}/link-pay`, { pay_customer_id: `cus_${customer}` })
  await link(0, 398)
  await link(299, 1)
  account.customers.delete('cus_100')
  account.customers.set('cus_50', { id: 'cus_50', object: 'customer', deleted: true })
  account.customers.set('cus_new', { ...account.customers.get('cus_1')!, id: 'cus_new', name: 'New' })
  await world.addAccount(shopId, { pay_customer_id: 'cus_new' }, { id: id(4000) })
  const run = await finished(world, runId)
  slow()
  t.match(run, {
    status: 'done',
    processed: 301,
    outcomes: { synced: 300, failed: 1 },
    differences: { not_found: 1, deleted: 1 }
  })
  t.equal(await writes(knex, runId), 300)
  t.match(
    await world.detailsOf(id(3000)),
    { pay_customer_id: 'cus_398', pay_customer: { id: 'cus_398' } },
    'linked to a customer of a page before'
  )
  t.match(await world.detailsOf(id(3050)), { pay_customer: { deleted: true } })
  t.match(await world.detailsOf(id(4000)), { pay_customer: { name: 'New' } }, 'added during the run')
  const { pay_customer: snapshot } = await world.detailsOf(id(3299)) ?? {}
  t.ok(
    snapshot === undefined || (snapshot as { id: string }).id === 'cus_1',
    'relinked after it was done, or read as relinked'
  )
}

async function newerSnapshot (t: Test, world: World): Promise<void> {
  const { standIn } = world
  const key = 'sk_test_newer'
  standIn.addAccount(key, { customers: customers(20) })
  const shopId = await shopOf(world, key, 20, 5000)
  const { customers: live } = standIn.account(key)
  // Between the page and the accounts, a customer is changed and synced by somebody else.
  const accounts = knexAccountStore(world.knex)
  let once = true
  let name = ''
  const between = await host(t, world.knex, standIn, {
    ...apart(world.knex),
    accounts: {
      ...accounts,
      scan: async (page) => {
        if (once && page.only.customers) {
          once = false
          await pause(5)
          live.set('cus_3', { ...live.get('cus_3')!, name })
          t.equal((await world.call('POST', `/admin/accounts/${id(5003)}/sync-pay`)).statusCode, 200)
        }
        return accounts.scan(page)
      }
    }
  })
  for (const mode of ['sync', 'check']) {
    once = true
    name = `Later, in a ${mode}`
    const run = await finished(between, await start(between, { mode, dry_run: false, shop_id: shopId }))
    t.strictSame(run.outcomes, mode === 'sync' ? { synced: 20 } : { unchanged: 20 }, mode)
    t.match(await world.detailsOf(id(5003)), { pay_customer: { name } })
  }
}

async function cancelledRun (t: Test, world: World): Promise<void> {
  const { standIn, knex } = world
  const key = 'sk_test_cancelled'
  standIn.addAccount(key, { customers: customers(300) })
  const shopId = await shopOf(world, key, 300, 6000)
  const slow = standIn.fault({ kind: 'slow', delay: 500, secretKey: key, path: '/v1/customers?' })
  const runId = await start(world, { mode: 'sync', dry_run: false, shop_id: shopId })
  while (await writes(knex, runId) < 100) await pause(5)
  await world.call('DELETE', `/admin/accounts/reconcile/${runId}`)
  const cancelled = await finished(world, runId)
  slow()
  const done = await writes(knex, runId)
  t.match(cancelled, { status: 'cancelled', processed: done })
  t.ok(done >= 100 && done < 300)
  const rest = await finished(world, await start(world, { mode: 'sync', dry_run: false, failed_in: runId }))
  t.match(rest, { status: 'done', total: 300 - done, processed: 300 - done }, 'are what failed_in picks')
  t.equal(await writes(knex, rest.id), 300 - done)
}
