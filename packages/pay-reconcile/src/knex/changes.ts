import type { Knex } from 'knex'
import type { ChangeStore } from '../types.ts'
import type { HostTables } from './account-table.ts'
import { instantFrom, record, recordsOf, run } from './records.ts'

/** Repeated deliveries of an event come for three days; then it is forgotten, and would be read once more. */
const KEEP_EVENTS = "interval '4 days'"

/**
 * The accounts to read again, in a table. The version of a note is the transaction that wrote it, and a moment is a
 * snapshot of transactions: what the snapshot sees was noted before it. Times could not tell, since a note is seen only
 * once its transaction has ended.
 */
export function changeStore (
  knex: Knex,
  { accounts, customerId: of, registration }: HostTables,
  registered: () => Promise<void>
): ChangeStore {
  const customerId = of('a')
  const noteAccounts = `insert into pay_reconcile_changed (registration, account_id, shop_id)
    select :registration, a.id::text, a.shop_id::text from ${accounts('a').toString()}`
  return {
    async position (shopId) {
      await registered()
      const [row] = await recordsOf<{ readonly until: string, readonly complete_at: string }>(
        knex,
        knex('pay_reconcile_positions').where({ registration, shop_id: shopId })
          .select(knex.raw(record({ until: 'until', complete_at: 'complete_at' })))
      )
      return row && { until: instantFrom(row.until), completeAt: instantFrom(row.complete_at) }
    },

    async moveTo (shopId, { until, completeAt }) {
      await registered()
      await run(
        knex,
        knex.raw(
          `
        with forgotten as (
          delete from pay_reconcile_events
          where registration = :registration and shop_id = :shopId and created_at < :until::timestamptz - ${KEEP_EVENTS}
        )
        insert into pay_reconcile_positions (registration, shop_id, until, complete_at)
        values (:registration, :shopId, :until, :completeAt)
        on conflict (registration, shop_id) do update set
          until = greatest(pay_reconcile_positions.until, excluded.until),
          complete_at = greatest(pay_reconcile_positions.complete_at, excluded.complete_at)`,
          { registration, shopId, until, completeAt }
        )
      )
    },

    async note (shopId, events) {
      await registered()
      const records = events.map(({ id, createdAt, customerId }) => ({
        id,
        created_at: createdAt,
        customer_id: customerId
      }))
      await run(
        knex,
        knex.raw(
          `
        with given as materialized (
          select distinct on (id) *
            from jsonb_to_recordset(:events::jsonb) as e (id text, created_at timestamptz, customer_id text)
        ), fresh as (
          insert into pay_reconcile_events (registration, shop_id, event_id, created_at)
          select :registration, :shopId, id, created_at from given order by id
          on conflict do nothing returning event_id
        )
        ${noteAccounts} where a.shop_id = :shopId
          and ${customerId} in (select g.customer_id from given g join fresh f on f.event_id = g.id) ${ONCE}`,
          { registration, shopId, events: JSON.stringify(records) }
        )
      )
    },

    async noteAll (shopId) {
      await registered()
      await run(
        knex,
        knex.raw(`${noteAccounts} where a.shop_id = :shopId and ${customerId} is not null ${ONCE}`, {
          registration,
          shopId
        })
      )
    },

    async moment () {
      const [row] = await recordsOf<{ readonly moment: string }>(
        knex,
        knex.raw(`select ${record({ moment: 'pg_current_snapshot()::text' })}`)
      )
      return row?.moment ?? '1:1:'
    },

    async done (accountIds, moment) {
      await registered()
      await run(
        knex,
        knex.raw(
          `delete from pay_reconcile_changed where registration = :registration and account_id in (
        select account_id from pay_reconcile_changed
        where registration = :registration and account_id = any(:accountIds::text[])
          and pg_visible_in_snapshot(version, :moment::pg_snapshot)
        order by account_id for update)`,
          { registration, accountIds: [...accountIds], moment }
        )
      )
    }
  }
}

/** In a fixed order, so that two writers never wait for each other. */
const ONCE = 'order by a.id::text on conflict (registration, account_id) do update set version = excluded.version'
