import type { Knex } from 'knex'
import { createPayReconcileTables } from 'pay-reconcile/knex'
import type { Migration } from './migration.ts'

async function up (knex: Knex): Promise<void> {
  // Adds how far runs have read the customers of a shop in pages, which slots of the schedule had a run, and what
  // the provider's events said has changed.
  await createPayReconcileTables(knex)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw(`
    drop table pay_reconcile_unchanged, pay_reconcile_schedule, pay_reconcile_changed, pay_reconcile_events, pay_reconcile_positions;
    alter table pay_reconcile_runs drop column slot;
    alter table pay_reconcile_run_shops drop column paging
  `)
}

export const paySchedule: Migration = { up, down }
