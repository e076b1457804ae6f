import t from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { run } from '../src/cli/run.ts'
import { knexAccountStore } from '../src/knex/index.ts'
import { fencesOf } from '../../../test/docs/fences.ts'
import { pglite, postgresql } from './database.ts'
import { build, shopKey } from './world.ts'

const source = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8')

t.test('the tables and the provider of the README are what the package needs', async (t) => {
  const readme = fencesOf(await source('packages/pay-reconcile/README.md'))
  const knex = await pglite.connect(t)
  await knex.raw('drop table accounts, shops')
  for (const statement of readme.find(({ info }) => info === 'sql')?.text.split(/;\n/).filter(Boolean) ?? []) {
    await knex.raw(statement)
  }
  await knexAccountStore(knex).ready?.()
  await knex.raw("insert into shops values ('11111111-1111-4111-8111-111111111111', 'Tea', 'sk_test_corner')")
  t.equal(await knexAccountStore(knex).secretKey('11111111-1111-4111-8111-111111111111'), 'sk_test_corner')

  const program = readme.find(({ info }) => info === 'js')?.text
  const run = spawn(process.execPath, [
    '--input-type=module',
    '--eval',
    `import { stripeProvider } from 'pay-reconcile/stripe'\n${program}
    const { value } = await provider.createCustomer({
      secretKey: 'sk_test_corner',
      metadata: { account_id: 'a1' },
      idempotencyKey: 'k',
      signal: AbortSignal.timeout(5000)
    })
    console.log(value.metadata.account_id)
    process.exit()`
  ], { stdio: ['ignore', 'pipe', 'ignore'], cwd: fileURLToPath(new URL('../', import.meta.url)) })
  t.equal(String((await once(run.stdout, 'data'))[0]), 'a1\n')
})

t.test('the quickstart', { skip: postgresql.skip }, async (t) => {
  const knex = await postgresql.connect(t)
  const { addShop, addAccount, standIn } = await build(t, knex)
  const shopId = await addShop()
  const accountId = await addAccount(shopId, {})
  const url = new URL(process.env.TEST_DATABASE_URL ?? '')
  url.pathname = `/${knex.client.connectionSettings.database}`

  const script = fileURLToPath(new URL('../../../examples/quickstart/pay-reconcile.ts', import.meta.url))
  const child = spawn(process.execPath, [...process.execArgv, script], {
    env: { ...process.env, DATABASE_URL: url.href, PAY_PORT: String(standIn.port), ADMIN_TOKEN: 'secret', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data')
  const address = /http:\/\/[^"]+:\d+/.exec(String(line))?.[0]
  const headers = { authorization: 'Bearer secret' }

  t.equal((await fetch(`${address}/admin/accounts`)).status, 401)
  t.equal((await fetch(`${address}/admin/accounts`, { headers: { authorization: 'Bearer guess' } })).status, 403)
  const checkout = await fetch(`${address}/accounts/${accountId}/checkout`, { method: 'POST' })
  const { pay_customer_id: customerId } = await checkout.json() as { pay_customer_id: string }
  t.match([...standIn.account(shopKey).customers.keys()], [customerId])
  const list = await fetch(`${address}/admin/accounts?missing_pay=false`, { headers })
  t.equal(list.headers.get('content-range'), 'accounts 0-100/1')
  t.match(await list.json(), [{ id: accountId, pay_customer_id: customerId }])
  const synced = await fetch(`${address}/admin/accounts/${accountId}/sync-pay`, { method: 'POST', headers })
  t.match(await synced.json(), { id: accountId, pay_customer: { id: customerId, metadata: { account_id: accountId } } })

  await addAccount(shopId, {})
  await addAccount(shopId, { pay_customer_id: 'cus_elsewhere' })
  let report = ''
  await run([`--url=${address}/admin/accounts`, '--mode=check'], { PAY_RECONCILE_TOKEN: 'secret' }, {
    stdout: {
      write: (text) => {
        report += text
      }
    },
    stderr: { write: () => {} }
  })
  t.ok(
    (await source('packages/pay-reconcile/README.md')).includes(`\`\`\`text\n${report}\`\`\``),
    'the README shows the report'
  )

  child.kill('SIGTERM')
  t.strictSame(await once(child, 'exit'), [0, null], 'it closes in order')
})
