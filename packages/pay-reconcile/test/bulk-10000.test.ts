import t from 'tap'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { fast, fill, fingerprint, finished, pause, start, writes } from './bulk.ts'
import { postgresql } from './database.ts'
import { build } from './world.ts'

t.setTimeout(600_000)
const size = 10_000
const right = size * 0.9

t.test('a bulk run over 10,000 accounts', { skip: postgresql.skip, timeout: 600_000 }, async (t) => {
  const knex = await postgresql.connect(t)
  const world = await build(t, knex, fast)
  await fill(world, size)
  const untouched = await fingerprint(knex)

  const dry = await finished(world, await start(world, { mode: 'sync' }))
  t.match(dry, {
    status: 'done',
    dry_run: true,
    total: size,
    outcomes: { synced: right },
    differences: { never_synced: right }
  })
  t.equal(await fingerprint(knex), untouched, 'a dry run changes nothing')
  t.equal(await writes(knex), 0)

  const url = new URL(process.env.TEST_DATABASE_URL ?? '')
  url.pathname = `/${knex.client.connectionSettings.database}`
  const script = fileURLToPath(new URL('./killed-host.ts', import.meta.url))
  const child = spawn(process.execPath, [
    ...process.execArgv,
    script,
    url.href,
    String(world.standIn.port),
    '{"mode":"sync","dry_run":false}'
  ], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const runId = await new Promise<string>((resolve) =>
    child.stdout.once('data', (chunk) => resolve(String(chunk).trim()))
  )
  while (await writes(knex, runId) < right / 4) await pause()
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('exit', resolve))
  const atDeath = await writes(knex, runId)
  t.ok(atDeath > 0 && atDeath < right, `the process is killed after ${atDeath} writes`)
  const run = await finished(world, runId)
  t.match(run, { status: 'done', dry_run: false, outcomes: { synced: right } }, 'another process finishes the run')
  t.equal(await writes(knex, runId), right, 'each account was written once')
  t.match(
    run.shops.stopped,
    [{ reason: 'PAY_RECONCILE_PROVIDER_KEY_REJECTED' }],
    'the shop whose key is wrong stopped alone'
  )
  const [found] = await knex('pay_reconcile_items').where('run_id', runId).whereRaw(
    "item->>'reason' = 'before_interruption'"
  )
    .select<Array<{ count: number }>>(knex.raw('count(*)::int as count'))
  t.equal(
    run.differences.never_synced + (found?.count ?? 0),
    right,
    'what was written but not reported is reported as such'
  )
})
