import type { Knex } from 'knex'
import { createAccountIndexes, createPayReconcileTables } from 'pay-reconcile/knex'
import type { Migration } from './migration.ts'

async function up (knex: Knex): Promise<void> {
  // Adds which run works on the changes of a shop, and when another one tries again.
  await createPayReconcileTables(knex)
  // A payment id is a string: the earlier indexes took any value for its text.
  await createAccountIndexes(knex)
}

async function down (knex: Knex): Promise<void> {
  // The indexes stay: the version before creates its own, and needs none of them.
  await knex.raw('alter table pay_reconcile_awaited drop column run_id, drop column attempts, drop column due')
}

export const payNotes: Migration = { up, down }
