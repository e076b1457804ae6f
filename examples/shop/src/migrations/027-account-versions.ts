import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * `updated_at` is the version of an account, but pay-reconcile, which knows no such column, writes details too. Other writers
 * set it themselves.
 */

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create function account_version() returns trigger language plpgsql as $$
    begin
      new.updated_at := greatest(date_trunc('milliseconds', old.updated_at) + interval '1 millisecond', clock_timestamp());
      return new;
    end $$;
    create trigger account_version before update on accounts for each row
      when (new.details is distinct from old.details and new.updated_at = old.updated_at) execute function account_version();
  `)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw('drop trigger account_version on accounts; drop function account_version()')
}

export const accountVersions: Migration = { up, down }
