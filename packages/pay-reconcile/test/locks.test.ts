import t from 'tap'
import { createAccountIndexes, createPayReconcileTables } from '../src/knex/index.ts'
import { run } from '../src/knex/records.ts'
import { engines, postgresql } from './database.ts'

t.test(
  'creating tables and indexes waits for no reader; a missing index waits for writers, and calls go on',
  { skip: postgresql.skip },
  async (t) => {
    const knex = await postgresql.connect(t)
    const dump = await knex.transaction()
    await dump.raw(
      'lock table accounts, pay_reconcile_runs, pay_reconcile_audit, pay_reconcile_items in access share mode'
    )
    await createPayReconcileTables(knex)
    await createAccountIndexes(knex)
    await dump.commit()

    await knex.raw('drop index pay_reconcile_accounts_name')
    const writer = await knex.transaction()
    await writer.raw('lock table accounts in row exclusive mode')
    const created = createAccountIndexes(knex)
    // It stands in the queue, and what follows behind it.
    while (await waits() === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    await knex('accounts').update({ name: 'x' })
    await writer.commit()
    await created
    t.match((await knex.raw("select to_regclass('pay_reconcile_accounts_name') as index")).rows, [{ index: String }])

    async function waits (): Promise<number> {
      const { rows } = await knex.raw(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
      )
      return rows.length
    }
  }
)

for (const { name, skip, connect } of engines) {
  t.test(`a statement that meets a deadlock is run again on ${name}`, { skip }, async (t) => {
    const knex = await connect(t)
    await knex.raw('create sequence tries')
    await knex.raw(`create function meet () returns trigger language plpgsql as $$ begin
      if nextval('tries') < 3 then raise exception 'deadlock detected' using errcode = '40P01'; end if;
      return new;
    end $$`)
    await knex.raw('create trigger meet before insert on pay_reconcile_awaited for each row execute function meet()')
    await run(knex, knex.raw("insert into pay_reconcile_awaited (registration, shop_id) values ('accounts', 's1')"))
    t.strictSame(await knex('pay_reconcile_awaited').pluck('shop_id'), ['s1'])
    await t.rejects(
      knex.transaction(async (trx) => {
        await trx.raw("select setval('tries', 1)")
        await run(trx, trx.raw("insert into pay_reconcile_awaited (registration, shop_id) values ('accounts', 's2')"))
      }),
      { code: '40P01' },
      'a transaction of the host is over'
    )
  })
}
