import type { Knex } from 'knex'
import type { Part, Run, RunField, RunFilter, RunQuery } from '../reconcile/types.ts'
import { whereAny } from './sql.ts'

/** An aggregate over the shops of the run `r`. */
const ofShops = (sum: string, condition = 'true'): string => `(select ${sum} from pay_reconcile_run_shops p where p.run_id = r.id and ${condition})`
/** The sum of each counter over the shops of the run `r`. */
const countersOf = (column: string): string => `(select coalesce(jsonb_object_agg(k.key, k.n), '{}') from (
  select e.key, sum(e.value::int) as n from pay_reconcile_run_shops p, jsonb_each_text(p.${column}) e where p.run_id = r.id group by e.key) k)`

/** What each field is, in SQL over the run `r`; never a name from the request. */
const fields: Readonly<Record<RunField, string>> = {
  id: 'r.id',
  mode: 'r.mode',
  dry_run: 'r.dry_run',
  shop_id: 'r.shop_id',
  status: `case when r.finished_at is null then 'running' when ${ofShops('bool_or(true)', "p.status = 'cancelled'")} then 'cancelled' else 'done' end`,
  cancel_requested: 'r.cancel_requested',
  actor: 'r.actor',
  slot: 'r.slot',
  started_at: 'r.started_at',
  finished_at: 'r.finished_at',
  total: ofShops('coalesce(sum(p.total), 0)::int'),
  processed: ofShops('coalesce(sum(p.processed), 0)::int')
}

const objects = {
  selection: 'r.selection',
  outcomes: countersOf('outcomes'),
  drift: countersOf('drift'),
  shops: `jsonb_build_object('total', ${ofShops('count(*)')}, 'finished', ${ofShops('count(*)', "p.status not in ('pending', 'running')")},
    'stopped', (select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('shop_id', s.shop_id, 'reason', s.reason, 'missing_permission', s.missing_permission))), '[]') from (
      select shop_id, reason, missing_permission from pay_reconcile_run_shops where run_id = r.id and status = 'stopped' order by shop_id limit 100) s))`
}

const columns = Object.entries({ ...fields, ...objects }).map(([name, sql]) => `${sql} as ${name}`).join(', ')

/** Selects the runs `r` that a clause picks, as rows for {@link runFrom}. */
export function runsStatement (clause: string): string {
  return `select ${columns}, r.request_id, r.webhook from pay_reconcile_runs r ${clause}`
}

export interface RunRow extends Pick<Run, 'id' | 'mode' | 'actor' | 'status' | 'total' | 'processed' | 'outcomes' | 'drift' | 'selection'> {
  readonly dry_run: boolean
  readonly shop_id: string | null
  readonly request_id: string | null
  readonly cancel_requested: boolean
  readonly webhook: boolean
  /** These are strings if the host has configured its driver so. */
  readonly slot: Date | string | null
  readonly started_at: Date | string
  readonly finished_at: Date | string | null
  readonly shops: {
    readonly total: number
    readonly finished: number
    readonly stopped: ReadonlyArray<{ readonly shop_id: string, readonly reason: string, readonly missing_permission?: string }>
  }
}

export function runFrom (row: RunRow): Run {
  return {
    id: row.id,
    mode: row.mode,
    dryRun: row.dry_run,
    shopId: row.shop_id,
    actor: row.actor,
    requestId: row.request_id,
    selection: row.selection,
    slot: row.slot === null ? null : new Date(row.slot).toISOString(),
    webhook: row.webhook,
    status: row.status,
    cancelRequested: row.cancel_requested,
    startedAt: new Date(row.started_at).toISOString(),
    finishedAt: row.finished_at === null ? null : new Date(row.finished_at).toISOString(),
    total: row.total,
    processed: row.processed,
    outcomes: row.outcomes,
    drift: row.drift,
    shops: { ...row.shops, stopped: row.shops.stopped.map(({ shop_id: shopId, reason, missing_permission: missingPermission }) => ({ shopId, reason, ...(missingPermission !== undefined && { missingPermission }) })) }
  }
}

/** Keeps the runs that match all of the filter. */
export function whereRun (query: Knex.QueryBuilder, filter: RunFilter): void {
  for (const [field, sql] of Object.entries(fields)) {
    const values = filter[field as RunField]
    // Responses have milliseconds, the columns microseconds.
    if (values) whereAny(query, field.endsWith('_at') || field === 'slot' ? `date_trunc('milliseconds', ${sql})` : sql, values)
  }
  for (const [field, sql] of Object.entries(objects)) {
    const part = filter[field as keyof typeof objects]
    if (part) query.whereRaw(`${sql} @> ?::jsonb`, [JSON.stringify(part)])
  }
}

/** For `order by`, with the id last so that pages never overlap. */
export function orderOfRuns (sort: RunQuery['sort']): string {
  const { field, descending } = sort ?? { field: 'started_at', descending: true }
  const direction = descending ? 'desc' : 'asc'
  return `${fields[field]} ${direction} nulls last, r.id ${direction}`
}

export interface PartRow extends Pick<Part, 'total' | 'processed' | 'outcomes' | 'drift' | 'paging'> {
  readonly run_id: string
  readonly shop_id: string
  readonly last_account: string | null
}

export function partFrom ({ run_id: runId, shop_id: shopId, processed, last_account: lastAccount, outcomes, drift, paging, total }: PartRow): Part {
  return { runId, shopId, total, processed, lastAccount, outcomes, drift, paging }
}
