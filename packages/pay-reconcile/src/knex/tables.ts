import type { Knex } from 'knex'
import { PAY_RECONCILE_INVALID_OPTION } from '../errors.ts'
import { payStringIn } from '../lists/pay-string.ts'
import { hostTables, type AccountTable, type OnlyShop } from './account-table.ts'
import { withBriefLocks } from './brief-locks.ts'
import { record, recordsOf } from './records.ts'
import { assertUsable, demandPostgres } from './startup.ts'

const TABLES = `
create table if not exists pay_reconcile_registrations (
  name text primary key,
  accounts text not null,
  customer text not null,
  unique (accounts, customer)
);

create table if not exists pay_reconcile_audit (
  id uuid primary key default gen_random_uuid(),
  registration text not null,
  at timestamptz not null default now(),
  actor text not null,
  action text not null check (action in ('link', 'create', 'sync', 'unlink')),
  account_id text not null,
  shop_id text not null,
  run_id uuid,
  before jsonb not null,
  after jsonb not null,
  provider_request_id text,
  request_id text
);
create index if not exists pay_reconcile_audit_account on pay_reconcile_audit (registration, account_id, at);
create unique index if not exists pay_reconcile_audit_once_per_run on pay_reconcile_audit (run_id, account_id)
  where run_id is not null;
create index if not exists pay_reconcile_audit_at on pay_reconcile_audit (registration, at, id);
create index if not exists pay_reconcile_audit_actor on pay_reconcile_audit (registration, actor, at);

create table if not exists pay_reconcile_snapshots (
  audit_id uuid primary key,
  registration text not null,
  account_id text not null,
  shop_id text not null,
  customer_id text,
  customer jsonb not null,
  replaced_at timestamptz not null default now()
);
create index if not exists pay_reconcile_snapshots_replaced_at on pay_reconcile_snapshots (registration, replaced_at);
create index if not exists pay_reconcile_snapshots_account on pay_reconcile_snapshots (registration, account_id);

create table if not exists pay_reconcile_runs (
  id uuid primary key,
  registration text not null,
  mode text not null check (mode in ('link', 'sync', 'check', 'unlink', 'changes')),
  dry_run boolean not null,
  shop_id text,
  selection jsonb not null default '{}',
  targets jsonb,
  scheduled_for timestamptz,
  webhook boolean not null default false,
  actor text not null,
  request_id text,
  cancel_requested boolean not null default false,
  started_at timestamptz not null default now(),
  finished_at timestamptz
);
create index if not exists pay_reconcile_runs_scheduled_for on pay_reconcile_runs (registration, mode, scheduled_for)
  where scheduled_for is not null;

create table if not exists pay_reconcile_awaited (
  registration text not null,
  shop_id text not null,
  run_id uuid,
  attempts integer not null default 0,
  due timestamptz not null default now(),
  primary key (registration, shop_id)
);

create table if not exists pay_reconcile_deliveries (
  registration text not null,
  shop_id text not null,
  id text not null,
  at timestamptz not null default now(),
  primary key (registration, shop_id, id)
);
create index if not exists pay_reconcile_deliveries_at on pay_reconcile_deliveries (at);

create table if not exists pay_reconcile_schedule (
  registration text not null,
  mode text not null,
  scheduled_for timestamptz not null,
  primary key (registration, mode)
);

create table if not exists pay_reconcile_run_shops (
  run_id uuid not null references pay_reconcile_runs on delete cascade,
  registration text not null,
  shop_id text not null,
  status text not null default 'pending' check (status in ('pending', 'running', 'done', 'stopped', 'cancelled')),
  reason text,
  missing_permission text,
  total integer not null,
  processed integer not null default 0,
  last_account text,
  paging jsonb,
  outcomes jsonb not null default '{}',
  differences jsonb not null default '{}',
  owner uuid,
  leased_until timestamptz,
  updated_at timestamptz not null default now(),
  primary key (run_id, shop_id)
);
create unique index if not exists pay_reconcile_one_run_per_shop on pay_reconcile_run_shops (registration, shop_id)
  where status in ('pending', 'running');

create table if not exists pay_reconcile_items (
  id bigint generated always as identity,
  run_id uuid not null references pay_reconcile_runs on delete cascade,
  account_id text not null,
  shop_id text not null,
  outcome text not null,
  item jsonb not null,
  primary key (run_id, account_id)
);
create unique index if not exists pay_reconcile_items_id on pay_reconcile_items (id);
create index if not exists pay_reconcile_items_account on pay_reconcile_items (account_id);
create index if not exists pay_reconcile_items_outcome on pay_reconcile_items (run_id, outcome, account_id);

create table if not exists pay_reconcile_unchanged (
  run_id uuid not null references pay_reconcile_runs on delete cascade,
  shop_id text not null,
  account_id text not null,
  primary key (run_id, shop_id, account_id)
);

create table if not exists pay_reconcile_changed (
  registration text not null,
  account_id text not null,
  shop_id text not null,
  version xid8 not null default pg_current_xact_id(),
  primary key (registration, account_id)
);

create table if not exists pay_reconcile_events (
  registration text not null,
  shop_id text not null,
  event_id text not null,
  created_at timestamptz not null,
  primary key (registration, shop_id, event_id)
);

create table if not exists pay_reconcile_positions (
  registration text not null,
  shop_id text not null,
  until timestamptz not null,
  complete_at timestamptz not null,
  primary key (registration, shop_id)
);

create or replace function pay_reconcile_append_only() returns trigger language plpgsql as
$$ begin raise exception 'pay_reconcile_audit is append-only'; end $$;
create or replace trigger pay_reconcile_audit_append_only before update or delete or truncate on pay_reconcile_audit
  for each statement execute function pay_reconcile_append_only();
`

