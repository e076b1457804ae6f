import type { Knex } from 'knex'
import type { Migration } from './migration.ts'
import { changeIndexes } from './online.ts'

/**
 * For products by SKU and by slug. The constraints that these are unique have indexes without ids, so PostgreSQL sorts
 * what it finds there again: whether it reads the first rows or the whole shop depends on the size that it guesses.
 */
async function up (knex: Knex): Promise<void> {
  await changeIndexes(knex, {
    create: {
      products_sku: 'products (shop_id, sku, id)',
      products_slug: 'products (shop_id, slug, id)'
    }
  })
}

export const listOrders: Migration = { online: true, up }
