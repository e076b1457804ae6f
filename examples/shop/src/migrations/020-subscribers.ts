import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/**
 * The trigger that sets `bytes` finds its function by any `search_path`. Logical replication applies rows with an empty
 * one: a subscriber stopped at the first record.
 */
async function up (knex: Knex): Promise<void> {
  const { rows: [{ schema }] } = await knex.raw('select quote_ident(current_schema()) as schema')
  await knex.raw(`
    create or replace function measure_record() returns trigger language plpgsql as $$
    begin
      new.bytes := ${schema}.record_bytes(new);
      return new;
    end $$
  `)
}

export const subscribers: Migration = { up }
