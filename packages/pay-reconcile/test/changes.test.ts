import t, { type Test } from 'tap'
import { randomUUID } from 'node:crypto'
import type { PayReconcileOptions } from '../src/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { schedule } from '../src/schedule/index.ts'
import { fast, finished, pause, start, writes } from './bulk.ts'
import { engines, postgresql } from './database.ts'
import { build, host, type World } from './world.ts'

t.setTimeout(300_000)

for (const engine of engines) {
  t.test(`changes on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const knex = await engine.connect(t)
    const options: Partial<PayReconcileOptions> = {
      ...fast,
      leaseDuration: 60_000,
      runs: { ...knexRunStore(knex), claimable: async () => [] }
    }
    const world = await build(t, knex, options)
    await t.test('only what has changed is read again, and each event once', (t) => onlyChanges(t, world))
    await t.test('links are changes, too', (t) => links(t, world))
    await t.test('what fails for a time is read again, what fails for good is not', (t) => failures(t, world))
    await t.test('a dry run takes nothing from the next one', (t) => dryRun(t, world))
    await t.test('where there are more events than customers, the customers are read', (t) => manyEvents(t, world))
    await t.test('events that cannot be read stop the shop', (t) => unreadable(t, world))
    await t.test('an account that is noted while it is read stays noted', (t) => notedMeanwhile(t, world))
    await t.test('between what a run reads and what it writes', (t) => order(t, world, options))
    if (engine === postgresql) {
      await t.test('so does one whose note was begun before and ended later', (t) => lateNote(t, world))
    }
    await t.test('without events or notes there is no such mode', (t) => withoutEvents(t, world, options))
  })
}

/** A shop of its own with an account for each customer. */
async function shopOf (world: World, key: string, count: number) {
  world.standIn.addAccount(key, {
    customers: Array.from({ length: count }, (_, n) => ({ id: `cus_${n}`, name: 'First' }))
  })
  const shopId = await world.addShop({ key })
  const accountIds: string[] = []
  for (let n = 0; n < count; n++) accountIds.push(await world.addAccount(shopId, { pay_customer_id: `cus_${n}` }))
  const send = async (method: string, path: string, body?: string): Promise<void> => {
    await fetch(`${world.standIn.url}/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body !== undefined && { body })
    }).then((response) => response.text())
  }
  const run = async (body: object = {}) => {
    const before = world.standIn.requested
    const run = await finished(world, await start(world, { mode: 'changes', dry_run: false, shop_id: shopId, ...body }))
    const seen = world.standIn.requests.slice(before - world.standIn.requested)
    const counted = (path: string): number =>
      world.standIn.requested === before ? 0 : seen.filter(({ url }) => url.startsWith(path)).length
    return {
      ...run,
      events: counted('/v1/events?'),
      pages: counted('/v1/customers?'),
      single: counted('/v1/customers/')
    }
  }
  return { shopId, accountIds, account: world.standIn.account(key), send, run }
}

async function onlyChanges (t: Test, world: World): Promise<void> {
  const { accountIds, account, send, run } = await shopOf(world, 'sk_test_only', 20)
  t.match(
    await run(),
    { total: 20, processed: 20, outcomes: { synced: 20 }, events: 1, pages: 1, single: 0 },
    'the first time all are read'
  )
  t.match(await run(), { status: 'done', total: 0, processed: 0, events: 1, pages: 0, single: 0 })
  await send('POST', 'customers/cus_3', 'name=Second')
  await send('POST', 'customers/cus_3', 'name=Third')
  await send('DELETE', 'customers/cus_4')
  await send('POST', 'customers', 'name=Nobody')
  const changed = await run()
  t.match(changed, {
    total: 2,
    processed: 2,
    outcomes: { synced: 2 },
    differences: { differs: 2, deleted: 1 },
    events: 1,
    pages: 0,
    single: 2
  })
  t.equal(await writes(world.knex, changed.id), 2)
  t.match(await world.detailsOf(accountIds[3]!), { pay_customer: { name: 'Third' } })
  t.match(await world.detailsOf(accountIds[4]!), {
    pay_customer: { deleted: true },
    pay_customer_before_deletion: { name: 'First' }
  })
  t.match(await run(), { processed: 0, events: 1, single: 0 }, 'events of a time that is read twice count once')
  const minutes = 60
  for (const [late, processed] of [[14 * minutes, 1], [16 * minutes, 0]] as const) {
    account.events.push({
      ...account.events[0]!,
      id: `evt_${randomUUID()}`,
      created: Math.floor(Date.now() / 1000) - late
    })
    t.match(await run(), { processed }, `an event that shows up ${late / minutes} minutes late`)
  }
  for (let n = 5; n < 18; n++) await send('POST', `customers/cus_${n}`, 'name=Second')
  t.match(
    await run(),
    { processed: 13, outcomes: { synced: 13 }, events: 1, pages: 1, single: 0 },
    'many changes come in a page'
  )

  await world.knex('pay_reconcile_positions').update({ until: world.knex.raw("now() - interval '30 days'") })
  t.match(await run(), { processed: 20, events: 1, pages: 1, single: 1 }, 'after a month without events all are read')
  t.match(await run(), { processed: 0, events: 1, pages: 0, single: 0 }, 'once')
}

