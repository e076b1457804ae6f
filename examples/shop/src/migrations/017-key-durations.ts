import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/**
 * How long the calls of each API key took, so that a slow one is found. Nothing is rewritten. A server of the version
 * before adds calls without their time.
 */
async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    alter table key_calls add total_ms bigint not null default 0, add slowest_ms integer not null default 0
  `)
}

export const keyDurations: Migration = { up }
