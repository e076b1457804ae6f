import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    alter table shops
      add status text not null default 'active' check (status in ('active', 'archived')),
      add settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object');

    alter table shop_members
      add role text not null default 'staff' check (role in ('owner', 'staff')),
      add updated_at timestamptz not null default now();
    alter table shop_members rename constraint shop_members_pkey to shop_members_user_id_taken;
    alter table shop_members rename constraint shop_members_user_id_fkey to shop_members_user_id_exists;
  `)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw(`
    alter table shop_members rename constraint shop_members_user_id_exists to shop_members_user_id_fkey;
    alter table shop_members rename constraint shop_members_user_id_taken to shop_members_pkey;
    alter table shop_members drop role, drop updated_at;
    alter table shops drop status, drop settings
  `)
}

export const shops: Migration = { up, down }
