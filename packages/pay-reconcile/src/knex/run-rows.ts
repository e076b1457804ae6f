import { runList } from '../lists/runs.ts'
import { sortKeyOf } from '../lists/listed.ts'
import type { Part, Run, RunQuery } from '../reconcile/types.ts'
import { instantFrom, record } from './records.ts'

const columns = Object.fromEntries(Object.entries(runList).map(([name, { sql }]) => [name, sql]))

/** Selects the runs `r` that a clause picks, as rows for {@link runFrom}. */
export function runsStatement (clause: string): string {
  return `select ${record({ ...columns, request_id: 'r.request_id', webhook: 'r.webhook' })} from pay_reconcile_runs r ${clause}`
}

export interface RunRow extends Pick<Run, 'id' | 'mode' | 'actor' | 'status' | 'total' | 'processed' | 'outcomes' | 'differences' | 'selection'> {
  readonly dry_run: boolean
  readonly shop_id: string | null
  readonly request_id: string | null
  readonly cancel_requested: boolean
  readonly webhook: boolean
  readonly scheduled_for: string | null
  readonly started_at: string
  readonly finished_at: string | null
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
    scheduledFor: row.scheduled_for === null ? null : instantFrom(row.scheduled_for),
    webhook: row.webhook,
    status: row.status,
    cancelRequested: row.cancel_requested,
    startedAt: instantFrom(row.started_at),
    finishedAt: row.finished_at === null ? null : instantFrom(row.finished_at),
    total: row.total,
    processed: row.processed,
    outcomes: row.outcomes,
    differences: row.differences,
    shops: { ...row.shops, stopped: row.shops.stopped.map(({ shop_id: shopId, reason, missing_permission: missingPermission }) => ({ shopId, reason, ...(missingPermission !== undefined && { missingPermission }) })) }
  }
}

/** For `order by`, with the id last so that pages never overlap. */
export function orderOfRuns (sort: RunQuery['sort']): string {
  const { field, descending } = sort ?? { field: 'started_at', descending: true }
  const direction = descending ? 'desc' : 'asc'
  return `${sortKeyOf(runList, field)} ${direction} nulls last, r.id ${direction}`
}

export interface PartRow extends Pick<Part, 'total' | 'processed' | 'outcomes' | 'differences' | 'paging'> {
  readonly run_id: string
  readonly shop_id: string
  readonly last_account: string | null
}

/** {@link PartRow} over the parts `p`. */
export const PART_COLUMNS: Readonly<Record<keyof PartRow, string>> = {
  run_id: 'p.run_id',
  shop_id: 'p.shop_id',
  total: 'p.total',
  processed: 'p.processed',
  last_account: 'p.last_account',
  outcomes: 'p.outcomes',
  differences: 'p.differences',
  paging: 'p.paging'
}

export function partFrom ({ run_id: runId, shop_id: shopId, processed, last_account: lastAccount, outcomes, differences, paging, total }: PartRow): Part {
  return { runId, shopId, total, processed, lastAccount, outcomes, differences, paging }
}
