import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * An import is applied in steps. `processed` is where the next one starts, written in the transaction of the step, so
 * that no line is applied twice or left out. The lock on the row of the import is the right to work at it: it ends with
 * the connection of a process that dies.
 *
 * A line knows its entry of the history, so that an import can be reverted as a whole. It does what its check saw: it
 * keeps what that found.
 *
 * Its lines count towards the bytes of their shop, until they are deleted with their import.
 */

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create table imports (
      id uuid primary key default gen_random_uuid(),
      shop_id uuid not null references shops on delete cascade,
      -- receiving: its lines are being stored. Nobody sees it before it is pending.
      status text not null default 'receiving'
        check (status in ('receiving', 'pending', 'running', 'done', 'failed', 'cancelled')),
      actor jsonb not null,
      -- Whether others were not over when it was stored, which may change what it found.
      follows boolean not null default false,
      total integer not null default 0,
      processed integer not null default 0,
      created integer not null default 0,
      updated integer not null default 0,
      unchanged integer not null default 0,
      failed integer not null default 0,
      error text,
      -- Of its lines: what the file says, and then what became of it.
      bytes bigint not null default 0,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      started_at timestamptz,
      finished_at timestamptz,
      unique (shop_id, id)
    );
    create index imports_list on imports (shop_id, created_at, id);
    create index imports_unfinished on imports (shop_id, created_at, id)
      where status in ('receiving', 'pending', 'running');
    create index imports_finished on imports (finished_at);

    create table import_lines (
      shop_id uuid not null,
      import_id uuid not null,
      -- From 1, of those that have a product.
      position integer not null,
      line integer not null,
      status text not null default 'pending'
        check (status in ('pending', 'created', 'updated', 'unchanged', 'failed', 'skipped')),
      -- What the line says, until it is applied.
      product jsonb,
      -- What its check found: the product, and digests of the fields that the line changes.
      found jsonb,
      product_id uuid,
      change_id uuid,
      field text,
      message text,
      primary key (shop_id, import_id, position),
      foreign key (shop_id, import_id) references imports (shop_id, id) on delete cascade
    );

    create function count_import_bytes() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        perform use_quota(shop_id, 'imports', 0, -sum(bytes)::bigint) from removed group by shop_id
          having sum(bytes) <> 0;
      else
        perform use_quota(shop_id, 'imports', 0, sum(bytes)::bigint) from (
          select shop_id, bytes from added union all select shop_id, -bytes from removed
        ) changes group by shop_id having sum(bytes) <> 0;
      end if;
      return null;
    end $$;
    create trigger count_update after update on imports referencing old table as removed new table as added
      for each statement execute function count_import_bytes();
    create trigger count_delete after delete on imports referencing old table as removed for each statement
      execute function count_import_bytes();
  `)
}

export const imports: Migration = { up }
