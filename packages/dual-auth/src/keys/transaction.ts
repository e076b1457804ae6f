import type { Knex } from 'knex'

/**
 * Runs the work in a transaction at `read committed`, whatever the default of the database is: under the levels above
 * it, a count after a lock would not see what others committed before, and simultaneous writes to one row fail.
 */
export async function committed<T> (knex: Knex, work: (transaction: Knex.Transaction) => Promise<T>): Promise<T> {
  return knex.transaction(work, { isolationLevel: 'read committed' })
}
