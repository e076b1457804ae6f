import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * An import does what its check saw. Each line keeps what that found: the product, and digests of the fields that the line
 * changes. Lines that were stored before know nothing of it, and are applied as they were.
 */

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    alter table import_lines add found jsonb;
    -- Whether others were not over when it was stored, which may change what it found.
    alter table imports add follows boolean not null default false
  `)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw('alter table import_lines drop found; alter table imports drop follows')
}

export const importFound: Migration = { up, down }
