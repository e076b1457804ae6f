import t, { type Test } from 'tap'
import Fastify from 'fastify'
import { randomUUID } from 'node:crypto'
import payReconcile from '../src/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { schedule, type Schedule } from '../src/schedule/index.ts'
import { scheduledFrom } from '../src/schedule/options.ts'
import { fast, finished, pause, start } from './bulk.ts'
import { engines, pglite } from './database.ts'
import { build, host, type World } from './world.ts'

t.test('the last scheduled time is that at or before a time', async (t) => {
  for (
    const [pattern, timezone, now, time] of [
      ['0 3 * * *', undefined, '2026-05-02T03:00:00.000Z', '2026-05-02T03:00:00.000Z'],
      ['0 3 * * *', undefined, '2026-05-02T02:59:59.999Z', '2026-05-01T03:00:00.000Z'],
      ['*/5 * * * *', undefined, '2026-05-02T02:59:59.999Z', '2026-05-02T02:55:00.000Z'],
      // Once a day, also when the clock changes: at the first time after one that is left out, in the first of two that
      // are the same.
      ['0 3 * * *', 'Europe/Oslo', '2026-03-28T12:00:00.000Z', '2026-03-28T02:00:00.000Z'],
      ['0 3 * * *', 'Europe/Oslo', '2026-03-29T12:00:00.000Z', '2026-03-29T01:00:00.000Z'],
      ['30 2 * * *', 'Europe/Oslo', '2026-03-29T12:00:00.000Z', '2026-03-29T01:00:00.000Z'],
      ['30 2 * * *', 'Europe/Oslo', '2026-10-25T12:00:00.000Z', '2026-10-25T00:30:00.000Z'],
      ['0 0 29 2 *', undefined, '2026-05-02T02:00:00.000Z', '2024-02-29T00:00:00.000Z']
    ] as const
  ) {
    const [scheduled] = scheduledFrom({ check: pattern, ...(timezone && { timezone }) })
    t.equal(scheduled?.latest(new Date(now))?.toISOString(), time, `${pattern} at ${now}`)
  }
})

t.test('a schedule that cannot be used stops startup', async (t) => {
  const knex = await pglite.connect(t)
  for (
    const [wrong, message] of [
      [{ check: '0 3 * *' }, /schedule\.check must be a cron pattern such as 0 3 \* \* \*: /],
      [{ check: '0 0 3 * * *' }, /schedule\.check must be a cron pattern/],
      [{ sync: '61 * * * *' }, /schedule\.sync must be a cron pattern/],
      [{ sync: '0 0 30 2 *' }, /schedule\.sync must be a cron pattern such as 0 3 \* \* \*: it never matches/],
      [{ check: 5 }, /schedule\.check must be a cron pattern/],
      [
        { check: '0 3 * * *', timezone: 'Oslo' },
        /schedule\.timezone must be the name of a time zone such as Europe\/Oslo/
      ],
      [{ link: '0 3 * * *' }, /schedule\.link is not an option\. Known: check, sync, changes, timezone/]
    ] as const
  ) {
    await t.rejects(
      host(t, knex, await standInOf(t), {
        extensions: [schedule(wrong as Schedule)]
      }),
      {
        code: 'PAY_RECONCILE_INVALID_OPTION',
        message
      }
    )
  }
  const app = Fastify()
  app.register(payReconcile, {
    accounts: knexAccountStore(knex),
    provider: stripeProvider(),
    authorize: async () => {},
    actor: () => 'a',
    extensions: [schedule({ check: '0 3 * * *' })]
  })
  await t.rejects(async () => await app.ready(), {
    code: 'PAY_RECONCILE_INVALID_OPTION',
    message: /schedule needs runs/
  })
  for (const keepScheduledRuns of [0, 36_500.5, NaN]) {
    t.throws(() => knexRunStore(knex, { keepScheduledRuns }), {
      code: 'PAY_RECONCILE_INVALID_OPTION',
      message: /keepScheduledRuns must be/
    })
  }
  for (const keepRuns of [0, 36_500.5, NaN]) {
    t.throws(() => knexRunStore(knex, { keepRuns }), {
      code: 'PAY_RECONCILE_INVALID_OPTION',
      message: /keepRuns must be/
    })
  }
  t.doesNotThrow(() => knexRunStore(knex, { keepScheduledRuns: 36_500, keepRuns: 36_500 }))
})

