import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * Every record knows how many bytes it has as JSON, at most: `bytes`. Lists end a page by it, and no record grows beyond
 * MAX_RECORD. The lines of `shop_usage` add up to the records and bytes of a shop.
 *
 * Triggers do the counting, as records are also changed by foreign keys. A statement adds a line and never changes one,
 * so that writers of one shop do not wait for each other; once a shop has many lines, a writer replaces them by their sum.
 */

/** In bytes. */
export const MAX_RECORD = 65_536

/** How many lines of a shop are left before they are replaced by their sum. */
const MAX_LINES = 64

/** More than ever write records of one shop at the same time. */
const MANY_WRITERS = 1000

/** Namespace of the advisory locks on shops that are close to their quota. */
const LOCK = 7_300_002

/** Of a UUID in an array of JSON. */
const ID_BYTES = 39

/** The parts of a record that are rows of their own, and how many bytes each row adds to `part_bytes` of its record. */
const PARTS = [
  { table: 'product_categories', record: 'products', link: 'product_id', bytes: `${ID_BYTES}` },
  { table: 'product_tags', record: 'products', link: 'product_id', bytes: `${ID_BYTES}` },
  { table: 'product_attributes', record: 'products', link: 'product_id', bytes: '66 + octet_length(value::text)' },
  { table: 'order_lines', record: 'orders', link: 'order_id', bytes: '150 + json_bytes(name) + json_bytes(sku)' }
] as const

/** The records, and their size as JSON: the parts that vary, and an upper bound for all others. */
export const RECORDS = {
  products: '400 + json_bytes(name) + json_bytes(slug) + json_bytes(description) + json_bytes(sku) + octet_length(metadata::text) + part_bytes',
  categories: '350 + json_bytes(name) + json_bytes(slug) + json_bytes(description)',
  tags: '250 + json_bytes(name) + json_bytes(slug)',
  attributes: '300 + json_bytes(name) + json_bytes(code) + json_bytes(unit) + octet_length(options::text)',
  accounts: '250 + json_bytes(name) + json_bytes(hash_name) + octet_length(details::text)',
  orders: '350 + part_bytes',
  prices: '450'
} as const

/** What the payment provider says of a customer, and the lines of an order, have limits of their own. */
const UNLIMITED = ['accounts', 'orders']

/** The events of a statement, with the names of the rows that a trigger sees of each. */
const EVENTS = {
  insert: 'new table as added',
  update: 'old table as removed new table as added',
  delete: 'old table as removed'
} as const

/** The characters that JSON writes as up to six bytes. */
const ESCAPED = `E'${Array.from({ length: 31 }, (_, index) => `\\x${(index + 1).toString(16).padStart(2, '0')}`).join('')}"\\\\'`

/** How many bytes a string has as JSON, at most. */
export const JSON_BYTES = `create or replace function json_bytes(value text) returns integer language sql immutable parallel safe as $$
    select coalesce(octet_length(value) + 5 * (length(value) - length(translate(value, ${ESCAPED}, ''))), 0)
  $$`

async function up (knex: Knex): Promise<void> {
  const tables = [...Object.keys(RECORDS), ...PARTS.map(({ table }) => table)]
  await knex.raw(`
    lock table shops, ${tables.join(', ')} in share row exclusive mode;
    ${JSON_BYTES};

    alter table products add part_bytes integer not null default 0;
    alter table orders add part_bytes integer not null default 0;

    create table shop_quota (
      only_row boolean primary key default true check (only_row),
      max_records bigint not null,
      max_bytes bigint not null
    );
    create table shop_usage (
      shop_id uuid not null,
      id bigint generated always as identity,
      records bigint not null,
      bytes bigint not null,
      primary key (shop_id, id)
    );
  `)
  for (const { table, record, link, bytes } of PARTS) {
    await knex.raw(`
      update ${record} set part_bytes = part_bytes + parts.bytes
      from (select shop_id, ${link} as id, sum(${bytes}) as bytes from ${table} group by 1, 2) parts
      where ${record}.shop_id = parts.shop_id and ${record}.id = parts.id
    `)
  }
  for (const [table, bytes] of Object.entries(RECORDS)) {
    await knex.raw(`
      alter table ${table} add bytes integer generated always as (${bytes}) stored;
      insert into shop_usage (shop_id, records, bytes) select shop_id, count(*), sum(bytes) from ${table} group by shop_id;
    `)
  }
  await knex.raw(usageFunctions({ kinds: false }) + FORGET)
  for (const table of Object.keys(RECORDS)) await knex.raw(triggersOf(table, 'count_records()'))
  for (const part of PARTS) {
    await knex.raw(functionOf(part))
    await knex.raw(triggersOf(part.table, `count_${part.table}()`))
  }
}

async function down (knex: Knex): Promise<void> {
  for (const table of [...Object.keys(RECORDS), ...PARTS.map((part) => part.table)]) {
    for (const event of Object.keys(EVENTS)) await knex.raw(`drop trigger count_${event} on ${table}`)
  }
  for (const { table } of PARTS) await knex.raw(`drop function count_${table}()`)
  for (const table of Object.keys(RECORDS)) await knex.raw(`alter table ${table} drop bytes`)
  await knex.raw(`
    drop trigger forget_usage on shops;
    drop function forget_usage(), count_records(), use_quota(uuid, bigint, bigint);
    drop table shop_usage, shop_quota;
    alter table products drop part_bytes;
    alter table orders drop part_bytes;
    drop function json_bytes(text)
  `)
}

