import type { Knex } from 'knex'
import { countParts, countRecords, ID_BYTES, type Parts, type RecordTable } from './counting.ts'
import type { Migration } from './migration.ts'

/*
 * `bytes` is the size of a record as JSON: the parts that vary, and an upper bound for all others.
 *
 * There is an index for each order that lists come in, so that a page reads as many rows as it has. A nullable column
 * needs one for each direction, since its nulls come last in both.
 *
 * Periods of prices may overlap: of those in force the one that starts last applies, so that a sale needs no gap in the
 * usual price. No two start together, which is all that it takes to always know which.
 */

const RECORDS: readonly RecordTable[] = ['categories', 'tags', 'attributes', 'products', 'prices']

const PARTS: readonly Parts[] = [
  { table: 'product_categories', record: 'products', link: 'product_id', bytes: `${ID_BYTES}` },
  { table: 'product_tags', record: 'products', link: 'product_id', bytes: `${ID_BYTES}` },
  { table: 'product_attributes', record: 'products', link: 'product_id', bytes: '66 + octet_length(value::text)' }
]

/** How many bytes the URLs of pictures have as JSON, at most; an empty list is in what every product has. */
const sizeOfUrls = (urls: string): string => `coalesce(octet_length(nullif(${urls}, '[]')::text), 0)`

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
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
      bytes integer generated always as (350 + json_bytes(name) + json_bytes(slug) + json_bytes(description)) stored,
      unique (shop_id, id),
      constraint categories_slug_taken unique (shop_id, slug),
      constraint categories_parent_id_exists foreign key (shop_id, parent_id)
        references categories (shop_id, id) on delete set null (parent_id)
    );
    create index on categories (shop_id, name, id);
    create index on categories (shop_id, parent_id);

    create table tags (
      id uuid primary key default gen_random_uuid(),
      shop_id uuid not null references shops on delete cascade,
      name text not null,
      slug text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      bytes integer generated always as (250 + json_bytes(name) + json_bytes(slug)) stored,
      unique (shop_id, id),
      constraint tags_slug_taken unique (shop_id, slug)
    );
    create index on tags (shop_id, name, id);

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
      bytes integer generated always as (300 + json_bytes(name) + json_bytes(code) + json_bytes(unit) +
        octet_length(options::text)) stored,
      unique (shop_id, id),
      constraint attributes_code_taken unique (shop_id, code)
    );
    create index on attributes (shop_id, name, id);

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
      image_urls jsonb not null default '[]',
      metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      -- Of its rows in other tables, and of its pictures.
      part_bytes integer not null default 0,
      bytes integer generated always as (
        400 + json_bytes(name) + json_bytes(slug) + json_bytes(description) + json_bytes(sku) +
          octet_length(metadata::text) + part_bytes
      ) stored,
      unique (shop_id, id),
      constraint products_slug_taken unique (shop_id, slug),
      constraint products_sku_taken unique (shop_id, sku)
    );
    create index on products (shop_id, name, id);
    create index on products (shop_id, created_at, id);
    create index products_updated_at on products (shop_id, updated_at, id);
    create index products_price on products (shop_id, price_amount, id);
    create index products_price_desc on products (shop_id, price_amount desc nulls last, id desc);
    create index products_sku_desc on products (shop_id, sku desc nulls last, id desc);
    create index products_status on products (shop_id, status, id);
    create index products_currency on products (shop_id, currency, id);
    create index products_metadata on products using gin (metadata jsonb_path_ops) where metadata <> '{}';

    create function count_image_urls() returns trigger language plpgsql as $$
    begin
      new.part_bytes := new.part_bytes + ${sizeOfUrls('new.image_urls')} - case tg_op when 'INSERT' then 0 else ${
    sizeOfUrls('old.image_urls')
  } end;
      return new;
    end $$;
    create trigger count_new_image_urls before insert on products for each row
      when (new.image_urls <> '[]') execute function count_image_urls();
    create trigger count_image_urls before update of image_urls on products for each row
      when (new.image_urls <> old.image_urls) execute function count_image_urls();

    create table product_categories (
      shop_id uuid not null,
      product_id uuid not null,
      category_id uuid not null,
      primary key (shop_id, product_id, category_id),
      foreign key (shop_id, product_id) references products (shop_id, id) on delete cascade,
      constraint product_categories_category_ids_exists foreign key (shop_id, category_id)
        references categories (shop_id, id) on delete cascade
    );
    create index product_categories_category on product_categories (shop_id, category_id, product_id);

    create table product_tags (
      shop_id uuid not null,
      product_id uuid not null,
      tag_id uuid not null,
      primary key (shop_id, product_id, tag_id),
      foreign key (shop_id, product_id) references products (shop_id, id) on delete cascade,
      constraint product_tags_tag_ids_exists foreign key (shop_id, tag_id)
        references tags (shop_id, id) on delete cascade
    );
    create index product_tags_tag on product_tags (shop_id, tag_id, product_id);

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
      bytes integer generated always as (450) stored,
      unique (shop_id, id),
      constraint prices_product_id_exists foreign key (shop_id, product_id)
        references products (shop_id, id) on delete cascade,
      constraint prices_valid_from_taken
        unique nulls not distinct (shop_id, product_id, currency, min_quantity, valid_from),
      constraint prices_valid_to_fits check (valid_to > valid_from)
    );
    create index on prices (shop_id, created_at, id);
  `)
  await knex.raw([...RECORDS.map(countRecords), ...PARTS.map(countParts)].join('\n'))
}

export const catalog: Migration = { up }
