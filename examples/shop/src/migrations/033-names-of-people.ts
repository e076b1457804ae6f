import type { Knex } from 'knex'
import type { Migration } from './migration.ts'
import { recordChange } from './record-change.ts'

/*
 * A change may begin before its person is erased, and end afterwards. The history takes their name from where the erasure
 * deletes it, which waits for changes that have it already.
 */
const NAME = "case actor->>'kind' when 'user' then (select users.name from users where users.id = (actor->>'id')::uuid for key share) else actor->>'name' end"

const ADDED = { confirmed: "actor->>'confirmed'" }

async function up (knex: Knex): Promise<void> {
  await knex.raw(`create or replace ${recordChange(ADDED, NAME)}`)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw(`create or replace ${recordChange(ADDED)}`)
}

export const namesOfPeople: Migration = { up, down }
