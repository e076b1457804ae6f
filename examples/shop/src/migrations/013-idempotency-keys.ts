import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * The answers to calls that had an `Idempotency-Key`, for repeats of these calls. `id` is a digest of the caller, the
 * shop, the operation and the key. `fingerprint` is one of what the call said.
 */

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create table idempotency_keys (
      id uuid primary key,
      -- Null: the call was in no shop.
      shop_id uuid references shops on delete cascade,
      caller_kind text not null,
      caller_id text not null,
      operation text not null,
      fingerprint text not null,
      status smallint not null,
      headers jsonb not null,
      -- Of a record or a batch, which are smaller.
      body text not null check (octet_length(body) <= 262144),
      created_at timestamptz not null default now()
    );
    create index on idempotency_keys (shop_id);
    create index on idempotency_keys (caller_kind, caller_id, created_at);
    create index on idempotency_keys (created_at);
  `)
}

export const idempotencyKeys: Migration = { up }
