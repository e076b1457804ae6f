import type { Knex } from 'knex'
import type { Migration } from './migration.ts'
import { changeIndexes } from './online.ts'

/*
 * Text is cleaned on its way in; what was stored before stays as it is. The SKUs among it that differ from clean ones by
 * what nobody sees are few, and this index finds them: imports match them. Two that are alike are no fault.
 */

/** The condition for a SKU that would not be stored like this today. The index serves statements that have the same. */
export const UNCLEAN_SKU = "(sku ~ '^[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\u00ad\\u180e\\u200b\\u2060\\ufeff\\u200c-\\u200f\\u202a-\\u202e\\u2066-\\u2069]|[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\u00ad\\u180e\\u200b\\u2060\\ufeff\\u200c-\\u200f\\u202a-\\u202e\\u2066-\\u2069]$|[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]{2}|[\\t-\\r\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\u00ad\\u180e\\u200b\\u2060\\ufeff]' or sku is not nfc normalized)"

async function up (knex: Knex): Promise<void> {
  await changeIndexes(knex, { create: { products_unclean_sku: `products (shop_id, id) where ${UNCLEAN_SKU}` }, drop: [] })
}

async function down (knex: Knex): Promise<void> {
  await changeIndexes(knex, { create: {}, drop: ['products_unclean_sku'] })
}

export const uncleanSkus: Migration = { online: true, up, down }
