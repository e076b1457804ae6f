import type { Knex } from 'knex'
import { createAccountIndexes, createPayReconcileTables } from 'pay-reconcile/knex'
import { countParts, countRecords } from './counting.ts'
import type { Migration } from './migration.ts'

/** In bytes, of what the shop says of an account. A page of accounts, of all shops too, has to fit into memory. */
const MAX_DETAILS = 65_536

/** The keys of `details` that are not the shop's. */
const PAY_KEYS = ['pay_customer', 'pay_customer_id', 'pay_synced_at', 'pay_customer_before_deletion']

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create table accounts (
      id uuid primary key default gen_random_uuid(),
      shop_id uuid not null references shops on delete cascade,
      name text not null,
      hash_name text,
      details jsonb not null default '{}' check (jsonb_typeof(details) = 'object'),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      bytes integer generated always as (250 + json_bytes(name) + json_bytes(hash_name) +
        octet_length(details::text)) stored,
      unique (shop_id, id),
      -- A rule of the table, as details are merged there: many small changes add up.
      constraint accounts_details_fits
        check (octet_length((details - '{${PAY_KEYS.join()}}'::text[])::text) <= ${MAX_DETAILS})
    );
    create index on accounts (shop_id, name, id);

    -- updated_at is the version of an account, but pay-reconcile, which knows no such column, writes details too. Other
    -- writers set it themselves.
    create function account_version() returns trigger language plpgsql as $$
    begin
      new.updated_at := greatest(date_trunc('milliseconds', old.updated_at) + interval '1 millisecond',
        clock_timestamp());
      return new;
    end $$;
    create trigger account_version before update on accounts for each row
      when (new.details is distinct from old.details and new.updated_at = old.updated_at)
        execute function account_version();

    create table orders (
      id uuid primary key default gen_random_uuid(),
      shop_id uuid not null references shops on delete cascade,
      account_id uuid,
      status text not null default 'pending' check (status in ('pending', 'paid', 'fulfilled', 'cancelled')),
      currency char(3) not null,
      total_amount bigint not null check (total_amount between 0 and 9007199254740991),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      -- Of its lines.
      part_bytes integer not null default 0,
      bytes integer generated always as (350 + part_bytes) stored,
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

    ${countRecords('accounts')}
    ${countRecords('orders')}
    ${
    countParts({
      table: 'order_lines',
      record: 'orders',
      link: 'order_id',
      bytes: '150 + json_bytes(name) + json_bytes(sku)'
    })
  }
  `)
  await createAccountIndexes(knex)
  await createPayReconcileTables(knex)
}

export const accounts: Migration = { up }
