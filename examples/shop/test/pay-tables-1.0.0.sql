create table if not exists pay_reconcile_audit (
  id uuid primary key default gen_random_uuid(),
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
create index if not exists pay_reconcile_audit_account on pay_reconcile_audit (account_id, at);
create unique index if not exists pay_reconcile_audit_once_per_run on pay_reconcile_audit (run_id, account_id) where run_id is not null;
create index if not exists pay_reconcile_audit_at on pay_reconcile_audit (at, id);
create index if not exists pay_reconcile_audit_actor on pay_reconcile_audit (actor, at);

create table if not exists pay_reconcile_snapshots (
  audit_id uuid primary key,
  account_id text not null,
  shop_id text not null,
  customer_id text,
  customer jsonb not null,
  replaced_at timestamptz not null default now()
);
create index if not exists pay_reconcile_snapshots_replaced_at on pay_reconcile_snapshots (replaced_at);
create index if not exists pay_reconcile_snapshots_account on pay_reconcile_snapshots (account_id);

create table if not exists pay_reconcile_runs (
  id uuid primary key,
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
create index if not exists pay_reconcile_runs_scheduled_for on pay_reconcile_runs (mode, scheduled_for) where scheduled_for is not null;

create table if not exists pay_reconcile_awaited (
  shop_id text primary key,
  run_id uuid,
  attempts integer not null default 0,
  due timestamptz not null default now()
);

create table if not exists pay_reconcile_deliveries (
  shop_id text not null,
  id text not null,
  at timestamptz not null default now(),
  primary key (shop_id, id)
);
create index if not exists pay_reconcile_deliveries_at on pay_reconcile_deliveries (at);

create table if not exists pay_reconcile_schedule (
  mode text primary key,
  scheduled_for timestamptz not null
);

create table if not exists pay_reconcile_run_shops (
  run_id uuid not null references pay_reconcile_runs on delete cascade,
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
create unique index if not exists pay_reconcile_one_run_per_shop on pay_reconcile_run_shops (shop_id) where status in ('pending', 'running');

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
  account_id text primary key,
  shop_id text not null,
  version xid8 not null default pg_current_xact_id()
);

create table if not exists pay_reconcile_events (
  shop_id text not null,
  event_id text not null,
  created_at timestamptz not null,
  primary key (shop_id, event_id)
);

create table if not exists pay_reconcile_positions (
  shop_id text primary key,
  until timestamptz not null,
  complete_at timestamptz not null
);

create or replace function pay_reconcile_append_only() returns trigger language plpgsql as
$$ begin raise exception 'pay_reconcile_audit is append-only'; end $$;
create or replace trigger pay_reconcile_audit_append_only before update or delete or truncate on pay_reconcile_audit
  for each statement execute function pay_reconcile_append_only();
