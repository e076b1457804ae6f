import type { Knex } from 'knex'
import { createPayReconcileTables } from 'pay-reconcile/knex'
import type { Migration } from './migration.ts'

async function up (knex: Knex): Promise<void> {
  // Adds what runs keep of each account and are limited to, and the snapshots that were replaced.
  await createPayReconcileTables(knex)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw(`
    alter table pay_reconcile_items drop column id;
    alter table pay_reconcile_runs drop column selection, drop column targets;
    drop index pay_reconcile_audit_at, pay_reconcile_audit_actor;
    drop table pay_reconcile_snapshots
  `)
}

export const payFindings: Migration = { up, down }
