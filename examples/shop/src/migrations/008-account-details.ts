import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/** In bytes, of what the shop says of an account. A page of accounts, of all shops too, has to fit into memory. */
const MAX_DETAILS = 65_536

async function up (knex: Knex): Promise<void> {
  // A rule of the table, as details are merged there: many small changes add up. The payment keys are not the shop's.
  await knex.raw(`
    alter table accounts add constraint accounts_details_fits
      check (octet_length((details - '{pay_customer,pay_customer_id,pay_synced_at}'::text[])::text) <= ${MAX_DETAILS})
  `)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw('alter table accounts drop constraint accounts_details_fits')
}

export const accountDetails: Migration = { up, down }
