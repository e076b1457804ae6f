import type { Knex } from 'knex'
import type { AwaitedShops } from '../reconcile/types.ts'
import { withRetries } from '../retry.ts'
import { record, recordsOf, run, shopIsTaken } from './records.ts'

/** The shops of a registration that wait for a run, in tables. */
export function awaitedShops (knex: Knex, registration: string): AwaitedShops {
  return {
    async note (shopId, deliveryId) {
      const fresh = await recordsOf(
        knex,
        knex.raw(
          `
        with fresh as (
          insert into pay_reconcile_deliveries (registration, shop_id, id) values (:registration, :shopId, :deliveryId)
          on conflict do nothing returning id
        ), noted as (
          insert into pay_reconcile_awaited (registration, shop_id) select :registration, :shopId from fresh
          on conflict (registration, shop_id) do update set run_id = null, attempts = 0, due = now()
        )
        select ${record({ id: 'id' })} from fresh`,
          { registration, shopId, deliveryId }
        )
      )
      return fresh.length > 0
    },

    async start (run) {
      const [row] = await withRetries(() =>
        recordsOf<{ readonly started: boolean, readonly left: boolean }>(
          knex,
          knex.raw(startStatement, { ...run, registration })
        ), shopIsTaken)
      return { started: row?.started === true, left: row?.left === true }
    },

    async done (runId, shopId) {
      await run(knex, knex('pay_reconcile_awaited').where({ registration, run_id: runId, shop_id: shopId }).delete())
    }
  }
}

/**
 * Skips notes that another process is just taking. A note that arrives meanwhile waits for that, and is a new one. What
 * is taken is due again later, should the run not get to the end: after a minute, then two, up to an hour.
 */
const startStatement = `
  with free as (
    select a.shop_id from pay_reconcile_awaited a
    where a.registration = :registration and a.due <= clock_timestamp()
      and not exists (select from pay_reconcile_run_shops o
        where o.registration = :registration and o.shop_id = a.shop_id and o.status in ('pending', 'running'))
    order by a.shop_id for update of a skip locked
  ), taken as (
    update pay_reconcile_awaited a set run_id = :id, attempts = a.attempts + 1,
      due = now() + least(interval '1 hour', interval '1 minute' * power(2, least(a.attempts, 6)))
    from free where a.registration = :registration and a.shop_id = free.shop_id returning a.shop_id
  ), run as (
    insert into pay_reconcile_runs (id, registration, mode, dry_run, shop_id, actor, webhook)
    select :id, :registration, :mode, :dryRun, case when count(*) = 1 then min(shop_id) end, :actor, true
    from taken having count(*) > 0 returning id
  ), parts as (
    insert into pay_reconcile_run_shops (run_id, registration, shop_id, total)
    select run.id, :registration, t.shop_id, 0 from run, taken t
  )
  select ${
  record({
    started: 'exists (select from run)',
    left: `exists (select from pay_reconcile_awaited a
      where a.registration = :registration and a.due <= clock_timestamp()
        and a.shop_id not in (select shop_id from taken))`
  })
}`
