import type { Knex } from 'knex'
import t, { type Test } from 'tap'
import { knexRunStore } from '../src/knex/index.ts'
import type { PayReconcileOptions, RunStore } from '../src/index.ts'
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
    const knex = await engine.connect(t)
    const world = await build(t, knex, { ...fast, runs: apart(knex) })
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

/**
 * Runs that only processes with the same set continue. Each process of the file would else take those of another that
 * is slow to begin. Their leases outlast any standstill, however often they are renewed.
 */
function apart (knex: Knex, own = new Set<string>()): RunStore {
  const runs = knexRunStore(knex)
  const duration = 3_600_000
  return {
    ...runs,
    start: async (run, shops, targets) => {
      own.add(run.id)
      await runs.start(run, shops, targets)
    },
    claimable: async () => (await runs.claimable()).filter((id) => own.has(id)),
    claim: (id, lease) => runs.claim(id, { ...lease, duration }),
    renew: (part, lease) => runs.renew(part, { ...lease, duration })
  }
}

/** A process with a store of its own. */
async function hostOf (
  t: Test,
  { knex, standIn }: World,
  options: Partial<PayReconcileOptions> = {},
  runs = apart(knex)
): Promise<World> {
  return await host(t, knex, standIn, { ...fast, runs, ...options })
}

const sync = (shopId: string) => ({ mode: 'sync', dry_run: false, shop_id: shopId })

async function rateLimited (t: Test, world: World): Promise<void> {
  const shopId = await shopOf(world, 'sk_test_limited', 3, 100)
  const alone = await hostOf(t, world, { accountsAtOnce: 1 })
  world.standIn.fault({
    kind: 'answer',
    status: 429,
    secretKey: 'sk_test_limited',
    headers: { 'stripe-should-retry': 'false' },
    times: 4
  })
  t.match(await finished(alone, await start(alone, sync(shopId))), {
    status: 'done',
    outcomes: { synced: 3, failed: undefined },
    shops: { stopped: [] }
  })
}

async function keepsItsRate (t: Test, world: World): Promise<void> {
  const shopId = await shopOf(world, 'sk_test_rate', 4, 150)
  const slow = await hostOf(t, world, { perSecond: 2 })
  const before = performance.now()
  t.match(await finished(slow, await start(slow, sync(shopId))), { status: 'done', outcomes: { synced: 4 } })
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
  const renewed: string[] = []
  const runs = apart(world.knex)
  const slow = await hostOf(t, world, { perSecond: 2 }, {
    ...runs,
    renew: async (part, lease) => {
      const next = await runs.renew(part, lease)
      renewed.push(part.runId)
      return next
    }
  })
  const owner = async (run: string) =>
    (await world.knex('pay_reconcile_run_shops').where('run_id', run).first('owner')).owner
  const isTold = (run: string): boolean =>
    new RegExp(`"runId":"${run}","wait":3\\d{6}[.\\d]*,"msg":"waiting for the payment provider"`).test(slow.logs())
  const runId = await start(slow, sync(shopId))
  while (!await owner(runId)) await pause(5)
  const first = await owner(runId)
  const behind = await start(slow, sync(sameKey))
  // The log says why nothing happens.
  while (!isTold(runId) || !isTold(behind)) await pause(5)
  const before = renewed.length
  while (renewed.slice(before).filter((run) => run === runId).length < 3) await pause(5)
  t.equal(await owner(runId), first)
  const other = await hostOf(t, world, {}, runs)
  for (const [run, through] of [[behind, slow], [runId, other]] as const) {
    t.match((await other.call('GET', `/admin/accounts/reconcile/${run}`)).json(), { status: 'running', processed: 0 })
    await through.call('DELETE', `/admin/accounts/reconcile/${run}`)
    t.match(await finished(slow, run), { status: 'cancelled', outcomes: { synced: undefined } })
  }
  end()
}

