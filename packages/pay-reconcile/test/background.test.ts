import t from 'tap'
import { mock } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { NewRun, RunStore } from '../src/index.ts'
import { knexAccountStore, knexRunStore, knexWebhookSecrets } from '../src/knex/index.ts'
import type { BulkRunner } from '../src/reconcile/runner.ts'
import { slotsFrom } from '../src/schedule/options.ts'
import { scheduler } from '../src/schedule/scheduler.ts'
import { gathering } from '../src/webhooks/gathering.ts'
import { fast } from './bulk.ts'
import { pglite } from './database.ts'
import { standingTime } from './time.ts'
import { build, host } from './world.ts'

const down = (): Promise<never> => Promise.reject(new RangeError('the database is down'))

const until = async (holds: () => boolean): Promise<void> => { while (!holds()) await sleep(2) }

/** A logger, and what it logged. */
function logger () {
  const logs: unknown[] = []
  return { logs, log: { warn: ({ err }: { err: Error }, message: string) => logs.push([message, err.message]) } as unknown as FastifyBaseLogger }
}

t.test('the work in the background', async t => {
  const knex = await pglite.connect(t)
  await knex.raw('alter table shops add pay_webhook_secret text')
  const { standIn } = await build(t, knex)
  const [accounts, runs, secrets] = [knexAccountStore(knex), knexRunStore(knex), knexWebhookSecrets(knex)]
  const options = { ...fast, schedule: { check: '0 3 * * *' }, webhooks: { secrets } }

  await t.test('what fails is logged, with its cause, and tried again', async t => {
    let calls = 0
    const failing: RunStore = { ...runs, deleteExpired: down, claimable: () => { calls++; return down() }, lastSlot: down, awaited: { ...runs.awaited!, start: down } }
    const { logs, app } = await host(t, knex, standIn, { ...options, leaseDuration: 20, runs: failing, accounts: { ...accounts, deleteExpired: down } })
    await until(() => calls >= 3)
    await app.close()
    const closedAt = calls
    const warnings = new Map(logs().split('\n').filter(line => line !== '').map(line => JSON.parse(line)).filter(({ level }) => level === 40)
      .map(({ msg, err }) => [msg, [err.code, /RangeError: the database is down/.test(err.stack)]]))
    t.strictSame([...warnings].sort(), [
      'a run after webhooks could not be started', 'a scheduled run could not be started', 'expired runs were not deleted', 'expired snapshots were not deleted', 'interrupted runs were not resumed'
    ].map(message => [message, ['PAY_RECONCILE_STORE_FAILED', true]]))
    await sleep(45)
    t.equal(calls, closedAt, 'until the application closes')
  })

  await t.test('expired records are deleted at startup and hourly, the other work is repeated for as long as a lease', async t => {
    const intervals: unknown[] = []
    const { setInterval: real } = globalThis
    globalThis.setInterval = ((work: () => void, interval: number) => { intervals.push(interval); return real(work, interval) }) as typeof setInterval
    t.teardown(() => { globalThis.setInterval = real })
    const deleted: string[] = []
    await host(t, knex, standIn, {
      ...options, leaseDuration: 54_321, runs: { ...runs, deleteExpired: async () => { deleted.push('runs') } }, accounts: { ...accounts, deleteExpired: async () => { deleted.push('snapshots') } }
    })
    t.strictSame(intervals, [3_600_000, 54_321, 54_321, 54_321])
    t.strictSame(deleted, ['snapshots', 'runs'])
    const { deleteExpired: _, ...withoutRuns } = runs
    const { deleteExpired: __, ...withoutSnapshots } = accounts
    const other = await host(t, knex, standIn, { ...options, runs: withoutRuns, accounts: withoutSnapshots })
    t.notMatch(other.logs(), '"level":40', 'a store may keep everything')
  })

  await t.test('a store that does not respond does not hold up the start', async t => {
    standingTime(t)
    const never = (): Promise<never> => new Promise(() => {})
    for (const silent of [{ accounts: { ...accounts, ready: never, deleteExpired: never } }, { runs: { ...runs, ready: never, deleteExpired: never } }, { webhooks: { secrets: { ...secrets, ready: never } } }]) {
      const { logs } = await host(t, knex, standIn, { ...options, ...silent })
      const warning = logs().split('\n').filter(line => line.includes('"level":40')).map(line => JSON.parse(line))
      t.match(warning, [{ msg: 'the tables cannot be checked at the moment', err: { code: 'PAY_RECONCILE_STORE_FAILED', cause: 'no response in 5000 ms' } }], Object.keys(silent).join())
    }
  })

  await t.test('runs that nobody asked for say by whom they were started', async t => {
    const started: NewRun[] = []
    const recording: RunStore = {
      ...runs,
      lastSlot: async () => '2000-01-01T00:00:00.000Z',
      startSlot: async run => { started.push(run); return false },
      awaited: { ...runs.awaited!, start: async run => { started.push(run); return { started: false, left: false } } }
    }
    await host(t, knex, standIn, { ...options, schedule: { check: '0 3 * * *', sync: '0 4 * * *', changes: '0 5 * * *' }, runs: recording })
    const own = { shopId: null, requestId: null, selection: {} }
    const scheduled = (mode: string, dryRun: boolean, hour: number) => ({ ...own, mode, dryRun, actor: 'schedule', slot: new RegExp(`T0${hour}:00:00.000Z$`) })
    t.match(started, [scheduled('check', true, 3), scheduled('sync', false, 4), scheduled('changes', false, 5), { ...own, mode: 'changes', dryRun: false, actor: 'webhook', slot: null, webhook: true }])
  })

  await t.test('a run starts at its slot, while the application is open', async t => {
    const slot = Date.UTC(2026, 0, 31, 3)
    mock.timers.enable({ apis: ['Date'], now: slot - 20 })
    t.teardown(() => mock.timers.reset())
    const started: string[] = []
    const counting: RunStore = { ...runs, lastSlot: async () => '2026-01-30T03:00:00.000Z', startSlot: async ({ slot }) => { started.push(slot); return false } }
    await host(t, knex, standIn, { ...fast, leaseDuration: 60_000, schedule: { check: '0 3 * * *' }, runs: counting })
    t.strictSame(started, [])
    mock.timers.setTime(slot + 5)
    await until(() => started.length > 0)
    t.strictSame(started, ['2026-01-31T03:00:00.000Z'])
  })

  await t.test('shops that are left wait until the application closes', async t => {
    let starts = 0
    const held: RunStore = { ...runs, awaited: { ...runs.awaited!, start: async () => { starts++; return { started: false, left: true } } } }
    const { app } = await host(t, knex, standIn, { ...fast, leaseDuration: 60_000, webhooks: { secrets, delay: 2 }, runs: held })
    await until(() => starts > 2)
    await app.close()
    const atClose = starts
    await sleep(25)
    t.equal(starts, atClose)
  })
})