/** The columns of each table. */
const columns: ReadonlyMap<string, readonly string[]> = new Map(
  [...TABLES.matchAll(/^create table if not exists (\w+) \(\n(.*?)^\);/gms)].map(
    (
      [, table = '', body = '']
    ) => [table, [...body.matchAll(/^ {2}(?!primary key|unique)(\w+)/gm)].map(([, column = '']) => column)]
  )
)

/**
 * Creates the package's own tables: audit, replaced snapshots, runs and what they found. Can be called repeatedly, and
 * inside the transaction of a migration. It changes and locks no table that exists. Needs PostgreSQL 15 or later.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} also for a table that lacks a column
 */
export async function createPayReconcileTables (knex: Knex): Promise<void> {
  demandPostgres(knex)
  await refuseEarlier(knex)
  await withBriefLocks(knex, createMissing)
  await assertUsable(demandColumns(knex, [...columns.keys()]), 'createPayReconcileTables changes no table that exists')
}

/**
 * Fails with the database's error, which has the name, if one of the package's tables is missing, lacks a column or may
 * not be read.
 */
export async function demandColumns (knex: Knex, names: readonly string[]): Promise<void> {
  for (const table of names) {
    await knex.raw(
      `select ${(columns.get(table) ?? []).map((column) => `${table}.${column}`).join(', ')} from ${table} limit 0`
    )
  }
}

/**
 * Tables of an earlier version do not say whose accounts their rows are about.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION}
 */
async function refuseEarlier (knex: Knex): Promise<void> {
  const named = [...columns].filter(([, names]) => names.includes('registration')).map(([table]) => table)
  const [earlier] = await recordsOf<{ readonly name: string }>(
    knex,
    knex.raw(
      `
    select ${record({ name: 'c.relname' })} from pg_class c
    where c.relname = any(?::text[]) and c.relkind in ('r', 'p') and pg_table_is_visible(c.oid)
      and not exists (select from pg_attribute where attrelid = c.oid and attname = 'registration' and not attisdropped)
    order by c.relname limit 1`,
      [named]
    )
  )
  if (earlier) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      `${earlier.name} was created by an earlier version, and does not say whose accounts its rows are about: ` +
        'call dropPayReconcileTables(knex) first, which deletes the audit, the runs and the replaced snapshots; ' +
        'the customers of accounts stay'
    )
  }
}

async function createMissing (knex: Knex): Promise<void> {
  // `if not exists` locks the table even if there is nothing to add.
  const present = await presentNames(knex)
  for (const statement of statementsOf(TABLES)) {
    if (!present.has(madeBy(statement))) await knex.raw(statement)
  }
}

/** What a statement makes: tables, indexes and functions by their names, triggers as `table.name`. */
function madeBy (statement: string): string {
  const [, trigger, of] = /^create or replace trigger (\w+) .* on (\w+)/.exec(statement) ?? []
  if (trigger !== undefined) return `${of}.${trigger}`
  return /^create (?:or replace )?(?:unique )?(?:table|index|function) (?:if not exists )?(\w+)/.exec(statement)?.[1] ??
    statement
}

