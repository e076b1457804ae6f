import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * Every table of a shop has `unique (shop_id, id)`, and every foreign key between such tables is composite over it, so
 * that no row can point into another shop, whatever the code above does.
 *
 * Names of constraints are part of the error messages: `<table>_<field>_taken` becomes a conflict on the field,
 * `<table>_<field>_exists` and `<table>_<field>_fits` an invalid field.
 */

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create table shops (
      id uuid primary key default gen_random_uuid(),
      slug text not null constraint shops_slug_taken unique,
      name text not null,
      currency char(3) not null,
      status text not null default 'active' check (status in ('active', 'archived')),
      settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object'),
      -- Both are encrypted.
      pay_secret_key text,
      pay_webhook_secret text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index shops_name on shops (name, id);

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
      user_id uuid not null constraint shop_members_user_id_exists references users on delete cascade,
      role text not null default 'staff' check (role in ('owner', 'staff')),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint shop_members_user_id_taken primary key (shop_id, user_id)
    );
    create index shop_members_user on shop_members (user_id, shop_id);
  `)
}

export const shops: Migration = { up }
