import type { Knex } from 'knex'
import { createPayReconcileTables } from 'pay-reconcile/knex'
import type { Migration } from './migration.ts'

async function up (knex: Knex): Promise<void> {
  // The signing secret of the shop's webhook, encrypted as its key is.
  await knex.raw('alter table shops add column pay_webhook_secret text')
  // Adds which shops wait for a run, which deliveries have been seen, and which permission a key lacks.
  await createPayReconcileTables(knex)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw(`
    drop table pay_reconcile_awaited, pay_reconcile_deliveries;
    alter table pay_reconcile_runs drop column webhook;
    alter table pay_reconcile_run_shops drop column missing_permission;
    alter table shops drop column pay_webhook_secret
  `)
}

export const payWebhooks: Migration = { up, down }