async function cancelledBetweenCalls (t: Test, world: World): Promise<void> {
  const { knex, standIn } = world
  const key = 'sk_test_between'
  const shopId = await world.addShop({ key })
  for (const n of [220, 221, 222]) await world.addAccount(shopId, { email: 'Ada@Example.com' }, { id: id(n) })
  standIn.addAccount(key, { customers: [{ id: 'cus_named', metadata: { account_id: id(221) } }] })
  const moveOn = standingRate(t)
  const slow = await hostOf(t, world, { perSecond: 2 })
  const before = standIn.requests.length
  const runId = await start(slow, { mode: 'link', dry_run: false, shop_id: shopId })
  // The second account is linked by two calls, while the first one has made two of its three.
  for (let calls = 1; calls < 4; calls++) {
    while (standIn.requests.length < before + calls) await pause(5)
    moveOn(511)
  }
  while (await writes(knex, runId) === 0) await pause(5)
  await slow.call('DELETE', `/admin/accounts/reconcile/${runId}`)
  t.match(await finished(slow, runId), { status: 'cancelled', processed: 1, outcomes: { linked: 1 } })
  const fresh = await hostOf(t, world)
  const resting = await start(fresh, { mode: 'link', dry_run: false, failed_in: runId })
  while ((await knex('pay_reconcile_runs').where('id', resting).first('finished_at')).finished_at === null) {
    moveOn(10)
    await pause(5)
  }
  const rest = await finished(fresh, resting)
  t.match(rest, { status: 'done', total: 2, processed: 2, outcomes: { unmatched: 2 } })
}

/** Lets the clock of rate limits stand still. @returns moves it on by milliseconds */
function standingRate (t: Test): (duration: number) => void {
  const { now } = performance
  let at = performance.now()
  performance.now = () => at
  t.teardown(() => {
    performance.now = now
  })
  return (duration) => {
    at += duration
  }
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
  const runs = apart(knex)
  const closing = await hostOf(t, world, { perSecond: 4, leaseDuration: 60_000 }, runs)
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
  const next = await hostOf(t, world, {}, runs)
  t.match(await finished(next, runId), { status: 'done', processed: 4, outcomes: { synced: 4 } })
  t.match(await world.detailsOf(id(500)), { pay_customer: { id: 'cus_0' } })
  t.equal(await writes(knex, runId), 4, 'and nothing is written twice')
}

async function failingRenewal (t: Test, world: World): Promise<void> {
  // However late a renewal is by the clock of a busy machine.
  const { now } = Date
  const at = now()
  Date.now = () => at
  t.teardown(() => {
    Date.now = now
  })
  const shopId = await shopOf(world, 'sk_test_renewal', 2, 600)
  let failures = 1
  const renewed: unknown[] = []
  const released: unknown[] = []
  const runs = apart(world.knex)
  const unsteady = await hostOf(t, world, { leaseDuration: 300 }, {
    ...runs,
    renew: (part, lease) => {
      renewed.push(part)
      return failures-- > 0 ? Promise.reject(new RangeError('connection lost')) : runs.renew(part, lease)
    },
    advance: async (part, items, lease) => {
      while (renewed.length < 2) await pause(5)
      return await runs.advance(part, items, lease)
    },
    release: (part, lease) => {
      released.push(part)
      return runs.release(part, lease)
    }
  })
  const id = await start(unsteady, sync(shopId))
  t.match(await finished(unsteady, id), { status: 'done', outcomes: { synced: 2 } })
  t.match(unsteady.logs(), `"runId":"${id}","msg":"the lease was not renewed"`)
  t.match(unsteady.logs(), /"message":"[^"]*: connection lost"/)
  t.strictSame(released, [])
}

async function lostLease (t: Test, world: World): Promise<void> {
  const shopId = await shopOf(world, 'sk_test_lease', 2, 700)
  const end = world.standIn.fault({ kind: 'hang', secretKey: 'sk_test_lease' })
  const released: unknown[] = []
  const runs = apart(world.knex)
  const unlucky = await hostOf(t, world, { leaseDuration: 1000 }, {
    ...runs,
    renew: async (part, lease) => released.length > 0 ? await runs.renew(part, lease) : 'lost',
    release: async (part, lease) => {
      released.push(part.processed)
      await runs.release(part, lease)
    }
  })
  const runId = await start(unlucky, sync(shopId))
  while (released.length === 0) await pause(5)
  end()
  t.match(await finished(unlucky, runId), { status: 'done', outcomes: { synced: 2 } })
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
