import t, { type Test } from 'tap'
import { knexRunStore } from '../src/knex/index.ts'
import type { RunStore } from '../src/index.ts'
import { finished, pause, start, writes } from './bulk.ts'
import { engines, pglite, type Engine } from './database.ts'
import { build, host, type World } from './world.ts'

const fast = {
  perSecond: 1000,
  accountsAtOnce: 2,
  attempts: 1,
  leaseDuration: 2000,
  callTimeout: 20_000,
  attemptTimeout: 20_000
}
const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

for (const engine of engines) {
  t.test(`a bulk run in trouble, on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const world = await build(t, await engine.connect(t), fast)
    await t.test('limits of the rate without Retry-After slow a shop down, and end nothing', (t) =>
      rateLimited(t, world))
    await t.test('a run makes no more requests a second than it may', (t) => keepsItsRate(t, world))
    await t.test('a run that waits for the provider keeps its lease, and can be cancelled through any process', (t) =>
      cancelledWhileWaiting(t, world))
    await t.test('an account between two calls when its run is cancelled is left for the next one', (t) =>
      cancelledBetweenCalls(t, world))
    await t.test('a key that is replaced during a run is read again', (t) => replacedKey(t, world))
    await t.test('a shop none of whose customers is known is told as a mismatch of the key', (t) => mismatch(t, world))
    await t.test('an account still in work when the application closes is done by the next process', (t) =>
      closedAtWork(t, world))
    if (engine === pglite) await t.test('a renewal that fails once gives nothing up', (t) => failingRenewal(t, world))
    if (engine === pglite) await t.test('a part whose lease is lost is given up', (t) => lostLease(t, world))
  })
  t.test(`a part whose lease lapses while its process stands still is counted once, on ${engine.name}`, {
    skip: engine.skip
  }, (t) => lapsedLease(t, engine))
}

/** A shop of its own with linked accounts, whose key knows their customers. */
async function shopOf ({ addShop, addAccount, standIn }: World, key: string, size: number, first = 1): Promise<string> {
  standIn.addAccount(key, { customers: Array.from({ length: size }, (_, n) => ({ id: `cus_${n}` })) })
  const shopId = await addShop({ key })
  for (let n = 0; n < size; n++) await addAccount(shopId, { pay_customer_id: `cus_${n}` }, { id: id(first + n) })
  return shopId
}

const sync = (shopId: string) => ({ mode: 'sync', dry_run: false, shop_id: shopId })

async function rateLimited (t: Test, world: World): Promise<void> {
  const shopId = await shopOf(world, 'sk_test_limited', 3, 100)
  const alone = await host(t, world.knex, world.standIn, { ...fast, accountsAtOnce: 1 })
  world.standIn.fault({
    kind: 'answer',
    status: 429,
    secretKey: 'sk_test_limited',
    headers: { 'stripe-should-retry': 'false' },
    times: 4
  })
  t.match(await finished(world, await start(alone, sync(shopId))), {
    status: 'done',
    outcomes: { synced: 3, failed: undefined },
    shops: { stopped: [] }
  })
}

async function keepsItsRate (t: Test, world: World): Promise<void> {
  const shopId = await shopOf(world, 'sk_test_rate', 4, 150)
  const slow = await host(t, world.knex, world.standIn, { ...fast, perSecond: 2 })
  const before = performance.now()
  t.match(await finished(world, await start(slow, sync(shopId))), { status: 'done', outcomes: { synced: 4 } })
  t.ok(performance.now() - before >= 1490, 'three pauses of half a second')
}

/**
 * One account of the run waits for the provider, the others for their turn; so does a run of another shop with the same
 * key.
 */
async function cancelledWhileWaiting (t: Test, world: World): Promise<void> {
  const shopId = await shopOf(world, 'sk_test_full', 3, 200)
  const sameKey = await world.addShop({ key: 'sk_test_full' })
  await world.addAccount(sameKey, { pay_customer_id: 'cus_0' }, { id: id(210) })
  const end = world.standIn.fault({
    kind: 'answer',
    status: 429,
    secretKey: 'sk_test_full',
    headers: { 'retry-after': '3600' }
  })
  const [slow, other] = [
    await host(t, world.knex, world.standIn, { ...fast, perSecond: 2 }),
    await host(t, world.knex, world.standIn, fast)
  ]
  const runId = await start(slow, sync(shopId))
  const owner = async () => (await world.knex('pay_reconcile_run_shops').where('run_id', runId).first('owner')).owner
  let first = await owner()
  while (!first) {
    await pause(5)
    first = await owner()
  }
  const behind = await start(slow, sync(sameKey))
  await pause(1.5 * fast.leaseDuration)
  t.equal(await owner(), first)
  for (const [run, through] of [[behind, slow], [runId, other]] as const) {
    t.match((await other.call('GET', `/admin/accounts/reconcile/${run}`)).json(), { status: 'running', processed: 0 })
    t.match(
      slow.logs(),
      new RegExp(`"runId":"${run}","wait":3\\d{6}[.\\d]*,"msg":"waiting for the payment provider"`),
      'the log says why nothing happens'
    )
    await through.call('DELETE', `/admin/accounts/reconcile/${run}`)
    t.match(await finished(world, run), { status: 'cancelled', outcomes: { synced: undefined } })
  }
  end()
}

async function cancelledBetweenCalls (t: Test, world: World): Promise<void> {
  const { knex, standIn } = world
  const key = 'sk_test_between'
  const shopId = await world.addShop({ key })
  for (const n of [220, 221, 222]) await world.addAccount(shopId, { email: 'Ada@Example.com' }, { id: id(n) })
  standIn.addAccount(key, { customers: [{ id: 'cus_named', metadata: { account_id: id(221) } }] })
  const slow = await host(t, knex, standIn, { ...fast, perSecond: 2 })
  const runId = await start(slow, { mode: 'link', dry_run: false, shop_id: shopId })
  while (await writes(knex, runId) === 0) await pause(5)
  await slow.call('DELETE', `/admin/accounts/reconcile/${runId}`)
  t.match(await finished(world, runId), { status: 'cancelled', processed: 1, outcomes: { linked: 1 } })
  const rest = await finished(world, await start(world, { mode: 'link', dry_run: false, failed_in: runId }))
  t.match(rest, { status: 'done', total: 2, processed: 2, outcomes: { unmatched: 2 } })
}

async function replacedKey (t: Test, world: World): Promise<void> {
  const { standIn, knex } = world
  const shopId = await shopOf(world, 'sk_test_before', 6, 300)
  standIn.addAccount('sk_test_after', { customers: Array.from({ length: 6 }, (_, n) => ({ id: `cus_${n}` })) })
  const end = standIn.fault({ kind: 'slow', delay: 30, secretKey: 'sk_test_before' })
  const runId = await start(world, sync(shopId))
  while (await writes(knex, runId) === 0) await pause(5)
  await knex('shops').where('id', shopId).update({ pay_secret_key: 'sk_test_after' })
  standIn.fault({ kind: 'answer', status: 401, secretKey: 'sk_test_before' })
  end()
  t.match(await finished(world, runId), {
    status: 'done',
    outcomes: { synced: 6, failed: undefined },
    shops: { stopped: [] }
  })

  await knex('shops').where('id', shopId).update({ pay_secret_key: 'sk_test_before' })
  const rejected = await finished(world, await start(world, sync(shopId)))
  t.match(
    rejected.shops.stopped,
    [{ reason: 'PAY_RECONCILE_PROVIDER_KEY_REJECTED' }],
    'the same key once more ends the shop'
  )
}

async function mismatch (t: Test, world: World): Promise<void> {
  const shopId = await shopOf(world, 'sk_test_liveData', 2, 400)
  await world.addAccount(shopId, {}, { id: id(402) })
  const single = await shopOf(world, 'sk_test_single', 1, 410)
  const partly = await shopOf(world, 'sk_test_partly', 2, 420)
  for (const key of ['sk_test_liveData', 'sk_test_single']) world.standIn.addAccount(key)
  world.standIn.account('sk_test_partly').customers.delete('cus_0')
  for (const mode of ['sync', 'check']) {
    for (
      const [shop, stopped] of [
        [shopId, [{ shop_id: shopId, reason: 'PAY_RECONCILE_PROVIDER_KEY_MISMATCH' }]],
        [single, []],
        [partly, []]
      ] as const
    ) {
      const run = await finished(world, await start(world, { mode, shop_id: shop }))
      t.strictSame([run.status, run.processed, run.shops.stopped], ['done', run.total, stopped], mode)
      t.equal(run.differences.not_found, shop === shopId ? 2 : 1)
    }
  }
}

async function closedAtWork (t: Test, world: World): Promise<void> {
  const { standIn, knex } = world
  const shopId = await shopOf(world, 'sk_test_closing', 4, 500)
  const closing = await host(t, knex, standIn, { ...fast, perSecond: 4, leaseDuration: 60_000 })
  const end = standIn.fault({ kind: 'hang', secretKey: 'sk_test_closing', path: 'cus_0' })
  const runId = await start(closing, sync(shopId))
  while (await writes(knex, runId) < 3) await pause(5)
  await closing.app.close()
  end()
  const [part] = await knex('pay_reconcile_run_shops').where('run_id', runId).select(
    'status',
    'processed',
    'last_account'
  )
  t.strictSame(
    part,
    { status: 'pending', processed: 0, last_account: null },
    'faster accounts of the page do not move the cursor past it'
  )
  await host(t, knex, standIn, fast)
  t.match(await finished(world, runId), { status: 'done', processed: 4, outcomes: { synced: 4 } })
  t.match(await world.detailsOf(id(500)), { pay_customer: { id: 'cus_0' } })
  t.equal(await writes(knex, runId), 4, 'and nothing is written twice')
}

async function failingRenewal (t: Test, world: World): Promise<void> {
  const { standIn, knex } = world
  const shopId = await shopOf(world, 'sk_test_renewal', 2, 600)
  standIn.fault({ kind: 'slow', secretKey: 'sk_test_renewal', delay: 2500 })
  let failures = 1
  const renewed: unknown[] = []
  const released: unknown[] = []
  const store = knexRunStore(knex)
  const runs: RunStore = {
    ...store,
    renew: (part, lease) => {
      renewed.push(part)
      return failures-- > 0 ? Promise.reject(new RangeError('connection lost')) : store.renew(part, lease)
    },
    release: (part, lease) => {
      released.push(part)
      return store.release(part, lease)
    }
  }
  const unsteady = await host(t, knex, standIn, { ...fast, runs, leaseDuration: 3000 })
  const id = await start(unsteady, sync(shopId))
  t.match(await finished(world, id), { status: 'done', outcomes: { synced: 2 } })
  t.match(unsteady.logs(), `"runId":"${id}","msg":"the lease was not renewed"`)
  t.match(unsteady.logs(), /"message":"[^"]*: connection lost"/)
  t.ok(renewed.length > 1)
  t.strictSame(released, [])
}

async function lostLease (t: Test, world: World): Promise<void> {
  const { standIn, knex } = world
  const store = knexRunStore(knex)
  const shopId = await shopOf(world, 'sk_test_lease', 2, 700)
  const end = standIn.fault({ kind: 'hang', secretKey: 'sk_test_lease' })
  const released: unknown[] = []
  const losing: RunStore = {
    ...store,
    renew: async (part, lease) => released.length > 0 ? await store.renew(part, lease) : 'lost',
    release: async (part, lease) => {
      released.push(part.processed)
      await store.release(part, lease)
    }
  }
  const unlucky = await host(t, knex, standIn, { ...fast, runs: losing, leaseDuration: 1000 })
  const runId = await start(unlucky, sync(shopId))
  while (released.length === 0) await pause(5)
  end()
  t.match(await finished(world, runId), { status: 'done', outcomes: { synced: 2 } })
  t.equal(released[0], 0)
  await unlucky.app.close()
}

/** Another worker of the process takes the part, while the one that has it goes on. */
async function lapsedLease (t: Test, engine: Engine): Promise<void> {
  const knex = await engine.connect(t)
  const store = knexRunStore(knex)
  const [claimed, advanced, overtaken] = [signal(), signal(), signal()]
  let [claims, advances] = [0, 0]
  const runs: RunStore = {
    ...store,
    claim: async (id, lease) => {
      if (++claims !== 2) return await store.claim(id, lease).finally(claimed.give)
      await claimed.given
      await knex('pay_reconcile_run_shops').update({ leased_until: new Date(0) })
      const part = await store.claim(id, lease)
      await advanced.given
      return part
    },
    advance: async (part, items, lease) => {
      const isFirst = ++advances === 1
      const next = await store.advance(part, items, lease)
      if (!isFirst) overtaken.give()
      else advanced.give()
      if (isFirst) await overtaken.given
      return next
    }
  }
  const world = await build(t, knex, { ...fast, shopsAtOnce: 2, runs, leaseDuration: 60_000 })
  const shopId = await shopOf(world, 'sk_test_lapsed', 20)
  t.match(await finished(world, await start(world, sync(shopId))), {
    status: 'done',
    processed: 20,
    outcomes: { synced: 20 }
  })
}

function signal (): { readonly given: Promise<void>, readonly give: () => void } {
  let give = (): void => {}
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give: () => give() }
}