const SUM_USAGE = 'select count(*), sum(records), sum(bytes) into lines, used_records, used_bytes from shop_usage where shop_id = shop'

/**
 * The functions that count. Writers of a shop that is close to its quota take turns, and so see what the others have
 * committed. A shop is close when those who took no turn, as they came before that, could still bring it beyond its quota
 * with what they have not committed.
 *
 * @param kinds - whether lines say of which table their records are, and every change leaves one; see migration 017
 * @param batches - whether a statement may add many records; see migration 021
 */
export function usageFunctions ({ kinds, batches = false }: { readonly kinds: boolean, readonly batches?: boolean }): string {
  const writers = batches ? `${MANY_WRITERS} * greatest(1, more_records)` : `${MANY_WRITERS}`
  return `
  create or replace function use_quota(shop uuid, ${kinds ? 'of_kind text, ' : ''}more_records bigint, more_bytes bigint) returns void language plpgsql as $$
  declare
    lines bigint;
    used_records bigint;
    used_bytes bigint;
    quota shop_quota;
  begin
    insert into shop_usage (shop_id, ${kinds ? 'kind, ' : ''}records, bytes) values (shop, ${kinds ? 'of_kind, ' : ''}more_records, more_bytes);
    ${SUM_USAGE};
    if lines > ${MAX_LINES} then
      with summed as (
        delete from shop_usage where ctid = any (array(select ctid from shop_usage where shop_id = shop for update skip locked))
        returning ${kinds ? 'kind, ' : ''}records, bytes
      )
      insert into shop_usage (shop_id, ${kinds ? 'kind, ' : ''}records, bytes)
      select shop, ${kinds ? 'kind, ' : ''}sum(records), sum(bytes) from summed ${kinds ? 'group by kind' : 'having count(*) > 0'};
    end if;
    if more_records <= 0 and more_bytes <= 0 then return; end if;
    select * into quota from shop_quota;
    if used_records > quota.max_records - ${writers} or used_bytes > quota.max_bytes - ${MAX_RECORD} * ${writers} then
      perform pg_advisory_xact_lock(${LOCK}, hashtext(shop::text));
      ${SUM_USAGE};
      if more_records > 0 and used_records > quota.max_records then
        raise exception using errcode = 'check_violation', constraint = 'shop_quota_records', detail = quota.max_records, message = 'too many records';
      elsif more_bytes > 0 and used_bytes > quota.max_bytes then
        raise exception using errcode = 'check_violation', constraint = 'shop_quota_bytes', detail = quota.max_bytes, message = 'too many bytes';
      end if;
    end if;
  end $$;

  create or replace function count_records() returns trigger language plpgsql as $$
  declare
    is_limited constant boolean := tg_table_name not in (${UNLIMITED.map((table) => `'${table}'`).join(', ')});
    is_larger boolean := false;
  begin
    if tg_op = 'INSERT' then
      is_larger := is_limited and exists (select from added where bytes > ${MAX_RECORD});
      perform use_quota(shop_id, ${kinds ? 'tg_table_name, ' : ''}count(*), sum(bytes)) from added group by shop_id;
    elsif tg_op = 'DELETE' then
      perform use_quota(shop_id, ${kinds ? 'tg_table_name, ' : ''}-count(*), -sum(bytes)) from removed group by shop_id;
    else
      -- One that was too large before there was a limit can be changed, as long as it does not grow.
      is_larger := is_limited and exists (
        select from added join removed using (shop_id, id) where added.bytes > ${MAX_RECORD} and added.bytes > removed.bytes);
      perform use_quota(shop_id, ${kinds ? 'tg_table_name, ' : ''}0, sum(bytes)) from (
        select shop_id, bytes from added union all select shop_id, -bytes from removed
      ) changes group by shop_id${kinds ? '' : ' having sum(bytes) <> 0'};
    end if;
    if is_larger then
      raise exception using errcode = 'check_violation', constraint = tg_table_name || '_record_fits', message = 'too large a record';
    end if;
    return null;
  end $$;
  `
}

const FORGET = `
  create function forget_usage() returns trigger language plpgsql as $$
  begin
    delete from shop_usage where shop_id = old.id;
    return null;
  end $$;
  -- At the end, when what the shop had is deleted and counted.
  create constraint trigger forget_usage after delete on shops deferrable initially deferred for each row execute function forget_usage();
`

function functionOf ({ table, record, link, bytes }: typeof PARTS[number]): string {
  const added = `select shop_id, ${link} as id, ${bytes} as bytes from added`
  const removed = `select shop_id, ${link} as id, -(${bytes}) as bytes from removed`
  const change = (rows: string): string => `
    update ${record} set part_bytes = part_bytes + changes.bytes
    from (select shop_id, id, sum(bytes) as bytes from (${rows}) parts group by 1, 2 having sum(bytes) <> 0) changes
    where ${record}.shop_id = changes.shop_id and ${record}.id = changes.id;`
  return `
    create function count_${table}() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then ${change(added)}
      elsif tg_op = 'DELETE' then ${change(removed)}
      else ${change(`${added} union all ${removed}`)}
      end if;
      return null;
    end $$`
}

function triggersOf (table: string, count: string): string {
  return Object.entries(EVENTS).map(([event, rows]) =>
    `create trigger count_${event} after ${event} on ${table} referencing ${rows} for each statement execute function ${count};`).join('\n')
}

export const shopUsage: Migration = { up, down }
