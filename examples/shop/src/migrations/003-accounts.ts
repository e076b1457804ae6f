import type { Knex } from 'knex'
import { createAccountIndexes, createPayReconcileTables, dropPayReconcileTables } from 'pay-reconcile/knex'
import type { Migration } from './migration.ts'

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    alter table shops add pay_secret_key text;

    create table accounts (
      id uuid primary key default gen_random_uuid(),
      shop_id uuid not null references shops on delete cascade,
      name text not null,
      hash_name text,
      details jsonb not null default '{}' check (jsonb_typeof(details) = 'object'),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (shop_id, id)
    );

    create table orders (
      id uuid primary key default gen_random_uuid(),
      shop_id uuid not null references shops on delete cascade,
      account_id uuid,
      status text not null default 'pending' check (status in ('pending', 'paid', 'fulfilled', 'cancelled')),
      currency char(3) not null,
      total_amount bigint not null check (total_amount between 0 and 9007199254740991),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (shop_id, id),
      constraint orders_account_id_exists foreign key (shop_id, account_id)
        references accounts (shop_id, id) on delete set null (account_id)
    );
    create index on orders (shop_id, created_at, id);
    create index on orders (shop_id, account_id);

    create table order_lines (
      shop_id uuid not null,
      order_id uuid not null,
      position integer not null,
      product_id uuid,
      name text not null,
      sku text,
      unit_amount bigint not null check (unit_amount between 0 and 9007199254740991),
      quantity integer not null check (quantity > 0),
      primary key (shop_id, order_id, position),
      foreign key (shop_id, order_id) references orders (shop_id, id) on delete cascade,
      foreign key (shop_id, product_id) references products (shop_id, id) on delete set null (product_id)
    );
    create index on order_lines (shop_id, product_id);
  `)
  await createAccountIndexes(knex)
  await createPayReconcileTables(knex)
}

async function down (knex: Knex): Promise<void> {
  await dropPayReconcileTables(knex)
  await knex.raw(`
    drop table order_lines, orders, accounts;
    alter table shops drop pay_secret_key
  `)
}

export const accounts: Migration = { up, down }
