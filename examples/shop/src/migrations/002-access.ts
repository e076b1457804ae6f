import { createApiKeysTable } from 'dual-auth/knex'
import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create table users (
      id uuid primary key default gen_random_uuid(),
      subject text not null unique,
      name text,
      active boolean not null default true,
      roles text[] not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );

    create table shop_members (
      shop_id uuid not null references shops on delete cascade,
      user_id uuid not null references users on delete cascade,
      created_at timestamptz not null default now(),
      primary key (shop_id, user_id)
    );
    create index on shop_members (user_id);
  `)
  await createApiKeysTable(knex)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw('drop table api_keys, shop_members, users')
}

export const access: Migration = { up, down }
