/** The tables as the version before this one created them. Never change this: databases in use have them. */
export const earlierTables = `
create table if not exists pay_reconcile_audit (
  id uuid primary key default gen_random_uuid(),
  at timestamptz not null default now(),
  actor text not null,
  action text not null check (action in ('link', 'create', 'sync')),
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

create table if not exists pay_reconcile_runs (
  id uuid primary key,
  mode text not null check (mode in ('link', 'sync', 'check')),
  dry_run boolean not null,
  shop_id text,
  actor text not null,
  request_id text,
  cancel_requested boolean not null default false,
  started_at timestamptz not null default now(),
  finished_at timestamptz
);

create table if not exists pay_reconcile_run_shops (
  run_id uuid not null references pay_reconcile_runs on delete cascade,
  shop_id text not null,
  status text not null default 'pending' check (status in ('pending', 'running', 'done', 'stopped', 'cancelled')),
  reason text,
  total integer not null,
  processed integer not null default 0,
  last_account text,
  outcomes jsonb not null default '{}',
  drift jsonb not null default '{}',
  owner uuid,
  leased_until timestamptz,
  updated_at timestamptz not null default now(),
  primary key (run_id, shop_id)
);
create unique index if not exists pay_reconcile_one_run_per_shop on pay_reconcile_run_shops (shop_id) where status in ('pending', 'running');

create table if not exists pay_reconcile_items (
  run_id uuid not null references pay_reconcile_runs on delete cascade,
  account_id text not null,
  shop_id text not null,
  outcome text not null,
  item jsonb not null,
  primary key (run_id, account_id)
);
create index if not exists pay_reconcile_items_outcome on pay_reconcile_items (run_id, outcome, account_id);

create or replace function pay_reconcile_append_only() returns trigger language plpgsql as
$$ begin raise exception 'pay_reconcile_audit is append-only'; end $$;
create or replace trigger pay_reconcile_audit_append_only before update or delete or truncate on pay_reconcile_audit
  for each statement execute function pay_reconcile_append_only();
`
