import t, { type Test } from 'tap'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { commandFrom } from '../src/cli/arguments.ts'
import { listText, progressLine, reportText, succeeded, table, type WireRun } from '../src/cli/text.ts'
import { pglite } from './database.ts'
import { build, type World } from './world.ts'

const url = 'https://shop.example/admin/accounts'
const common = { url, token: 'secret', json: false }

t.test('what a command line means', async t => {
  const env = { PAY_RECONCILE_TOKEN: 'secret' }
  for (const [argv, wanted] of [
    [['--url', url, '--mode', 'sync'], { ...common, work: { start: { mode: 'sync', dry_run: true } } }],
    [['--url', `${url}/`, '--mode', 'check', '--dry-run', '--json'], { ...common, json: true, work: { start: { mode: 'check', dry_run: true } } }],
    [['--url', url, '--mode', 'link', '--apply', '--shop', 's'], { ...common, work: { start: { mode: 'link', dry_run: false, shop_id: 's' } } }],
    [['--url', url, '--run', 'r'], { ...common, work: { run: 'r' } }],
    [['--url', url, '--list'], { ...common, work: { list: {} } }],
    [['--url', url, '--list', '--status', 'running', '--json'], { ...common, json: true, work: { list: { status: 'running' } } }],
    [['--help'], undefined]
  ] as const) t.strictSame(commandFrom(argv, env), wanted, argv.join(' '))
  for (const [argv, message] of [
    [[], '--url must be the address of the administration of accounts'],
    [['--url', 'shop'], '--url must be the address of the administration of accounts'],
    [['--url', url], '--mode must be link, sync or check'],
    [['--url', url, '--mode', 'sync', '--apply', '--dry-run'], '--apply and --dry-run exclude each other'],
    [['--url', url, '--mode', 'sync', '--status', 'done'], '--status goes with --list'],
    [['--url', url, '--list', '--run', 'r'], '--run has no effect beside --list'],
    [['--url', url, '--list', '--mode', 'sync'], '--mode has no effect beside --list'],
    [['--url', url, '--list', '--shop', 's'], '--shop has no effect beside --list'],
    [['--url', url, '--list', '--apply'], '--apply has no effect beside --list'],
    [['--url', url, '--list', '--dry-run'], '--dry-run has no effect beside --list'],
    [['--url', url, '--run', 'r', '--mode', 'sync', '--apply'], '--mode has no effect beside --run'],
    [['--url', url, '--run', 'r', '--shop', 's'], '--shop has no effect beside --run'],
    [['--url', url, '--run', 'r', '--apply'], '--apply has no effect beside --run'],
    [['--url', url, '--run', 'r', '--dry-run'], '--dry-run has no effect beside --run'],
    [['--url', url, '--run', 'r', '--status', 'done'], '--status has no effect beside --run'],
    [['--token', 'secret'], /Unknown option '--token'/]
  ] as const) t.throws(() => commandFrom(argv, env), { code: 'PAY_RECONCILE_USAGE', message }, argv.join(' '))
})

const run: WireRun = {
  id: 'r',
  mode: 'sync',
  dry_run: true,
  shop_id: null,
  status: 'done',
  cancel_requested: false,
  actor: 'user-1',
  started_at: '',
  finished_at: '',
  total: 10,
  processed: 5,
  outcomes: { synced: 4, failed: 1 },
  drift: { differs: 2 },
  shops: { total: 2, finished: 1, stopped: [{ shop_id: 'shop-1', reason: 'PAY_RECONCILE_PROVIDER_KEY_REJECTED' }] },
  items: [],
  items_count: 1
}

t.test('progress and report', async t => {
  t.equal(progressLine(run, 10), '[#####-----]  50% 5/10 accounts, 1/2 shops, 1 failed')
  t.equal(progressLine({ ...run, total: 0, processed: 0, outcomes: {} }, 4), '[####] 100% 0/0 accounts, 1/2 shops, 0 failed')
  t.equal(table(['a', 'long'], [['longer', 'b']]), 'a       long\n------  ----\nlonger  b')
  t.equal(reportText(run, []), [
    'sync (dry run, nothing was changed): done, 5 of 10 accounts', '',
    'outcome  accounts', '-------  --------', 'failed   1', 'synced   4', '',
    'drift    accounts', '-------  --------', 'differs  2', '',
    'shop given up  reason', '-------------  -----------------------------------', 'shop-1         PAY_RECONCILE_PROVIDER_KEY_REJECTED', ''
  ].join('\n'))
  t.equal(listText([]), 'no runs\n')
  t.equal(listText([{ ...run, started_at: 'then' }, { ...run, id: 'r2', dry_run: false, shop_id: 'shop-1' }]), [
    'run  status  mode            shop    accounts  started  by',
    '---  ------  --------------  ------  --------  -------  ------',
    'r    done    sync (dry run)  all     5/10      then     user-1',
    'r2   done    sync            shop-1  5/10               user-1', ''
  ].join('\n'))
  const fine = { ...run, outcomes: { synced: 5 }, shops: { ...run.shops, stopped: [] } }
  for (const [value, wanted] of [
    [fine, true], [{ ...fine, status: 'cancelled' }, false], [{ ...fine, outcomes: { failed: 1 } }, false], [run, false]
  ] as const) t.equal(succeeded(value), wanted)
})

