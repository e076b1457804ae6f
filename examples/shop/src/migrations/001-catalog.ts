import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * Every tenant table has `unique (shop_id, id)`, and every foreign key between tenant tables is
 * composite over it, so that no row can point into another shop, whatever the code above does.
 *
 * Names of constraints are part of the error messages: `<table>_<field>_taken` becomes a conflict
 * on the field, `<table>_<field>_exists` an invalid field.
 */

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create table shops (
      id uuid primary key default gen_random_uuid(),
      slug text not null constraint shops_slug_taken unique,
      name text not null,
      currency char(3) not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );

    create table categories (
      id uuid primary key default gen_random_uuid(),
      shop_id uuid not null references shops on delete cascade,
      name text not null,
      slug text not null,
      description text,
      parent_id uuid,
      position integer not null default 0,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (shop_id, id),
      constraint categories_slug_taken unique (shop_id, slug),
      constraint categories_parent_id_exists foreign key (shop_id, parent_id)
        references categories (shop_id, id) on delete set null (parent_id)
    );
    create index on categories (shop_id, parent_id);

    create table tags (
      id uuid primary key default gen_random_uuid(),
      shop_id uuid not null references shops on delete cascade,
      name text not null,
      slug text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (shop_id, id),
      constraint tags_slug_taken unique (shop_id, slug)
    );

    create table attributes (
      id uuid primary key default gen_random_uuid(),
      shop_id uuid not null references shops on delete cascade,
      name text not null,
      code text not null,
      type text not null check (type in ('text', 'number', 'boolean', 'select')),
      unit text,
      options jsonb not null default '[]',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (shop_id, id),
      constraint attributes_code_taken unique (shop_id, code)
    );

    create table products (
      id uuid primary key default gen_random_uuid(),
      shop_id uuid not null references shops on delete cascade,
      name text not null,
      slug text not null,
      description text,
      sku text,
      status text not null default 'draft' check (status in ('draft', 'active', 'archived')),
      price_amount bigint check (price_amount between 0 and 9007199254740991),
      currency char(3) not null,
      metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (shop_id, id),
      constraint products_slug_taken unique (shop_id, slug),
      constraint products_sku_taken unique (shop_id, sku)
    );
    create index on products (shop_id, created_at, id);
    create index on products (shop_id, status);

    create table product_categories (
      shop_id uuid not null,
      product_id uuid not null,
      category_id uuid not null,
      primary key (shop_id, product_id, category_id),
      foreign key (shop_id, product_id) references products (shop_id, id) on delete cascade,
      constraint product_categories_category_ids_exists foreign key (shop_id, category_id)
        references categories (shop_id, id) on delete cascade
    );
    create index on product_categories (shop_id, category_id);

    create table product_tags (
      shop_id uuid not null,
      product_id uuid not null,
      tag_id uuid not null,
      primary key (shop_id, product_id, tag_id),
      foreign key (shop_id, product_id) references products (shop_id, id) on delete cascade,
      constraint product_tags_tag_ids_exists foreign key (shop_id, tag_id)
        references tags (shop_id, id) on delete cascade
    );
    create index on product_tags (shop_id, tag_id);

    create table product_attributes (
      shop_id uuid not null,
      product_id uuid not null,
      attribute_id uuid not null,
      value jsonb not null,
      primary key (shop_id, product_id, attribute_id),
      foreign key (shop_id, product_id) references products (shop_id, id) on delete cascade,
      constraint product_attributes_attributes_exists foreign key (shop_id, attribute_id)
        references attributes (shop_id, id) on delete cascade
    );
    create index on product_attributes (shop_id, attribute_id);
  `)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw(`
    drop table product_attributes, product_tags, product_categories,
      products, attributes, tags, categories, shops
  `)
}

export const catalog: Migration = { up, down }
