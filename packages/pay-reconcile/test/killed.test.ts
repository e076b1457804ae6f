import t, { type Test } from 'tap'
import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { knexRunStore } from '../src/knex/index.ts'
import { fast, finished, pause, writes } from './bulk.ts'
import { postgresql } from './database.ts'
import { build, type World } from './world.ts'

t.setTimeout(600_000)

// A multiple of 100; .ci/run sets 1000.
const size = Math.max(500, Number(process.env.BULK_SIZE ?? 500))
const script = fileURLToPath(new URL('./killed-host.ts', import.meta.url))

t.test(
  'three processes are killed with SIGKILL, and the fourth finishes the run',
  { skip: postgresql.skip },
  async (t) => {
    const knex = await postgresql.connect(t)
    /** Set while the processes to kill must do the work. */
    let idle = true
    const runs = knexRunStore(knex)
    const world = await build(t, knex, {
      ...fast,
      runs: { ...runs, claimable: async () => idle ? [] : runs.claimable() }
    })
    const url = new URL(process.env.TEST_DATABASE_URL ?? '')
    url.pathname = `/${knex.client.connectionSettings.database}`
    await fill(world)
    const slow = world.standIn.fault({ kind: 'slow', delay: 40 })
    for (const [mode, dryRun] of [['check', true], ['sync', true], ['sync', false], ['changes', false]] as const) {
      await t.test(`${mode}${dryRun ? '' : ' that writes'}`, async (t) => {
        idle = true
        let runId = ''
        for (const part of [0.2, 0.4, 0.6]) {
          const child = await hostIn(t, url.href, world, runId === '' ? { mode, dry_run: dryRun } : undefined)
          if (runId === '') runId = child.line
          while (await processed(world, runId) < size * part) await pause()
          child.process.kill('SIGKILL')
          await new Promise((resolve) => child.process.once('exit', resolve))
        }
        t.ok(await processed(world, runId) < size, 'the third one had not finished either')
        idle = false
        const run = await finished(world, runId)
        t.match(
          run,
          { status: 'done', total: size, processed: size, shops: { stopped: [] } },
          'nothing is skipped, or counted twice'
        )
        t.equal(await writes(knex, runId), dryRun ? 0 : size * 0.9, 'nothing is written twice')
        const [items] = await knex('pay_reconcile_items').where('run_id', runId).select(
          knex.raw('count(*)::int as all'),
          knex.raw('count(distinct account_id)::int as accounts')
        )
        t.strictSame(items, { all: size, accounts: size })
        t.equal(run.differences.not_found, size * 0.1)
      })
    }
    slow()
  }
)

/** A shop whose customers come in pages, but for a tenth that there are not. */
async function fill ({ knex, standIn, addShop }: World): Promise<void> {
  const shopId = await addShop({ key: 'sk_test_killed' })
  await knex.raw(
    `insert into accounts (id, shop_id, name, details)
    select gen_random_uuid(), ?, 'Account ' || n, jsonb_build_object('pay_customer_id', 'cus_' || n)
      from generate_series(1, ?::int) n`,
    [shopId, size]
  )
  standIn.addAccount('sk_test_killed', {
    customers: Array.from({ length: size * 0.9 }, (_, n) => ({ id: `cus_${n + 1}` }))
  })
}

async function hostIn (
  t: Test,
  url: string,
  { standIn }: World,
  run: object | undefined
): Promise<{ readonly process: ChildProcess, readonly line: string }> {
  const child = spawn(process.execPath, [
    ...process.execArgv,
    script,
    url,
    String(standIn.port),
    ...(run ? [JSON.stringify(run)] : [])
  ], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  return {
    process: child,
    line: await new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk).trim())))
  }
}

async function processed (world: World, runId: string): Promise<number> {
  return (await world.call('GET', `/admin/accounts/reconcile/${runId}?limit=1`)).json().processed
}
