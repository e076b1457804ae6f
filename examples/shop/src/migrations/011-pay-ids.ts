import type { Knex } from 'knex'
import { createPayReconcileTables } from 'pay-reconcile/knex'
import type { Migration } from './migration.ts'

/** In bytes, as before. */
const MAX_DETAILS = 65_536

const PAY_KEYS = ['pay_customer', 'pay_customer_id', 'pay_synced_at']

const ID_COLUMNS = {
  pay_reconcile_audit: ['account_id', 'shop_id'],
  pay_reconcile_runs: ['shop_id'],
  pay_reconcile_run_shops: ['shop_id', 'last_account'],
  pay_reconcile_items: ['account_id', 'shop_id']
}

async function up (knex: Knex): Promise<void> {
  // Its columns of ids become text.
  await createPayReconcileTables(knex)
  await limitDetails(knex, [...PAY_KEYS, 'pay_customer_before_deletion'])
}

async function down (knex: Knex): Promise<void> {
  await limitDetails(knex, PAY_KEYS)
  for (const [table, columns] of Object.entries(ID_COLUMNS)) {
    await knex.raw(`alter table ${table} ${columns.map((column) => `alter ${column} type uuid using ${column}::uuid`).join()}`)
  }
}

/** Limits what the shop says of an account; the payment keys are not its own. */
async function limitDetails (knex: Knex, payKeys: readonly string[]): Promise<void> {
  await knex.raw('alter table accounts drop constraint accounts_details_fits')
  await knex.raw(`
    alter table accounts add constraint accounts_details_fits
      check (octet_length((details - '{${payKeys.join()}}'::text[])::text) <= ${MAX_DETAILS})
  `)
}

export const payIds: Migration = { up, down }
