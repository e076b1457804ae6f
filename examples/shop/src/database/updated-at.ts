import type { Knex } from 'knex'

/** @returns the new value of `updated_at`: the old one if nothing changes */
export function updatedAt (knex: Knex, changes: object): Knex.Raw | Knex.Ref<string, Record<string, string>> {
  return Object.keys(changes).length === 0 ? knex.ref('updated_at') : newer(knex)
}

/**
 * Not the time of the transaction, which may have waited while another one changed the row, and be older than that
 * change. It rises by a millisecond at least, which responses show, even if the clock is set back: it is the version of
 * the row.
 *
 * @param column - with its table if the name is ambiguous in the statement
 * @returns the new value of the column for a row that changes
 */
export function newer (knex: Knex, column = 'updated_at'): Knex.Raw {
  return knex.raw("greatest(date_trunc('milliseconds', ??) + interval '1 millisecond', clock_timestamp())", [column])
}
