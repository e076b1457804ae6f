import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * `tool_calls` counts the calls of tools by hour; `durations` is the histogram of `tool-calls/histogram.ts`.
 * `key_calls` counts those of each API key, `failed_calls` has its newest that failed, cut and without secrets, and
 * `key_clients` the names that its clients gave themselves.
 *
 * `daily_usage` counts all calls, of tools and routes, by day in UTC, and `daily_limits` says how many of them a day
 * may have. A meter is an API key, or the shop for all of its calls.
 */

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create table tool_calls (
      shop_id uuid not null references shops on delete cascade,
      hour timestamptz not null,
      tool text not null,
      calls integer not null,
      errors integer not null,
      durations integer[] not null,
      primary key (shop_id, hour, tool)
    );
    create index on tool_calls (hour);

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
      shop_id uuid not null,
      key_id uuid not null,
      at timestamptz not null,
      id bigint not null generated always as identity,
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

    create table daily_usage (
      shop_id uuid not null references shops on delete cascade,
      meter_id uuid not null,
      key_id uuid generated always as (nullif(meter_id, shop_id)) stored,
      day date not null,
      calls integer not null,
      writes integer not null,
      imports integer not null,
      primary key (shop_id, meter_id, day),
      foreign key (shop_id, key_id) references api_keys (shop_id, id) on delete cascade
    );
    create index on daily_usage (day);

    -- Null: no limit.
    create table daily_limits (
      shop_id uuid not null references shops on delete cascade,
      meter_id uuid not null,
      key_id uuid generated always as (nullif(meter_id, shop_id)) stored,
      calls_per_day integer,
      writes_per_day integer,
      imports_per_day integer,
      updated_at timestamptz not null default now(),
      primary key (shop_id, meter_id),
      foreign key (shop_id, key_id) references api_keys (shop_id, id) on delete cascade
    );

    -- Which answers of people to the question of a tool call were used, for the two minutes in which they could be
    -- used again.
    create table confirmations (id text primary key, until timestamptz not null);
  `)
}

export const toolCalls: Migration = { up }
