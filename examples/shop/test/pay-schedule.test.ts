import t from 'tap'
import { bearer, build, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t, ['root'])
const METRICS_TOKEN = 'canary-metrics-token-0123456789'
const settings = { METRICS_TOKEN, PAY_SCHEDULE_CHECK: '0 3 * * *' }

t.test('accounts are checked by the schedule, and the metrics say so', async (t) => {
  await build(t, database, idp, { settings })
  await database.knex('pay_reconcile_schedule').update({ scheduled_for: '2026-01-01T03:00:00Z' })
  const app = await build(t, database, idp, { settings })
  const metrics = async (): Promise<string> =>
    (await app.inject({ url: '/metrics', headers: bearer(METRICS_TOKEN) })).body
  const finished = /^pay_reconcile_scheduled_timestamp_seconds\{mode="check",state="finished"\} (\d+)$/m
  while (!finished.test(await metrics())) await new Promise((resolve) => setTimeout(resolve, 20))
  const [, time = ''] = finished.exec(await metrics()) ?? []
  t.match(new Date(Number(time) * 1000).toISOString(), /T03:00:00\.000Z$/)
  t.match(await metrics(), `state="started"} ${time}`)
  const admin = bearer(await idp.userToken('root'))
  await app.inject({ url: '/shops', headers: admin })
  await database.knex('users').where({ name: 'root' }).update({ roles: ['admin'] })
  const [run] = (await app.inject({ url: '/admin/accounts/reconcile?filter={"actor":"schedule"}', headers: admin }))
    .json()
  t.match(run, {
    mode: 'check',
    dry_run: true,
    actor: 'schedule',
    scheduled_for: new Date(Number(time) * 1000).toISOString()
  })
})

t.test('a schedule that cannot be used stops the server', async (t) => {
  await t.rejects(
    build(t, database, idp, { settings: { PAY_SCHEDULE_CHECK: '0 3 * *' } }),
    /PAY_SCHEDULE_CHECK has the wrong format: .*\. Expected: When to compare all accounts/
  )
  await t.rejects(build(t, database, idp, { settings: { PAY_SCHEDULE_CHECK: '61 3 * * *' } }), {
    code: 'PAY_RECONCILE_INVALID_OPTION',
    message: /schedule\.check must be a cron pattern/
  })
  await t.rejects(build(t, database, idp, { settings: { ...settings, PAY_SCHEDULE_TIMEZONE: 'Oslo' } }), {
    code: 'PAY_RECONCILE_INVALID_OPTION',
    message: /schedule\.timezone/
  })
})
