import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/** A shop that is deleted stays until the last of its products is. Rows that are there have one of the other states. */
async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    alter table shops drop constraint shops_status_check,
      add constraint shops_status_check check (status in ('active', 'archived', 'deleted')) not valid
  `)
}

export const deletedShops: Migration = { up }
