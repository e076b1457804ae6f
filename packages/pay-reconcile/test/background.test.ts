import t from 'tap'
import { mock } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NewRun, RunStore } from '../src/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { schedule } from '../src/schedule/index.ts'
import { knexWebhookSecrets, webhooks } from '../src/webhooks/index.ts'
import { fast } from './bulk.ts'
import { pglite } from './database.ts'
import { standingTime } from './time.ts'
import { build, host } from './world.ts'

const down = (): Promise<never> => Promise.reject(new RangeError('the database is down'))

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(2)
}

t.test('the work in the background', async (t) => {
  const knex = await pglite.connect(t)
  await knex.raw('alter table shops add pay_webhook_secret text')
  const { standIn } = await build(t, knex)
  const [accounts, runs, secrets] = [knexAccountStore(knex), knexRunStore(knex), knexWebhookSecrets(knex)]
  const options = { ...fast, extensions: [schedule({ check: '0 3 * * *' }), webhooks({ secrets })] }

  await t.test('what fails is logged, with its cause, and tried again', async (t) => {
    let calls = 0
    const failing: RunStore = {
      ...runs,
      deleteExpired: down,
      claimable: () => {
        calls++
        return down()
      },
      lastScheduled: down,
      awaited: { ...runs.awaited!, start: down }
    }
    const { logs, app } = await host(t, knex, standIn, {
      ...options,
      leaseDuration: 20,
      runs: failing,
      accounts: { ...accounts, deleteExpired: down }
    })
    await until(() => calls >= 3)
    await app.close()
    const closedAt = calls
    const warnings = new Map(
      logs().split('\n').filter((line) => line !== '').map((line) => JSON.parse(line)).filter(({ level }) =>
        level === 40
      )
        .map(({ msg, err }) => [msg, [err.code, /RangeError: the database is down/.test(err.stack)]])
    )
    t.strictSame(
      [...warnings].sort(),
      [
        'a run after webhooks could not be started',
        'a scheduled run could not be started',
        'expired runs were not deleted',
        'expired snapshots were not deleted',
        'interrupted runs were not resumed'
      ].map((message) => [message, ['PAY_RECONCILE_STORE_FAILED', true]])
    )
    await sleep(45)
    t.equal(calls, closedAt, 'until the application closes')
  })

  await t.test('a store that does not respond does not hold up the start', async (t) => {
    standingTime(t)
    const never = (): Promise<never> => new Promise(() => {})
    for (
      const silent of [{ accounts: { ...accounts, ready: never, deleteExpired: never } }, {
        runs: { ...runs, ready: never, deleteExpired: never }
      }, { extensions: [webhooks({ secrets: { ...secrets, ready: never } })] }]
    ) {
      const { logs } = await host(t, knex, standIn, { ...options, ...silent })
      const warning = logs().split('\n').filter((line) => line.includes('"level":40')).map((line) => JSON.parse(line))
      t.match(warning, [{
        msg: 'the tables cannot be checked at the moment',
        err: { code: 'PAY_RECONCILE_STORE_FAILED', cause: 'no response in 5000 ms' }
      }], Object.keys(silent).join())
    }
  })

  await t.test('runs that nobody asked for say by whom they were started', async (t) => {
    const started: NewRun[] = []
    const recording: RunStore = {
      ...runs,
      lastScheduled: async () => '2000-01-01T00:00:00.000Z',
      startScheduled: async (run) => {
        started.push(run)
        return false
      },
      awaited: {
        ...runs.awaited!,
        start: async (run) => {
          started.push(run)
          return { started: false, left: false }
        }
      }
    }
    await host(t, knex, standIn, {
      ...options,
      extensions: [
        schedule({ check: '0 3 * * *', sync: '0 4 * * *', changes: '0 5 * * *' }),
        webhooks({ secrets })
      ],
      runs: recording
    })
    const own = { shopId: null, requestId: null, selection: {} }
    const scheduled = (mode: string, dryRun: boolean, hour: number) => ({
      ...own,
      mode,
      dryRun,
      actor: 'schedule',
      scheduledFor: new RegExp(`T0${hour}:00:00.000Z$`)
    })
    t.match(started, [scheduled('check', true, 3), scheduled('sync', false, 4), scheduled('changes', false, 5), {
      ...own,
      mode: 'changes',
      dryRun: false,
      actor: 'webhook',
      scheduledFor: null,
      webhook: true
    }])
  })

  await t.test('a run starts at its scheduled time, while the application is open', async (t) => {
    const time = Date.UTC(2026, 0, 31, 3)
    mock.timers.enable({ apis: ['Date'], now: time - 20 })
    t.teardown(() => mock.timers.reset())
    const started: string[] = []
    const counting: RunStore = {
      ...runs,
      lastScheduled: async () => '2026-01-30T03:00:00.000Z',
      startScheduled: async ({ scheduledFor }) => {
        started.push(scheduledFor)
        return false
      }
    }
    await host(t, knex, standIn, {
      ...fast,
      leaseDuration: 60_000,
      extensions: [schedule({ check: '0 3 * * *' })],
      runs: counting
    })
    t.strictSame(started, [])
    mock.timers.setTime(time + 5)
    await until(() => started.length > 0)
    t.strictSame(started, ['2026-01-31T03:00:00.000Z'])
  })

  await t.test('shops that are left wait until the application closes', async (t) => {
    let starts = 0
    const held: RunStore = {
      ...runs,
      awaited: {
        ...runs.awaited!,
        start: async () => {
          starts++
          return { started: false, left: true }
        }
      }
    }
    const { app } = await host(t, knex, standIn, {
      ...fast,
      leaseDuration: 60_000,
      extensions: [webhooks({ secrets, delay: 2 })],
      runs: held
    })
    await until(() => starts > 2)
    await app.close()
    const atClose = starts
    await sleep(25)
    t.equal(starts, atClose)
  })
})
