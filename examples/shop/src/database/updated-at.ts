import type { Knex } from 'knex'

/** @returns what the column `updated_at` is to be: as it was where nothing is changed */
export function updatedAt (knex: Knex, changes: object): Knex.Raw | Knex.Ref<string, Record<string, string>> {
  return Object.keys(changes).length === 0 ? knex.ref('updated_at') : newer(knex)
}

/**
 * Not the time of the transaction: it may have waited for the row while another one changed it, and be older than that change.
 *
 * @param column - with its table where the statement knows two of that name
 * @returns what the column is to be of a row that changes
 */
export function newer (knex: Knex, column = 'updated_at'): Knex.Raw {
  return knex.raw('greatest(??, clock_timestamp())', [column])
}
