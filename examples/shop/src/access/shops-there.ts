import type { Knex } from 'knex'

/** The shops without those that are deleted, of which only {@link emptyShop} still knows. */
export function shopsThere (knex: Knex) {
  return knex('shops').whereNot('shops.status', 'deleted')
}
