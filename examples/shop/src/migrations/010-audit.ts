import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * No foreign keys: an entry outlives its shop, its actor and its record. No check of `actor_kind`, `action` and
 * `record_kind` either: more kinds of writes will be added.
 */

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create table audit (
      id uuid primary key default gen_random_uuid(),
      at timestamptz not null default clock_timestamp(),
      shop_id uuid,
      actor_kind text not null,
      actor_id text,
      operation text not null,
      action text not null,
      record_kind text not null,
      record_id text not null,
      changes jsonb not null default '{}',
      request_id text
    );
    create index on audit (shop_id, at, id);
    create index on audit (at, id);

    create function audit_append_only() returns trigger language plpgsql as
      $$ begin raise exception 'audit is append-only'; end $$;
    create trigger audit_append_only before update or delete or truncate on audit
      for each statement execute function audit_append_only();
  `)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw('drop table audit; drop function audit_append_only()')
}

export const audit: Migration = { up, down }