async function presentNames (knex: Knex): Promise<ReadonlySet<string>> {
  const rows = await recordsOf<{ readonly name: string }>(
    knex,
    knex.raw(`select ${record({ name: 'name' })} from (
    select relname::text as name from pg_class where pg_table_is_visible(oid)
    union all select relname || '.' || tgname from pg_trigger join pg_class on pg_class.oid = tgrelid
      where pg_table_is_visible(tgrelid)
    union all select proname::text from pg_proc where pg_function_is_visible(oid)
  ) present where name like 'pay_reconcile_%'`)
  )
  return new Set(rows.map(({ name }) => name))
}

/** Drops what {@link createPayReconcileTables} created, including the audit trail. */
export async function dropPayReconcileTables (knex: Knex): Promise<void> {
  for (
    const table of [
      'unchanged',
      'items',
      'run_shops',
      'runs',
      'schedule',
      'awaited',
      'deliveries',
      'changed',
      'events',
      'positions',
      'snapshots',
      'audit',
      'registrations'
    ]
  ) await knex.schema.dropTableIfExists(`pay_reconcile_${table}`)
  await knex.raw('drop function if exists pay_reconcile_append_only()')
}

/**
 * Creates the indexes for lists and bulk runs: by shop, by each sort field, and by parts of names if the database has
 * the extension pg_trgm. Can be called repeatedly, and creates those that are missing. On a large live table, create
 * the same indexes with CONCURRENTLY instead.
 */
export async function createAccountIndexes (
  knex: Knex,
  options: AccountTable & { readonly shop?: OnlyShop } = {}
): Promise<void> {
  const { name: table, columns: { id, shopId, name: called, hashName, details, customerId: customer } } = hostTables(
    knex,
    options
  )
  const prefix = table.replace(/\W/g, '_')
  const quoted = (column: string): string => knex.raw('??', [column]).toString()
  const customerId = customer === null
    ? payStringIn(quoted(details), 'pay_customer_id')
    : `nullif(${quoted(customer)}, '')`
  const syncedAt = payStringIn(quoted(details), 'pay_synced_at')
  const [key, name] = [quoted(id), quoted(called)]
  // Accounts without the value come last in both directions, so each direction needs an index.
  const down = (value: string): string => `(${value} desc nulls last, ${key} desc)`
  // Accounts with and without a customer have indexes of their own, so that an index alone gives the count.
  const indexes: Record<string, string> = {
    name: `(${name}, ${key})`,
    pay_id: `((${customerId}), ${key})`,
    pay_id_down: down(`(${customerId})`),
    synced_at: `(${syncedAt}, ${key})`,
    synced_at_down: down(syncedAt),
    without_pay: `(${name}, ${key}) where ${customerId} is null`,
    with_pay: `(${name}, ${key}) where ${customerId} is not null`,
    ...(hashName !== null && { hash_name: `(${quoted(hashName)}, ${key})`, hash_name_down: down(quoted(hashName)) }),
    ...(shopId !== null && {
      shop_name: `(${quoted(shopId)}, ${name}, ${key})`,
      shop: `(${quoted(shopId)}, ${key})`,
      shop_pay_id: `(${quoted(shopId)}, (${customerId}))`,
      shop_without_pay: `(${quoted(shopId)}, ${name}, ${key}) where ${customerId} is null`
    })
  }
  const schema = table.includes('.') ? `${table.slice(0, table.lastIndexOf('.'))}.` : ''
  if (await finds(knex, "pg_extension where extname = 'pg_trgm'")) indexes['part'] = `using gin (${name} gin_trgm_ops)`
  for (const [suffix, keys] of Object.entries(indexes)) {
    const index = `pay_reconcile_${prefix}_${suffix}`
    if (await finds(knex, 'pg_class where oid = to_regclass(?)', [knex.raw('??', [schema + index]).toString()])) {
      continue
    }
    await withBriefLocks(knex, async (trx) => {
      await trx.raw(`create index if not exists ?? on ?? ${keys}`, [index, table])
    })
  }
}

/** Whether a table of the catalog has such a row. @param from - in SQL */
async function finds (knex: Knex, from: string, bindings: readonly string[] = []): Promise<boolean> {
  return (await recordsOf(knex, knex.raw(`select ${record({ found: 'true' })} from ${from}`, bindings))).length > 0
}

/** Single statements, because the extended protocol accepts only one at a time. */
function statementsOf (script: string): readonly string[] {
  return script.split(/;\n/).map((statement) => statement.trim()).filter((statement) => statement !== '')
}
