import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * `standing_reverts` has the reverts that were not reverted themselves: a change in there is reverted. The history alone tells
 * that only by following a change to its reverts, to the reverts of those, and so on. `record_revert` follows them once, when
 * a revert is written.
 *
 * `tool_calls` counts the calls of tools by hour. `durations` is the histogram of `tool-calls/histogram.ts`.
 */

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create table standing_reverts (
      revert_id uuid primary key references history on delete cascade,
      change_id uuid not null
    );
    create index on standing_reverts (change_id);
    insert into standing_reverts select id, reverts from history where reverts is not null and not is_reverted(id);

    create or replace function is_reverted(change uuid) returns boolean language sql stable as $$
      select exists (select from standing_reverts where change_id = change)
    $$;

    -- The reverts of a shop are written one after another.
    create function record_revert() returns trigger language plpgsql as $$
    declare
      revert uuid := new.id;
      change uuid := new.reverts;
      below uuid;
      was_reverted boolean;
    begin
      loop
        was_reverted := is_reverted(change);
        insert into standing_reverts values (revert, change);
        exit when was_reverted;
        -- If the change is a revert, what it reverted stands again, unless another revert of it stands.
        delete from standing_reverts where revert_id = change returning change_id into below;
        exit when not found or is_reverted(below);
        -- If that is a revert as well, its own change is reverted again.
        revert := below;
        select reverts into change from history where id = below;
        exit when change is null;
      end loop;
      return null;
    end $$;
    create trigger history_reverts after insert on history
      for each row when (new.reverts is not null) execute function record_revert();

    create table tool_calls (
      shop_id uuid not null references shops on delete cascade,
      hour timestamptz not null,
      tool text not null,
      calls integer not null,
      errors integer not null,
      durations integer[] not null,
      primary key (shop_id, hour, tool)
    );
    create index on tool_calls (hour);
  `)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw(`
    drop table tool_calls;
    drop trigger history_reverts on history;
    drop function record_revert();
    create or replace function is_reverted(change uuid) returns boolean language plpgsql stable as $$
    begin
      return exists (select from history where reverts = change and not is_reverted(id));
    end $$;
    drop table standing_reverts;
  `)
}

export const agentsAtWork: Migration = { up, down }
