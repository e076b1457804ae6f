import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * Every record knows how many bytes it has as JSON, at most: `bytes`. Lists end a page by it, and no record grows
 * beyond MAX_RECORD. The lines of `shop_usage` add up to the records and bytes of a shop, and to the length of each
 * list.
 *
 * Triggers do the counting, as records are also changed by foreign keys. A statement adds a line and never changes one,
 * so that writers of one shop do not wait for each other; once a shop has many lines, a writer replaces those of each
 * table by their sum.
 *
 * Every statement that changes records leaves a line, also if their size stays the same: the ids of a table's lines are
 * the state that its records are in, and a count is true as long as they are. The ids are random, so that no other
 * database has the same lines after other changes: neither a copy that went on by itself, nor a standby that followed a
 * primary which was given up.
 *
 * Writers of a shop that is close to its quota take turns, and so see what the others have committed. A shop is close
 * when those who took no turn, as they came before that, could still bring it beyond its quota with what they have not
 * committed. A statement of an import or a batch adds hundreds of records, so its shop is close to its quota much
 * earlier.
 */

/** In bytes. What the payment provider says of a customer, and the lines of an order, have limits of their own. */
const MAX_RECORD = 65_536

/** How many lines of a shop are left before they are replaced by their sum. */
const MAX_LINES = 64

/** More than ever write records of one shop at the same time. */
const MANY_WRITERS = 1000

/** Namespace of the advisory locks on shops that are close to their quota. */
const LOCK = 7_300_002

const WRITERS = `${MANY_WRITERS} * greatest(1, more_records)`

const SUM_USAGE =
  'select count(*), sum(records), sum(bytes) into lines, used_records, used_bytes from shop_usage where shop_id = shop'

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    -- How many bytes a string has as JSON, at most. Most strings have no character to escape, which their length as
    -- JSON tells quickly. Not in SQL: such a function is slower to call, and only an immutable expression could become
    -- part of the statement.
    create function json_bytes(value text) returns integer language plpgsql immutable parallel safe as $$
    begin
      if octet_length(to_json(value)::text) = octet_length(value) + 2 then return octet_length(value); end if;
      return coalesce(octet_length(value) + 5 *
        (length(value) - length(regexp_replace(value, E'[\\x01-\\x1f"\\\\\\\\]', '', 'g'))), 0);
    end $$;

    create table shop_quota (
      only_row boolean primary key default true check (only_row),
      max_records bigint not null,
      max_bytes bigint not null
    );

    create table shop_usage (
      shop_id uuid not null,
      id uuid not null default gen_random_uuid(),
      -- The table of the records.
      kind text,
      records bigint not null,
      bytes bigint not null,
      primary key (shop_id, id)
    );

    create function use_quota(shop uuid, of_kind text, more_records bigint, more_bytes bigint)
    returns void language plpgsql as $$
    declare
      lines bigint;
      used_records bigint;
      used_bytes bigint;
      quota shop_quota;
    begin
      insert into shop_usage (shop_id, kind, records, bytes) values (shop, of_kind, more_records, more_bytes);
      ${SUM_USAGE};
      if lines > ${MAX_LINES} then
        with summed as (
          delete from shop_usage where shop_id = shop
            and ctid = any (array(select ctid from shop_usage where shop_id = shop and kind in (
            select kind from shop_usage where shop_id = shop group by kind having count(*) > 1) for update skip locked))
          returning kind, records, bytes
        )
        insert into shop_usage (shop_id, kind, records, bytes)
        select shop, kind, sum(records), sum(bytes) from summed group by kind;
      end if;
      if more_records <= 0 and more_bytes <= 0 then return; end if;
      select * into quota from shop_quota;
      if used_records > quota.max_records - ${WRITERS} or used_bytes > quota.max_bytes - ${MAX_RECORD} * ${WRITERS} then
        perform pg_advisory_xact_lock(${LOCK}, hashtext(shop::text));
        ${SUM_USAGE};
        if more_records > 0 and used_records > quota.max_records then
          raise exception using errcode = 'check_violation', constraint = 'shop_quota_records',
            detail = quota.max_records, message = 'too many records';
        elsif more_bytes > 0 and used_bytes > quota.max_bytes then
          raise exception using errcode = 'check_violation', constraint = 'shop_quota_bytes',
            detail = quota.max_bytes, message = 'too many bytes';
        end if;
      end if;
    end $$;

    create function count_records() returns trigger language plpgsql as $$
    declare
      is_limited constant boolean := tg_table_name not in ('accounts', 'orders');
      is_larger boolean := false;
    begin
      if tg_op = 'INSERT' then
        is_larger := is_limited and exists (select from added where bytes > ${MAX_RECORD});
        perform use_quota(shop_id, tg_table_name, count(*), sum(bytes)) from added group by shop_id;
      elsif tg_op = 'DELETE' then
        perform use_quota(shop_id, tg_table_name, -count(*), -sum(bytes)) from removed group by shop_id;
      else
        -- One that a migration made too large can be changed, as long as it does not grow.
        is_larger := is_limited and exists (
          select from added join removed using (shop_id, id) where added.bytes > ${MAX_RECORD}
            and added.bytes > removed.bytes);
        perform use_quota(shop_id, tg_table_name, 0, sum(bytes)) from (
          select shop_id, bytes from added union all select shop_id, -bytes from removed
        ) changes group by shop_id;
      end if;
      if is_larger then
        raise exception using errcode = 'check_violation', constraint = tg_table_name || '_record_fits',
          message = 'too large a record';
      end if;
      return null;
    end $$;

    create function forget_usage() returns trigger language plpgsql as $$
    begin
      delete from shop_usage where shop_id = old.id;
      return null;
    end $$;
    -- At the end, when what the shop had is deleted and counted.
    create constraint trigger forget_usage after delete on shops deferrable initially deferred for each row
      execute function forget_usage();
  `)
}

export const usage: Migration = { up }
