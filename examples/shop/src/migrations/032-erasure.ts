import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * The history stays append-only, but a transaction that erases a person may take their name out of entries.
 */

const appendOnly = (exceptions: string): string => `
  create or replace function history_append_only() returns trigger language plpgsql as $$
  begin
    ${exceptions}
    raise exception 'history is append-only';
  end $$`

const PRUNE = "if tg_op = 'DELETE' and current_setting('history.prune', true) = 'on' then return null; end if;"
const ERASE = "if tg_op = 'UPDATE' and current_setting('history.erase', true) = 'on' then return null; end if;"

async function up (knex: Knex): Promise<void> {
  await knex.raw(appendOnly(PRUNE + ERASE))
}

async function down (knex: Knex): Promise<void> {
  await knex.raw(appendOnly(PRUNE))
}

export const erasure: Migration = { up, down }
