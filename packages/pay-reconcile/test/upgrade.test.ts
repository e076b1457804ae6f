import t from 'tap'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Knex } from 'knex'
import { createPayReconcileTables, dropPayReconcileTables } from '../src/knex/index.ts'
import { engines } from './database.ts'
import { earlierTables } from './earlier-tables.ts'
import { build } from './world.ts'

/** The statements that the docs give to those who keep their own migrations. */
const [, documented = ''] = /```sql\n(.*?)```/s.exec(readFileSync(new URL('../../../docs/pay-reconcile/tables.md', import.meta.url), 'utf8')) ?? []

for (const engine of engines) {
  t.test(`an existing database is updated on ${engine.name}`, { skip: engine.skip }, async t => {
    const knex = await engine.connect(t)
    const wanted = await structure(knex)
    for (const [title, update] of [
      ['by createPayReconcileTables', () => createPayReconcileTables(knex)],
      ['by the documented statements', () => run(knex, documented)]
    ] as const) {
      await dropPayReconcileTables(knex)
      await run(knex, earlierTables)
      const runId = await fillEarlier(knex)
      await t.rejects(build(t, knex), { code: 'PAY_RECONCILE_INVALID_OPTION', message: /^pay-reconcile: .* does not exist: .*createPayReconcileTables/ }, 'startup names what is missing')
      await update()
      t.strictSame(await structure(knex), wanted, title)
      await createPayReconcileTables(knex)
      const { call } = await build(t, knex)
      const { items, items_count: count } = (await call('GET', `/admin/accounts/reconcile/${runId}`)).json()
      t.equal(count, 2)
      t.match(items, [
        { account_id: 'a1', account_name: '', shop_id: 's1', shop_name: '', outcome: 'drifted', drift: ['differs'], differences: [{ field: 'email' }, { field: 'name' }], candidates: [] },
        {
          account_id: 'a2',
          outcome: 'suggested',
          differences: [],
          candidates: [{ pay_customer_id: 'cus_1', match: 'email', name: null, email: null, linked: false }]
        }
      ], 'what earlier runs found is still shown')
    }
  })
}

/** Runs single statements: the extended protocol takes one at a time. */
async function run (knex: Knex, script: string): Promise<void> {
  for (const statement of script.split(/;\n/).filter(part => part.trim() !== '')) await knex.raw(statement)
}

/** A run as the earlier version stored it. */
async function fillEarlier (knex: Knex): Promise<string> {
  const runId = randomUUID()
  await knex('pay_reconcile_runs').insert({ id: runId, mode: 'check', dry_run: true, actor: 'a', finished_at: knex.fn.now() })
  const item = { shopId: 's1', before: null, after: null, reason: null, drift: [], fields: [], candidates: [], errorCode: null, providerRequestId: null }
  for (const found of [
    { ...item, accountId: 'a1', outcome: 'drifted', drift: ['differs'], fields: ['email', 'name'] },
    { ...item, accountId: 'a2', outcome: 'suggested', reason: 'email', candidates: ['cus_1'] }
  ]) {
    await knex('pay_reconcile_items').insert({ run_id: runId, account_id: found.accountId, shop_id: 's1', outcome: found.outcome, item: JSON.stringify(found) })
  }
  return runId
}

/** Columns, constraints and indexes of the package's tables. */
async function structure (knex: Knex): Promise<unknown> {
  const statements = [
    `select table_name, column_name, data_type, is_nullable, column_default, is_identity from information_schema.columns
      where table_schema = 'public' and table_name like 'pay\\_reconcile\\_%' order by 1, 2`,
    `select conrelid::regclass::text as name, pg_get_constraintdef(oid) as definition from pg_constraint
      where connamespace = 'public'::regnamespace and conrelid::regclass::text like 'pay\\_reconcile\\_%' order by 1, 2`,
    "select indexdef from pg_indexes where schemaname = 'public' and tablename like 'pay\\_reconcile\\_%' order by 1"
  ]
  return Promise.all(statements.map(async statement => (await knex.raw<{ rows: unknown[] }>(statement)).rows))
}
