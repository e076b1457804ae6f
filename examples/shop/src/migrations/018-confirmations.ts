import type { Knex } from 'knex'
import type { Migration } from './migration.ts'
import { recordChange } from './record-change.ts'

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    alter table history add confirmed text;
    create or replace ${recordChange({ confirmed: "actor->>'confirmed'" })};

    -- Which answers of people were used, for the two minutes in which they could be used again.
    create table confirmations (id text primary key, until timestamptz not null);
  `)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw(`
    drop table confirmations;
    create or replace ${recordChange()};
    alter table history drop confirmed;
  `)
}

export const confirmations: Migration = { up, down }
