import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * The history of everything that is written. `record_change` writes an entry within the statement of its change, so
 * that an entry costs no round trip. `seq` is the order of the changes of a record, since its writers hold a lock on
 * it; `at` can be equal.
 *
 * No foreign keys: an entry outlives its shop, its actor and its record. No check of `actor_kind`, `action` and
 * `record_kind` either: more kinds of writes will be added.
 *
 * `standing_reverts` has the reverts that were not reverted themselves: a change in there is reverted. The history
 * alone tells that only by following a change to its reverts, to the reverts of those, and so on. `record_revert`
 * follows them once, when a revert is written.
 */

/** The fields that differ between `earlier` and `later`. */
const DIFFERENCE = `lateral (
        select coalesce(jsonb_object_agg(name, jsonb_build_object('before', was, 'after', became)), '{}') as of_fields
        from jsonb_object_keys(coalesce(earlier || later, earlier, later)) name
        cross join lateral (
          select coalesce(earlier->name, 'null') as was, coalesce(later->name, 'null') as became
        ) field
        where was <> became
      ) differing`

/**
 * Adds the entries of changes. A change may begin before its person is erased, and end afterwards. So it takes their
 * name from where the erasure deletes it, which waits for changes that have it already.
 *
 * @param changes - what the variables of the function do not say of them
 */
function insertEntries (changes: string): string {
  return `insert into history (
        shop_id, actor_kind, actor_id, actor_name, actor_prefix, operation, tool, action, record_kind, record_id,
        record_name, changes, affected, restore, request_id, reverts, confirmed
      )
      select shop, actor->>'kind', actor->>'id', coalesce(
          case actor->>'kind'
            when 'user' then (select users.name from users where users.id = (actor->>'id')::uuid for key share)
            else actor->>'name'
          end,
          api_keys.name
        ), api_keys.prefix, actor->>'operation', actor->>'tool',
        case when earlier is null then 'create' when later is null then 'delete' else 'update' end,
        kind, record_key, coalesce(label, later->>'name', earlier->>'name'), difference,
        coalesce(case when kept is not null then (
          select jsonb_object_agg(key, jsonb_array_length(value)) from jsonb_each(kept->'links')
          where jsonb_array_length(value) > 0
        ) end, '{}'),
        kept, actor->>'request_id', reverts, actor->>'confirmed'
      from ${changes} left join api_keys
        on api_keys.id = case actor->>'kind' when 'api-key' then (actor->>'id')::uuid end`
}

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create table history (
      id uuid primary key default gen_random_uuid(),
      seq bigint generated always as identity,
      at timestamptz not null default clock_timestamp(),
      shop_id uuid,
      actor_kind text not null,
      actor_id text,
      actor_name text,
      actor_prefix text,
      operation text not null,
      tool text,
      confirmed text,
      action text not null,
      record_kind text not null,
      record_id text not null,
      record_name text,
      changes jsonb not null default '{}',
      affected jsonb not null default '{}',
      restore jsonb,
      request_id text,
      reverts uuid,
      -- As JSON: the parts that vary, and an upper bound for all others.
      bytes integer generated always as (900 + json_bytes(record_name) + json_bytes(actor_name) +
        octet_length(changes::text)) stored
    );
    create index on history (shop_id, at, id);
    create index on history (at, id);
    create index history_record on history (shop_id, record_id, seq);
    create index history_reverts on history (reverts) where reverts is not null;

    -- Transactions that delete old entries, or take the name of an erased person out of them, say so.
    create function history_append_only() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and current_setting('history.prune', true) = 'on' then return null; end if;
      if tg_op = 'UPDATE' and current_setting('history.erase', true) = 'on' then return null; end if;
      raise exception 'history is append-only';
    end $$;
    create trigger history_append_only before update or delete or truncate on history
      for each statement execute function history_append_only();

    create table standing_reverts (
      revert_id uuid primary key references history on delete cascade,
      change_id uuid not null
    );
    create index on standing_reverts (change_id);

    create function is_reverted(change uuid) returns boolean language sql stable as $$
      select exists (select from standing_reverts where change_id = change)
    $$;

    -- Notes that a revert stands. That turns those below it: the revert that it takes back stands no more, so what
    -- that one took back stands again, if it is a revert; until a change is none, or has another revert that stands.
    -- The reverts of a shop are written one after another.
    create function record_revert() returns trigger language plpgsql as $$
    declare
      standing uuid := new.id;
      taken_back uuid := new.reverts;
    begin
      while taken_back is not null loop
        insert into standing_reverts (revert_id, change_id) values (standing, taken_back);
        exit when exists (select from standing_reverts where change_id = taken_back and revert_id <> standing);
        delete from standing_reverts where revert_id = taken_back returning change_id into standing;
        exit when not found;
        exit when is_reverted(standing);
        select reverts into taken_back from history where id = standing;
      end loop;
      return null;
    end $$;
    create trigger history_reverts after insert on history
      for each row when (new.reverts is not null) execute function record_revert();

    -- As records write instants.
    create function json_instant(value timestamptz) returns text language sql stable as $$
      select to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    $$;

    create function record_change(
      actor jsonb, shop uuid, kind text, record_key text, label text, earlier jsonb, later jsonb, kept jsonb,
        even_if_equal boolean
    ) returns uuid language plpgsql as $$
    declare
      reverts constant uuid := actor->>'reverts';
      difference jsonb;
      entry uuid;
    begin
      select of_fields into difference from ${DIFFERENCE};
      if difference = '{}' and earlier is not null and later is not null and not even_if_equal then return null; end if;
      ${insertEntries('(values (1)) one')} returning id into entry;
      return entry;
    end $$;

    -- Changes of records of one kind, each of another one.
    create type record_change as (shop uuid, record_key text, earlier jsonb, later jsonb, kept jsonb, reverts uuid);

    -- The same for many changes, by one statement: in their order, and without those that change nothing.
    create function record_changes(actor jsonb, kind text, many record_change[])
    returns table (of_record text, entry uuid) language plpgsql as $$
    declare
      label constant text := null;
    begin
      return query ${
    insertEntries(`(
        select change.*, of_fields as difference from unnest(many) with ordinality change cross join ${DIFFERENCE}
        where of_fields <> '{}' or earlier is null or later is null order by ordinality
      ) change`)
  } returning record_id, id;
    end $$;
  `)
}

export const history: Migration = { up }
