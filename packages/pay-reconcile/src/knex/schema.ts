/** One of the package's tables, as `create table` and `create index` need it. */
interface Table {
  /** The type and the constraints of each column. */
  readonly columns: Readonly<Record<string, string>>
  /** Those of several columns. */
  readonly constraints?: readonly string[]
  /** What comes behind the name of the table, by the name of the index. */
  readonly indexes?: Readonly<Record<string, string>>
  readonly uniqueIndexes?: Readonly<Record<string, string>>
}

/** In an order in which they can be created: a table comes behind those that it references. */
const DEFINITIONS = {
  pay_reconcile_registrations: {
    columns: {
      name: 'text primary key',
      accounts: 'text not null',
      customer: 'text not null'
    },
    constraints: ['unique (accounts, customer)']
  },
  pay_reconcile_audit: {
    columns: {
      id: 'uuid primary key default gen_random_uuid()',
      registration: 'text not null',
      at: 'timestamptz not null default now()',
      actor: 'text not null',
      action: "text not null check (action in ('link', 'create', 'sync', 'unlink'))",
      account_id: 'text not null',
      shop_id: 'text not null',
      run_id: 'uuid',
      before: 'jsonb not null',
      after: 'jsonb not null',
      provider_request_id: 'text',
      request_id: 'text'
    },
    indexes: {
      pay_reconcile_audit_account: '(registration, account_id, at)',
      pay_reconcile_audit_at: '(registration, at, id)',
      pay_reconcile_audit_actor: '(registration, actor, at)'
    },
    uniqueIndexes: {
      pay_reconcile_audit_once_per_run: '(run_id, account_id) where run_id is not null'
    }
  },
  pay_reconcile_snapshots: {
    columns: {
      audit_id: 'uuid primary key',
      registration: 'text not null',
      account_id: 'text not null',
      shop_id: 'text not null',
      customer_id: 'text',
      customer: 'jsonb not null',
      replaced_at: 'timestamptz not null default now()'
    },
    indexes: {
      pay_reconcile_snapshots_replaced_at: '(registration, replaced_at)',
      pay_reconcile_snapshots_account: '(registration, account_id)'
    }
  },
  pay_reconcile_runs: {
    columns: {
      id: 'uuid primary key',
      registration: 'text not null',
      mode: "text not null check (mode in ('link', 'sync', 'check', 'unlink', 'changes'))",
      dry_run: 'boolean not null',
      shop_id: 'text',
      selection: "jsonb not null default '{}'",
      targets: 'jsonb',
      scheduled_for: 'timestamptz',
      webhook: 'boolean not null default false',
      actor: 'text not null',
      request_id: 'text',
      cancel_requested: 'boolean not null default false',
      started_at: 'timestamptz not null default now()',
      finished_at: 'timestamptz'
    },
    indexes: {
      pay_reconcile_runs_scheduled_for: '(registration, mode, scheduled_for) where scheduled_for is not null'
    }
  },
  pay_reconcile_awaited: {
    columns: {
      registration: 'text not null',
      shop_id: 'text not null',
      run_id: 'uuid',
      attempts: 'integer not null default 0',
      due: 'timestamptz not null default now()'
    },
    constraints: ['primary key (registration, shop_id)']
  },
  pay_reconcile_deliveries: {
    columns: {
      registration: 'text not null',
      shop_id: 'text not null',
      id: 'text not null',
      at: 'timestamptz not null default now()'
    },
    constraints: ['primary key (registration, shop_id, id)'],
    indexes: {
      pay_reconcile_deliveries_at: '(at)'
    }
  },
  pay_reconcile_schedule: {
    columns: {
      registration: 'text not null',
      mode: 'text not null',
      scheduled_for: 'timestamptz not null'
    },
    constraints: ['primary key (registration, mode)']
  },
  pay_reconcile_run_shops: {
    columns: {
      run_id: 'uuid not null references pay_reconcile_runs on delete cascade',
      registration: 'text not null',
      shop_id: 'text not null',
      status:
        "text not null default 'pending' check (status in ('pending', 'running', 'done', 'stopped', 'cancelled'))",
      reason: 'text',
      missing_permission: 'text',
      total: 'integer not null',
      processed: 'integer not null default 0',
      last_account: 'text',
      paging: 'jsonb',
      outcomes: "jsonb not null default '{}'",
      differences: "jsonb not null default '{}'",
      owner: 'uuid',
      leased_until: 'timestamptz',
      updated_at: 'timestamptz not null default now()'
    },
    constraints: ['primary key (run_id, shop_id)'],
    uniqueIndexes: {
      pay_reconcile_one_run_per_shop: "(registration, shop_id) where status in ('pending', 'running')"
    }
  },
  pay_reconcile_items: {
    columns: {
      id: 'bigint generated always as identity',
      run_id: 'uuid not null references pay_reconcile_runs on delete cascade',
      account_id: 'text not null',
      shop_id: 'text not null',
      outcome: 'text not null',
      item: 'jsonb not null'
    },
    constraints: ['primary key (run_id, account_id)'],
    indexes: {
      pay_reconcile_items_account: '(account_id)',
      pay_reconcile_items_outcome: '(run_id, outcome, account_id)'
    },
    uniqueIndexes: {
      pay_reconcile_items_id: '(id)'
    }
  },
  pay_reconcile_unchanged: {
    columns: {
      run_id: 'uuid not null references pay_reconcile_runs on delete cascade',
      shop_id: 'text not null',
      account_id: 'text not null'
    },
    constraints: ['primary key (run_id, shop_id, account_id)']
  },
  pay_reconcile_changed: {
    columns: {
      registration: 'text not null',
      account_id: 'text not null',
      shop_id: 'text not null',
      version: 'xid8 not null default pg_current_xact_id()'
    },
    constraints: ['primary key (registration, account_id)']
  },
  pay_reconcile_events: {
    columns: {
      registration: 'text not null',
      shop_id: 'text not null',
      event_id: 'text not null',
      created_at: 'timestamptz not null'
    },
    constraints: ['primary key (registration, shop_id, event_id)']
  },
  pay_reconcile_positions: {
    columns: {
      registration: 'text not null',
      shop_id: 'text not null',
      until: 'timestamptz not null',
      complete_at: 'timestamptz not null'
    },
    constraints: ['primary key (registration, shop_id)']
  }
} satisfies Readonly<Record<string, Table>>

