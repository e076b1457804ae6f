import type { Knex } from 'knex'
import type { Migration } from './migration.ts'
import { changeIndexes, type Indexes } from './online.ts'

/*
 * One index for each order that lists of products come in, so that a page reads as many rows as it has. A nullable column
 * needs one for each direction, since its nulls come last in both.
 */

const NEW: Indexes = {
  products_price: 'products (shop_id, price_amount, id)',
  products_price_desc: 'products (shop_id, price_amount desc nulls last, id desc)',
  products_sku_desc: 'products (shop_id, sku desc nulls last, id desc)',
  products_updated_at: 'products (shop_id, updated_at, id)',
  products_status: 'products (shop_id, status, id)',
  products_currency: 'products (shop_id, currency, id)',
  products_metadata: "products using gin (metadata jsonb_path_ops) where metadata <> '{}'",
  product_tags_tag: 'product_tags (shop_id, tag_id, product_id)',
  product_categories_category: 'product_categories (shop_id, category_id, product_id)',
  shops_name: 'shops (name, id)',
  shop_members_user: 'shop_members (user_id, shop_id)',
  // As dual-auth names it: new tables have it already.
  api_keys_shop_id_unrevoked_index: 'api_keys (shop_id) where revoked_at is null'
}

/** What the new ones replace. */
const OLD: Indexes = {
  products_shop_id_status_idx: 'products (shop_id, status)',
  product_tags_shop_id_tag_id_idx: 'product_tags (shop_id, tag_id)',
  product_categories_shop_id_category_id_idx: 'product_categories (shop_id, category_id)',
  shop_members_user_id_idx: 'shop_members (user_id)'
}

/**
 * For `q`, in the shop alone: what others have must not make its search slower. The list of entries that PostgreSQL has not
 * merged yet is short, since each search reads all of it.
 */
const SEARCH = {
  products_search: 'products using gin (shop_id, name gin_trgm_ops, sku gin_trgm_ops, description gin_trgm_ops) with (gin_pending_list_limit = 256)'
}

/** The extensions of PostgreSQL that {@link SEARCH} needs. Its contrib package has them, as have the large hosts. */
const EXTENSIONS = ['pg_trgm', 'btree_gin']

/** What an operator runs where the migration could not. */
export const SEARCH_SQL = [...EXTENSIONS.map((name) => `create extension if not exists ${name}`), `create index concurrently products_search on ${SEARCH.products_search}`].join('; ')

/** Whether searches have their index. */
export async function hasSearchIndex (knex: Knex): Promise<boolean> {
  const { rows: [{ index }] } = await knex.raw("select to_regclass('products_search') as index")
  return index !== null
}

async function up (knex: Knex): Promise<void> {
  await changeIndexes(knex, { create: { ...NEW, ...await addExtensions(knex) && SEARCH }, drop: Object.keys(OLD) })
}

async function down (knex: Knex): Promise<void> {
  await changeIndexes(knex, { create: OLD, drop: [...Object.keys(NEW), ...Object.keys(SEARCH)] })
}

/**
 * Searches work without the extensions, though each then reads the whole shop; `shop doctor` says so. The embedded database
 * goes without them: they would double the time that it takes to start.
 *
 * @returns whether the database has them now
 */
async function addExtensions (knex: Knex): Promise<boolean> {
  const { rows } = await knex.raw('select name, installed_version from pg_available_extensions where name = any(?)', [EXTENSIONS])
  if (rows.length < EXTENSIONS.length) return false
  const missing: string[] = rows.filter((row: { installed_version: string | null }) => row.installed_version === null).map(({ name }: { name: string }) => name)
  try {
    await knex.transaction(async (trx) => { for (const name of missing) await trx.raw('create extension if not exists ??', [name]) })
    return true
  } catch {
    // This user may not create them.
    return false
  }
}

export const listIndexes: Migration = { online: true, up, down }
