import type { Knex } from 'knex'
import { usageFunctions } from './009-shop-usage.ts'
import type { Migration } from './migration.ts'

/*
 * An import is applied in steps. `processed` is where the next one starts, written in the transaction of the step, so that
 * no line is applied twice or left out. The lock on the row of the import is the right to work at it: it ends with the
 * connection of a process that dies.
 *
 * A line knows its entry of the history, so that an import can be reverted as a whole.
 *
 * A statement of an import or a batch adds hundreds of records, so its shop is close to its quota much earlier.
 */

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create table imports (
      id uuid primary key default gen_random_uuid(),
      shop_id uuid not null references shops on delete cascade,
      -- receiving: its lines are being stored. Nobody sees it before it is pending.
      status text not null default 'receiving' check (status in ('receiving', 'pending', 'running', 'done', 'failed', 'cancelled')),
      actor jsonb not null,
      total integer not null default 0,
      processed integer not null default 0,
      created integer not null default 0,
      updated integer not null default 0,
      unchanged integer not null default 0,
      failed integer not null default 0,
      error text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      started_at timestamptz,
      finished_at timestamptz,
      unique (shop_id, id)
    );
    create index imports_list on imports (shop_id, created_at, id);
    create index imports_unfinished on imports (shop_id, created_at, id) where status in ('receiving', 'pending', 'running');
    create index imports_finished on imports (finished_at);

    create table import_lines (
      shop_id uuid not null,
      import_id uuid not null,
      -- From 1, of those that have a product.
      position integer not null,
      line integer not null,
      status text not null default 'pending' check (status in ('pending', 'created', 'updated', 'unchanged', 'failed', 'skipped')),
      -- What the line says, until it is applied.
      product jsonb,
      product_id uuid,
      change_id uuid,
      field text,
      message text,
      primary key (import_id, position),
      unique (shop_id, import_id, position),
      foreign key (shop_id, import_id) references imports (shop_id, id) on delete cascade
    );
  `)
  await knex.raw(usageFunctions({ kinds: true, batches: true }))
}

async function down (knex: Knex): Promise<void> {
  await knex.raw(usageFunctions({ kinds: true }))
  await knex.raw('drop table import_lines, imports')
}

export const imports: Migration = { up, down }
