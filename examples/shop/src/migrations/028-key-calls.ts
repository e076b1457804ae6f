import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * What each API key was used for. `key_calls` counts its tool calls by hour, `failed_calls` has the newest that failed, cut and
 * without secrets, and `key_clients` the names that clients gave themselves.
 */

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create table key_calls (
      shop_id uuid not null,
      key_id uuid not null,
      hour timestamptz not null,
      tool text not null,
      calls integer not null,
      errors integer not null,
      primary key (shop_id, key_id, hour, tool),
      foreign key (shop_id, key_id) references api_keys (shop_id, id) on delete cascade
    );
    create index on key_calls (shop_id, hour);
    create index on key_calls (hour);

    create table failed_calls (
      id bigint not null generated always as identity,
      shop_id uuid not null,
      key_id uuid not null,
      at timestamptz not null,
      tool text not null,
      status integer,
      arguments text not null,
      answer text not null,
      primary key (shop_id, key_id, at, id),
      foreign key (shop_id, key_id) references api_keys (shop_id, id) on delete cascade
    );
    create index on failed_calls (at);

    create table key_clients (
      shop_id uuid not null,
      key_id uuid not null,
      name text not null,
      version text not null,
      first_seen_at timestamptz not null,
      last_seen_at timestamptz not null,
      primary key (shop_id, key_id, name),
      foreign key (shop_id, key_id) references api_keys (shop_id, id) on delete cascade
    );
  `)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw('drop table key_clients; drop table failed_calls; drop table key_calls')
}

export const keyCalls: Migration = { up, down }
