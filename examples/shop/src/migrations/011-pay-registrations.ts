import type { Knex } from 'knex'
import { createPayReconcileTables } from 'pay-reconcile/knex'
import type { Migration } from './migration.ts'

/** The name under which `knexAccountStore` registers the shop's accounts: that of their table. */
const REGISTRATION = 'accounts'

/**
 * The tables that say whose accounts their rows are about, with the keys that tell the rows of one registration apart.
 */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  audit: [],
  snapshots: [],
  runs: [],
  run_shops: [],
  awaited: ['shop_id'],
  deliveries: ['shop_id', 'id'],
  schedule: ['mode'],
  changed: ['account_id'],
  events: ['shop_id', 'event_id'],
  positions: ['shop_id']
}

/**
 * Rows of pay-reconcile name their registration. The default and the earlier keys stay, for servers of the version
 * before that still run meanwhile: they name none. Nothing is rewritten. New databases have the columns from the start.
 */
async function up (knex: Knex): Promise<void> {
  for (const [name, key] of Object.entries(TABLES)) {
    const table = `pay_reconcile_${name}`
    if (await knex.schema.hasColumn(table, 'registration')) continue
    await knex.raw(`alter table ${table} add registration text not null default '${REGISTRATION}'`)
    if (key.length > 0) await knex.raw(`create unique index on ${table} (registration, ${key.join(', ')})`)
  }
  await createPayReconcileTables(knex)
}

export const payRegistrations: Migration = { up }