async function links (t: Test, world: World): Promise<void> {
  const { accountIds, send, run } = await shopOf(world, 'sk_test_links', 3)
  const [accountId = ''] = accountIds
  await send('POST', 'customers', 'name=New')
  await run()
  await send('POST', 'customers/cus_2', 'name=Second')
  await run()
  await world.call('POST', `/admin/accounts/${accountId}/link-pay`, { pay_customer_id: 'cus_2' })
  t.match(
    await run(),
    { processed: 1, outcomes: { synced: 1 }, single: 1 },
    'an event from before the link is not needed'
  )
  t.match(await world.detailsOf(accountId), { pay_customer: { id: 'cus_2', name: 'Second' } })
  await world.call('POST', `/admin/accounts/${accountId}/link-pay`, { pay_customer_id: 'cus_0' })
  await world.call('POST', `/admin/accounts/${accountId}/unlink-pay`)
  t.match(await run(), { processed: 0, single: 0 })
}

async function failures (t: Test, world: World): Promise<void> {
  const { send, run, account } = await shopOf(world, 'sk_test_fails', 4)
  await run()
  for (let n = 0; n < 3; n++) await send('POST', `customers/cus_${n}`, 'name=Second')
  account.customers.delete('cus_2')
  const end = world.standIn.fault({ kind: 'answer', status: 500, path: '/v1/customers/cus_1' })
  t.match(await run(), {
    processed: 3,
    outcomes: { synced: 1, failed: 2 },
    differences: { not_found: 1 },
    shops: { stopped: [] }
  })
  end()
  t.match(await run(), { processed: 1, outcomes: { synced: 1 }, single: 1 })
  t.match(await run(), { processed: 0, single: 0 })
}

async function dryRun (t: Test, world: World): Promise<void> {
  const { accountIds, send, run } = await shopOf(world, 'sk_test_dry', 2)
  t.match(await run({ dry_run: true }), { processed: 2, outcomes: { synced: 2 } })
  t.strictSame(await world.detailsOf(accountIds[0]!), { pay_customer_id: 'cus_0' })
  t.match(await run(), { processed: 2, outcomes: { synced: 2 } })
  await send('POST', 'customers/cus_0', 'name=Second')
  t.match(await run({ dry_run: true }), { processed: 1, differences: { differs: 1 } })
  t.match(await run(), { processed: 1, differences: { differs: 1 } })
  t.match(await run(), { processed: 0 })
}

async function manyEvents (t: Test, world: World): Promise<void> {
  const { run, send, account } = await shopOf(world, 'sk_test_flood', 12)
  await run()
  await send('POST', 'customers/cus_0', 'name=Second')
  const [event] = account.events
  account.events.push(...Array.from({ length: 1100 }, () => ({ ...event!, id: `evt_${randomUUID()}` })))
  t.match(await run(), { processed: 12, events: 10, pages: 1, single: 0 })
}

async function unreadable (t: Test, world: World): Promise<void> {
  const { run, send } = await shopOf(world, 'sk_test_unread', 2)
  await run()
  await send('POST', 'customers/cus_0', 'name=Second')
  world.standIn.fault({ kind: 'answer', status: 403, path: '/v1/events', times: 1 })
  t.match(await run(), { processed: 0, shops: { stopped: [{ reason: 'PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN' }] } })
  world.standIn.fault({
    kind: 'answer',
    status: 200,
    path: '/v1/events',
    times: 1,
    body: { object: 'list', data: [{ object: 'event', id: '' }] }
  })
  t.match(await run(), { shops: { stopped: [{ reason: 'PAY_RECONCILE_PROVIDER_UNEXPECTED_OBJECT' }] } })
  world.standIn.fault({ kind: 'answer', status: 500, path: '/v1/events', times: 2 })
  t.match(await run(), { processed: 1, shops: { stopped: [] } }, 'a failure is tried again, and nothing was lost')
}

async function notedMeanwhile (t: Test, world: World): Promise<void> {
  const { shopId, accountIds: [accountId = ''] } = await shopOf(world, 'sk_test_noted', 1)
  const { changes, shops } = knexAccountStore(world.knex)
  if (!changes) {
    t.fail()
    return
  }
  const noted = async () => (await shops(shopId, { changed: true }))[0]?.accounts
  const event = (id: string) => ({ id, createdAt: new Date().toISOString(), customerId: 'cus_0' })
  await changes.note(shopId, [event('evt_1'), event('evt_1')])
  t.equal(await noted(), 1)
  const moment = await changes.moment()
  await changes.note(shopId, [event('evt_2')])
  await changes.done([accountId], moment)
  t.equal(await noted(), 1, 'the second event was not seen')
  await changes.done([accountId], await changes.moment())
  t.equal(await noted(), 0)
  await changes.note(shopId, [event('evt_1'), event('evt_2'), { ...event('evt_3'), customerId: null }, {
    ...event('evt_4'),
    customerId: 'cus_other'
  }])
  t.equal(await noted(), 0, 'known events, and events about others, note nothing')
}

