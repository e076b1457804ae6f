import type { Knex } from 'knex'
import type { Indexes } from './online.ts'

/**
 * For `q`, in the shop alone: what others have must not make its search slower. The list of entries that PostgreSQL has
 * not merged yet is short, since each search reads all of it.
 */
export const SEARCH_INDEX: Indexes = {
  products_search: 'products using gin (shop_id, name gin_trgm_ops, sku gin_trgm_ops, description gin_trgm_ops) with ' +
    '(gin_pending_list_limit = 256)'
}

/** For `q` of accounts, and of the orders of those that it finds. */
export const ACCOUNT_SEARCH_INDEX: Indexes = {
  accounts_search: "accounts using gin (shop_id, name gin_trgm_ops, hash_name gin_trgm_ops, (details->>'email') " +
    'gin_trgm_ops) with (gin_pending_list_limit = 256)'
}

/**
 * The extensions of PostgreSQL that the indexes need. Its contrib package has them, as have the large hosts.
 */
export const SEARCH_EXTENSIONS = ['pg_trgm', 'btree_gin']

/** What an operator runs where the migration could not. */
export const SEARCH_SQL = [
  ...SEARCH_EXTENSIONS.map((name) => `create extension if not exists ${name}`),
  ...Object.entries({ ...SEARCH_INDEX, ...ACCOUNT_SEARCH_INDEX }).map(([name, definition]) =>
    `create index concurrently if not exists ${name} on ${definition}`
  )
].join('; ')

/** Whether searches have their indexes. */
export async function hasSearchIndex (knex: Knex): Promise<boolean> {
  const { rows: [{ found }] } = await knex.raw(
    "select to_regclass('products_search') is not null and to_regclass('accounts_search') is not null as found"
  )
  return found
}
