import type { Knex } from 'knex'
import { createAccountIndexes } from 'pay-reconcile/knex'
import type { Migration } from './migration.ts'

/** The default order of these lists. */
const TABLES = ['products', 'categories', 'tags', 'attributes', 'accounts']

async function up (knex: Knex): Promise<void> {
  for (const table of TABLES) await knex.raw('create index ?? on ?? (shop_id, name, id)', [nameOf(table), table])
  // Once more: it has indexes that it had not when the table was made.
  await createAccountIndexes(knex)
}

async function down (knex: Knex): Promise<void> {
  for (const table of TABLES) await knex.raw('drop index ??', [nameOf(table)])
}

function nameOf (table: string): string {
  return `${table}_shop_id_name_id_idx`
}

export const listOrder: Migration = { up, down }