t.test('the command against a server', async t => {
  const knex = await pglite.connect(t)
  const world = await build(t, knex, { perSecond: 200, accountsAtOnce: 2 })
  const address = await world.app.listen({ port: 0, host: '127.0.0.1' })
  const command = (...args: string[]) => start(t, [`--url=${address}/admin/accounts`, ...args])
  world.standIn.addAccount('sk_test_cli', { customers: [{ id: 'cus_1' }] })
  const shopId = await world.addShop({ key: 'sk_test_cli' })
  const accountId = await world.addAccount(shopId, { pay_customer_id: 'cus_1' })

  const dry = await command('--mode=sync', '--dry-run').ended
  t.match(dry, { code: 0, stdout: /^sync \(dry run, nothing was changed\): done, 1 of 1 accounts\n/, stderr: /100% 1\/1 accounts, 1\/1 shops, 0 failed\n$/ })
  t.strictSame(await world.detailsOf(accountId), { pay_customer_id: 'cus_1' })

  const applied = await command('--mode=sync', '--apply', '--json', `--shop=${shopId}`).ended
  t.equal(applied.code, 0)
  t.match(JSON.parse(applied.stdout), { mode: 'sync', dry_run: false, shop_id: shopId, status: 'done', outcomes: { synced: 1 } })
  t.match(await world.detailsOf(accountId), { pay_customer: { id: 'cus_1' } })

  await world.addAccount(shopId, { pay_customer_id: 'cus_nowhere' })
  const failed = await command('--mode=sync').ended
  t.equal(failed.code, 1, 'it exits with 1 when items failed')
  t.match(failed.stdout, /PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND {2}req_/)

  const watched = await command('--run', /^run (\S+)/.exec(failed.stderr)?.[1] ?? '').ended
  t.equal(watched.stdout, failed.stdout, 'a run can be watched again')

  await cancelling(t, world, command, shopId)

  const refused = await start(t, [`--url=${address}/admin/accounts`, '--mode=sync'], { PAY_RECONCILE_TOKEN: 'wrong' }).ended
  t.match(refused, { code: 2, stdout: '', stderr: /got 403: HOST_FORBIDDEN For superusers only/ })
  t.match(await command('--mode=all').ended, { code: 2, stderr: '--mode must be link, sync or check\n' })
  t.match(await command('--help').ended, { code: 0, stdout: /^Usage: pay-reconcile/ })
})

async function cancelling (t: Test, world: World, command: (...args: string[]) => Started, shopId: string): Promise<void> {
  for (let n = 0; n < 200; n++) await world.addAccount(shopId, { pay_customer_id: 'cus_1' })
  const end = world.standIn.fault({ kind: 'slow', ms: 1000 })
  const started = command('--mode=sync')
  await started.line
  const listed = await command('--list', '--status=running', '--json').ended
  t.equal(listed.code, 0)
  const [running, ...more] = JSON.parse(listed.stdout)
  t.match([running, more], [{ status: 'running', mode: 'sync' }, []])
  t.match(await command('--mode=check', `--shop=${shopId}`).ended, {
    code: 2,
    stderr: `got 409: PAY_RECONCILE_RUN_ACTIVE The reconciliation run ${running.id} is not done with the shop ${shopId} (watch it with --run ${running.id})`
  }, 'a second run is told which one is in its way')
  t.match((await command('--list').ended).stdout, new RegExp(`^${running.id} +running +sync \\(dry run\\) +all +`, 'm'))
  started.child.kill('SIGINT')
  const cancelled = await started.ended
  end()
  t.match(cancelled, { code: 1, stdout: /^sync \(dry run, nothing was changed\): cancelled, / }, 'Ctrl-C cancels the run')
}

interface Started {
  readonly child: ReturnType<typeof spawn>
  /** The first line about progress. */
  readonly line: Promise<unknown>
  readonly ended: Promise<{ readonly code: number | null, readonly stdout: string, readonly stderr: string }>
}

function start (t: Test, args: readonly string[], env = { PAY_RECONCILE_TOKEN: 'superuser' }): Started {
  const script = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
  const child = spawn(process.execPath, [...process.execArgv, script, ...args], { env: { ...process.env, ...env } })
  t.teardown(() => child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', chunk => { stdout += chunk })
  const line = new Promise(resolve => child.stderr.on('data', chunk => {
    stderr += chunk
    if (stderr.includes('accounts')) resolve(stderr)
  }))
  return { child, line, ended: new Promise(resolve => child.once('close', code => resolve({ code, stdout, stderr }))) }
}