t.test('jobs end with their scheduler', async t => {
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: Date.UTC(2026, 0, 31, 2, 59) })
  t.teardown(() => mock.timers.reset())
  const started: unknown[] = []
  const { log } = logger()
  const due = scheduler(slotsFrom({ check: '0 3 * * *' }), { lastSlot: async () => '2026-01-30T03:00:00.000Z' } as unknown as RunStore, { startSlot: async (_mode: string, slot: string) => { started.push(slot) } } as unknown as BulkRunner, log)
  const after = async (seconds: number) => {
    // In steps: a job whose time is far off looks at the clock now and then.
    for (let left = seconds; left > 0; left -= 30) mock.timers.tick(Math.min(left, 30) * 1000)
    await new Promise(resolve => setImmediate(resolve))
    return [...started]
  }
  due.open()
  const [first, second] = ['2026-01-31T03:00:00.000Z', '2026-02-01T03:00:00.000Z']
  t.strictSame([await after(59), await after(1), await after(86_400)], [[], [first], [first, second]])
  due.close()
  t.strictSame(await after(86_400), [first, second])
})

t.test('a slot is started once: later, and for a mode of its own', async t => {
  const [earlier, slot] = ['2026-01-30T03:00:00.000Z', '2026-01-31T03:00:00.000Z']
  const slots = (latest: Date | undefined) => (['check', 'sync'] as const).map(mode => ({ mode, pattern: '0 3 * * *', timezone: 'UTC', latest: () => latest }))
  for (const [title, latest, last, wanted] of [
    ['a slot that was missed', new Date(slot), earlier, [['check', slot], ['sync', slot]]], ['one that has a run', new Date(slot), slot, []], ['a pattern that had none', undefined, earlier, []]
  ] as const) {
    const [started, asked]: [unknown[], unknown[]] = [[], []]
    const { log, logs } = logger()
    await scheduler(slots(latest), { lastSlot: async (mode: string) => { asked.push(mode); return last } } as unknown as RunStore,
      { startSlot: async (...run: unknown[]) => { started.push(run) } } as unknown as BulkRunner, log).startDue()
    t.strictSame([started, asked, logs], [wanted, ['check', 'sync'], []], title)
  }
  const { log, logs } = logger()
  await scheduler(slots(new Date(slot)), { lastSlot: down } as unknown as RunStore, {} as BulkRunner, log).startDue()
  t.strictSame(logs, [['a scheduled run could not be started', 'the database is down']])
})

t.test('deliveries are gathered until the delay is over', async t => {
  const answers: Array<boolean | undefined> = [false, undefined, true, false]
  let started = 0
  const { log, logs } = logger()
  const runner = { startAwaited: async () => { started++; const left = answers.shift(); return left ?? down() } } as unknown as BulkRunner
  const gathered = gathering({} as never, runner, 10, log)
  gathered.soon()
  gathered.soon()
  t.equal(started, 0)
  await until(() => started >= 1)
  await sleep(25)
  t.equal(started, 1, 'two deliveries are one run')
  gathered.soon()
  await until(() => started >= 2)
  await sleep(0)
  t.strictSame(logs, [['a run after webhooks could not be started', 'the database is down']])
  await gathered.now()
  t.equal(started, 3)
  await until(() => started >= 4)
  await sleep(25)
  t.equal(started, 4, 'shops that are left are tried again, others are not')
  gathered.soon()
  gathered.close()
  gathered.soon()
  await sleep(25)
  t.equal(started, 4, 'nothing is started after the end')
})
