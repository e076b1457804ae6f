import type { Counters, Drift, Mode, Outcome, Part, Run } from '../reconcile/types.ts'

export interface RunRow {
  readonly id: string
  readonly mode: Mode
  readonly dry_run: boolean
  readonly shop_id: string | null
  readonly actor: string
  readonly request_id: string | null
  readonly cancel_requested: boolean
  /** A text where the host has set its driver so. */
  readonly started_at: Date | string
  readonly finished_at: Date | string | null
  readonly total: number
  readonly processed: number
  readonly shops: number
  readonly finished: number
  readonly cancelled: number
  readonly stopped: ReadonlyArray<{ readonly shop_id: string, readonly reason: string }>
  readonly outcomes: Counters<Outcome>
  readonly drift: Counters<Drift>
}

export interface PartRow {
  readonly run_id: string
  readonly shop_id: string
  readonly processed: number
  readonly last_account: string | null
  readonly outcomes: Counters<Outcome>
  readonly drift: Counters<Drift>
}

/** The sum of a counter over the shops of the run `r`, by its keys. */
const countersOf = (column: string): string => `coalesce((select jsonb_object_agg(k.key, k.n) from (
  select e.key, sum(e.value::int) as n from pay_reconcile_run_shops p, jsonb_each_text(p.${column}) e where p.run_id = r.id group by e.key) k), '{}')`

/** SQL over the run `r`. */
export const outcomesOfRun = countersOf('outcomes')
export const driftOfRun = countersOf('drift')
export const stoppedShopsOfRun = `coalesce((select jsonb_agg(jsonb_build_object('shop_id', s.shop_id, 'reason', s.reason)) from (
  select shop_id, reason from pay_reconcile_run_shops where run_id = r.id and status = 'stopped' order by shop_id limit 100) s), '[]')`

/** The sums over the shops of the runs that a clause picks, so that those of other runs are never added up. */
export const runsStatement = (clause: string): string => `
  select r.*, coalesce(p.total, 0)::int as total, coalesce(p.processed, 0)::int as processed,
    coalesce(p.shops, 0)::int as shops, coalesce(p.finished, 0)::int as finished, coalesce(p.cancelled, 0)::int as cancelled,
    ${stoppedShopsOfRun} as stopped, ${outcomesOfRun} as outcomes, ${driftOfRun} as drift
  from (select r.* from pay_reconcile_runs r ${clause}) r
  left join lateral (
    select sum(total) as total, sum(processed) as processed, count(*) as shops,
      count(*) filter (where status not in ('pending', 'running')) as finished, count(*) filter (where status = 'cancelled') as cancelled
    from pay_reconcile_run_shops where run_id = r.id
  ) p on true`

export function runFrom (row: RunRow): Run {
  return {
    id: row.id,
    mode: row.mode,
    dryRun: row.dry_run,
    shopId: row.shop_id,
    actor: row.actor,
    requestId: row.request_id,
    status: statusOf(row),
    cancelRequested: row.cancel_requested,
    startedAt: new Date(row.started_at).toISOString(),
    finishedAt: row.finished_at === null ? null : new Date(row.finished_at).toISOString(),
    total: row.total,
    processed: row.processed,
    outcomes: row.outcomes,
    drift: row.drift,
    shops: {
      total: row.shops,
      finished: row.finished,
      stopped: row.stopped.map(({ shop_id: shopId, reason }) => ({ shopId, reason }))
    }
  }
}

function statusOf (row: RunRow): Run['status'] {
  if (row.finished_at === null) return 'running'
  return row.cancelled > 0 ? 'cancelled' : 'done'
}

export function partFrom (row: PartRow): Part {
  return {
    runId: row.run_id,
    shopId: row.shop_id,
    processed: row.processed,
    lastAccount: row.last_account,
    outcomes: row.outcomes,
    drift: row.drift
  }
}