export type TableName = keyof typeof DEFINITIONS

export const TABLES: Readonly<Record<TableName, Table>> = DEFINITIONS

export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[]

/** Refuses every change of the audit. */
export const APPEND_ONLY = 'pay_reconcile_append_only'

/**
 * What creates the tables and all that belongs to them, one statement each: the extended protocol accepts only one at a
 * time. By the name of what it makes, for a trigger `table.name`.
 */
export const STATEMENTS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(TABLES).flatMap(([name, table]) => statementsFor(name, table)),
  [
    APPEND_ONLY,
    `create or replace function ${APPEND_ONLY}() returns trigger language plpgsql as
$$ begin raise exception 'pay_reconcile_audit is append-only'; end $$`
  ],
  [
    'pay_reconcile_audit.pay_reconcile_audit_append_only',
    'create or replace trigger pay_reconcile_audit_append_only before update or delete or truncate ' +
    `on pay_reconcile_audit for each statement execute function ${APPEND_ONLY}()`
  ]
])

function statementsFor (
  table: string,
  { columns, constraints = [], indexes = {}, uniqueIndexes = {} }: Table
): ReadonlyArray<readonly [name: string, sql: string]> {
  const lines = [...Object.entries(columns).map((column) => column.join(' ')), ...constraints]
  const index = (kind: string) => ([name, keys]: [string, string]) =>
    [name, `create ${kind} if not exists ${name} on ${table} ${keys}`] as const
  return [
    [table, `create table if not exists ${table} (${lines.join(', ')})`],
    ...Object.entries(indexes).map(index('index')),
    ...Object.entries(uniqueIndexes).map(index('unique index'))
  ]
}