for (const engine of engines) {
  t.test(`the schedule on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const world = await build(t, await engine.connect(t), fast)
    await t.test('processes that miss scheduled times start one run, for the last of them', (t) =>
      missedTimes(t, world))
    await t.test('a scheduled time has one run, however many processes try', (t) => oneRun(t, world))
    await t.test('a shop that another run holds is left out, and named', (t) => busyShop(t, world))
    await t.test('a sync by the schedule writes, and nobody is asked whether it may', (t) => scheduledSync(t, world))
    await t.test('old runs of the schedule are deleted, others are not', (t) => expiry(t, world))
  })
}

const nightly = { check: '0 3 * * *' }
const lastNight = () => scheduledFrom(nightly)[0]!.latest(new Date())!.toISOString()

async function scheduledRuns ({ call }: World) {
  return (await call('GET', '/admin/accounts/reconcile?filter={"actor":"schedule"}&sort=started_at')).json()
}

async function missedTimes (t: Test, world: World): Promise<void> {
  const { knex, standIn } = world
  const shopId = await world.addShop()
  await world.addAccount(shopId, {})
  const replicas = () =>
    Promise.all(Array.from({ length: 4 }, () => host(t, knex, standIn, { ...fast, extensions: [schedule(nightly)] })))
  await replicas()
  await pause(100)
  t.strictSame(await scheduledRuns(world), [], 'nothing was missed before there was a schedule')

  await knex('pay_reconcile_schedule').update({ scheduled_for: knex.raw("now() - interval '5 days'") })
  const [first] = await replicas()
  const time = lastNight()
  while ((await scheduledRuns(first!)).length === 0) await pause()
  const [{ id }] = await scheduledRuns(world)
  t.match(await finished(world, id), {
    mode: 'check',
    dry_run: true,
    actor: 'schedule',
    scheduled_for: time,
    status: 'done',
    shop_id: null,
    differences: { missing: 1 },
    shops: { stopped: [] }
  })
  await replicas()
  await pause(100)
  t.equal((await scheduledRuns(world)).length, 1)
  t.strictSame(
    (await world.call('GET', `/admin/accounts/reconcile?filter={"scheduled_for":"${time}"}`)).json().map((
      run: { id: string }
    ) => run.id),
    [id],
    'runs are found by their scheduled time'
  )
  t.equal((await world.call('GET', '/admin/accounts/reconcile?filter={"scheduled_for":null}')).json().length, 0)
}

async function oneRun (t: Test, { knex }: World): Promise<void> {
  const store = knexRunStore(knex)
  const at = (minute: number) => new Date(Date.UTC(2030, 0, 1, 0, minute)).toISOString()
  await store.lastScheduled('sync', at(0))
  t.equal(await store.lastScheduled('sync', at(5)), at(0), 'the first time is remembered')
  for (let minute = 1; minute <= 5; minute++) {
    const tries = await Promise.all(
      Array.from({ length: 10 }, async () =>
        store.startScheduled({
          id: randomUUID(),
          mode: 'sync',
          dryRun: true,
          shopId: null,
          actor: 'schedule',
          requestId: null,
          selection: {},
          scheduledFor: at(minute)
        }, []))
    )
    t.equal(tries.filter((started) => started).length, 1)
  }
  t.equal(
    await store.startScheduled({
      id: randomUUID(),
      mode: 'sync',
      dryRun: true,
      shopId: null,
      actor: 'schedule',
      requestId: null,
      selection: {},
      scheduledFor: at(3)
    }, []),
    false,
    'a time before the last one is over'
  )
  t.equal(await store.lastScheduled('sync', at(9)), at(5))
  await knex('pay_reconcile_runs').delete()
  await knex('pay_reconcile_schedule').delete()
}

async function busyShop (t: Test, world: World): Promise<void> {
  const { knex, standIn } = world
  standIn.addAccount('sk_test_busy', { customers: [{ id: 'cus_1' }] })
  const shopId = await world.addShop({ key: 'sk_test_busy' })
  await world.addAccount(shopId, { pay_customer_id: 'cus_1' })
  const end = standIn.fault({ kind: 'slow', delay: 8000, secretKey: 'sk_test_busy' })
  const busy = await start(world, { mode: 'sync', shop_id: shopId })
  await knex('pay_reconcile_schedule').insert({
    registration: 'accounts',
    mode: 'check',
    scheduled_for: knex.raw("now() - interval '5 days'")
  })
  const scheduled = await host(t, knex, standIn, { ...fast, extensions: [schedule(nightly)] })
  while ((await scheduledRuns(scheduled)).length === 0) await pause()
  const [{ id }] = await scheduledRuns(world)
  t.match(await finished(world, id), {
    status: 'done',
    shops: { stopped: [{ shop_id: shopId, reason: 'PAY_RECONCILE_RUN_ACTIVE' }] }
  })
  end()
  await finished(world, busy)
  const retry = await finished(world, await start(world, { mode: 'check', failed_in: id }))
  t.match(retry, { total: 1, processed: 1 }, 'and failed_in picks its accounts')
}

async function scheduledSync (t: Test, world: World): Promise<void> {
  const { knex, standIn } = world
  await knex('pay_reconcile_schedule').insert({
    registration: 'accounts',
    mode: 'sync',
    scheduled_for: knex.raw("now() - interval '5 days'")
  })
  const scheduled = await host(t, knex, standIn, {
    ...fast,
    extensions: [schedule({ sync: nightly.check })],
    mayContinue: () => false
  })
  while ((await scheduledRuns(scheduled)).length < 2) await pause()
  const { id } = (await scheduledRuns(world)).at(-1)
  t.match(await finished(world, id), { mode: 'sync', dry_run: false, outcomes: { synced: 1 }, shops: { stopped: [] } })
  const [written] = (await world.call('GET', `/admin/accounts/audit?filter={"run_id":"${id}"}`)).json()
  t.match(written, { actor: 'schedule', action: 'sync' })
}

async function expiry (t: Test, { knex }: World): Promise<void> {
  await knex('pay_reconcile_runs').update({ finished_at: knex.raw("now() - interval '30 days 1 second'") })
  const others = (await knex('pay_reconcile_runs').whereNull('scheduled_for')).length
  await knexRunStore(knex, { keepScheduledRuns: 32 }).deleteExpired?.()
  t.ok((await knex('pay_reconcile_runs').whereNotNull('scheduled_for')).length > 0)
  await knexRunStore(knex).deleteExpired?.()
  t.equal((await knex('pay_reconcile_runs').whereNotNull('scheduled_for')).length, 0)
  t.equal((await knex('pay_reconcile_runs')).length, others)
  await knexRunStore(knex, { keepRuns: 31 }).deleteExpired?.()
  t.equal((await knex('pay_reconcile_runs')).length, others, 'those that somebody started, if they are young')
  await knexRunStore(knex, { keepRuns: 30 }).deleteExpired?.()
  t.strictSame([
    await knex('pay_reconcile_runs').whereNull('scheduled_for').where({ webhook: false }),
    await knex('pay_reconcile_items')
  ], [[], []])
}

async function standInOf (t: Test) {
  const { startPayStandIn } = await import('../src/testing/index.ts')
  const standIn = await startPayStandIn({ accounts: {}, log: () => {} })
  t.teardown(() => standIn.close())
  return standIn
}
