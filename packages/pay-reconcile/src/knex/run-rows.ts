import { runList } from '../lists/runs.ts'
import { sortKeyOf } from '../lists/listed.ts'
import { camelCased } from '../names.ts'
import type { Part, Run, RunQuery } from '../reconcile/types.ts'
import { instantFrom, record } from './records.ts'

const columns = Object.fromEntries(Object.entries(runList).map(([name, { sql }]) => [camelCased(name), sql]))

/** Selects the runs `r` that a clause picks, as rows for {@link runFrom}. */
export function runsStatement (clause: string): string {
  return `select ${
    record({ ...columns, requestId: 'r.request_id', webhook: 'r.webhook' })
  } from pay_reconcile_runs r ` +
    `${clause}`
}

/** A run as it is selected; the stopped shops are named as in responses, which filters compare. */
export interface RunRow extends Omit<Run, 'shops'> {
  readonly shops: Omit<Run['shops'], 'stopped'> & {
    readonly stopped: ReadonlyArray<
      { readonly shop_id: string, readonly reason: string, readonly missing_permission?: string }
    >
  }
}

export function runFrom (row: RunRow): Run {
  return {
    ...row,
    scheduledFor: row.scheduledFor === null ? null : instantFrom(row.scheduledFor),
    startedAt: instantFrom(row.startedAt),
    finishedAt: row.finishedAt === null ? null : instantFrom(row.finishedAt),
    shops: {
      ...row.shops,
      stopped: row.shops.stopped.map(({ shop_id: shopId, reason, missing_permission: missingPermission }) => ({
        shopId,
        reason,
        ...(missingPermission !== undefined && { missingPermission })
      }))
    }
  }
}

/** For `order by`, with the id last so that pages never overlap. */
export function orderOfRuns (sort: RunQuery['sort']): string {
  const { field, descending } = sort ?? { field: 'started_at', descending: true }
  const direction = descending ? 'desc' : 'asc'
  return `${sortKeyOf(runList, field)} ${direction} nulls last, r.id ${direction}`
}

/** A part over the parts `p`. */
export const PART_COLUMNS: Readonly<Record<keyof Part, string>> = {
  runId: 'p.run_id',
  shopId: 'p.shop_id',
  total: 'p.total',
  processed: 'p.processed',
  lastAccount: 'p.last_account',
  outcomes: 'p.outcomes',
  differences: 'p.differences',
  paging: 'p.paging'
}