/** The real stores, with hooks in between: what happens there must be neither lost nor done twice. */
async function order (t: Test, world: World, options: Partial<PayReconcileOptions>): Promise<void> {
  const accounts = knexAccountStore(world.knex)
  const changes = accounts.changes!
  const runs = options.runs!
  let [afterRead, beforeDone, isLost] = [async () => {}, async () => {}, false]
  const hooked = await host(t, world.knex, world.standIn, {
    ...options,
    accounts: {
      ...accounts,
      saveSnapshot: async (...write) => {
        const saved = await accounts.saveSnapshot(...write)
        await afterRead()
        return saved
      },
      changes: {
        ...changes,
        done: async (...which) => {
          await beforeDone()
          await changes.done(...which)
        }
      }
    },
    runs: { ...runs, advance: async (...step) => isLost ? 'lost' : await runs.advance(...step) }
  })
  const { shopId, send, run } = await shopOf(hooked, 'sk_test_order', 1)
  const noted = async () => (await accounts.shops(shopId, { changed: true }))[0]?.accounts
  await run()
  let events = 0
  const change = async () => {
    await send('POST', 'customers/cus_0', `name=N${events}`)
    await changes.note(shopId, [{
      id: `evt_order_${events++}`,
      createdAt: new Date().toISOString(),
      customerId: 'cus_0'
    }])
  }
  for (
    const [title, read, done, left] of [
      ['a change after its customer was read is read by the next run', change, async () => {}, 1],
      ['so is one that comes just before what was read is marked', async () => {}, change, 1],
      ['a run is over once what it has read is marked, however long that takes', async () => {}, async () => {
        await pause(500)
      }, 0]
    ] as const
  ) {
    await change()
    ;[afterRead, beforeDone] = [read, done]
    t.match(await run(), { status: 'done', processed: 1 }, title)
    t.equal(await noted(), left, title)
    ;[afterRead, beforeDone] = [async () => {}, async () => {}]
    await run()
    t.equal(await noted(), 0)
  }
  await change()
  isLost = true
  const read = new Promise<void>((resolve) => {
    afterRead = async () => resolve()
  })
  const id = await start(hooked, { mode: 'changes', dry_run: false, shop_id: shopId })
  await read
  await pause(200)
  t.equal(await noted(), 1, 'who has lost the shop marks nothing as read')
  await world.knex('pay_reconcile_runs').where({ id }).delete()
}

async function lateNote (t: Test, world: World): Promise<void> {
  const { shopId, accountIds: [accountId = ''] } = await shopOf(world, 'sk_test_late', 1)
  const { changes, shops } = knexAccountStore(world.knex)
  if (!changes) {
    t.fail()
    return
  }
  let moment = ''
  await world.knex.transaction(async (other) => {
    await knexAccountStore(other).changes?.note(shopId, [{
      id: 'evt_late',
      createdAt: new Date().toISOString(),
      customerId: 'cus_0'
    }])
    moment = await changes.moment()
  })
  await changes.done([accountId], moment)
  t.equal((await shops(shopId, { changed: true }))[0]?.accounts, 1)
}

async function withoutEvents (t: Test, world: World, options: Partial<PayReconcileOptions>): Promise<void> {
  const { host: at, port, protocol } = world.standIn
  const { listEvents: _, ...provider } = stripeProvider({ host: at, port, protocol })
  const { changes: __, ...accounts } = knexAccountStore(world.knex)
  for (const lacking of [{ provider }, { accounts }]) {
    const without = await host(t, world.knex, world.standIn, { ...options, ...lacking })
    const response = await without.call('POST', '/admin/accounts/reconcile', { mode: 'changes' })
    t.match([response.statusCode, response.json()], [422, {
      code: 'PAY_RECONCILE_VALIDATION',
      field: 'mode',
      message: /needs a payment provider with listEvents/
    }])
    await t.rejects(
      host(t, world.knex, world.standIn, {
        ...options,
        ...lacking,
        extensions: [schedule({ changes: '*/5 * * * *' })]
      }),
      { code: 'PAY_RECONCILE_INVALID_OPTION', message: /schedule\.changes needs/ }
    )
  }
  const limited = await world.call('POST', '/admin/accounts/reconcile', {
    mode: 'changes',
    synced_before: '2026-01-01T00:00:00Z'
  })
  t.match(limited.json(), { field: 'synced_before' })
}
