import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * Periods may overlap: of those in force the one that starts last applies, so that a sale needs no
 * gap in the usual price. No two start together, which is all that it takes to always know which.
 */

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create table prices (
      id uuid primary key default gen_random_uuid(),
      shop_id uuid not null references shops on delete cascade,
      product_id uuid not null,
      currency char(3) not null,
      amount bigint not null check (amount between 0 and 9007199254740991),
      min_quantity integer not null default 1 check (min_quantity > 0),
      valid_from timestamptz,
      valid_to timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (shop_id, id),
      constraint prices_product_id_exists foreign key (shop_id, product_id)
        references products (shop_id, id) on delete cascade,
      constraint prices_valid_from_taken unique nulls not distinct (shop_id, product_id, currency, min_quantity, valid_from),
      constraint prices_valid_to_fits check (valid_to > valid_from)
    );
    create index on prices (shop_id, created_at, id);
  `)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw('drop table prices')
}

export const prices: Migration = { up, down }
