import type { Knex } from 'knex'
import type { RunField, RunFilter, RunQuery } from '../reconcile/types.ts'
import { whereAny } from './account-list.ts'
import { driftOfRun, outcomesOfRun, stoppedShopsOfRun } from './run-rows.ts'

/** Over the shops of the run `r`. */
const ofShops = (sum: string, condition = 'true'): string => `(select ${sum} from pay_reconcile_run_shops p where p.run_id = r.id and ${condition})`

/** What each field is, in SQL over the run `r`; never a name from the request. */
const fields: Readonly<Record<RunField, string>> = {
  id: 'r.id',
  mode: 'r.mode',
  dry_run: 'r.dry_run',
  shop_id: 'r.shop_id',
  status: `case when r.finished_at is null then 'running' when ${ofShops('bool_or(true)', "p.status = 'cancelled'")} then 'cancelled' else 'done' end`,
  cancel_requested: 'r.cancel_requested',
  actor: 'r.actor',
  started_at: 'r.started_at',
  finished_at: 'r.finished_at',
  total: ofShops('coalesce(sum(p.total), 0)'),
  processed: ofShops('coalesce(sum(p.processed), 0)')
}

const objects = {
  outcomes: outcomesOfRun,
  drift: driftOfRun,
  shops: `jsonb_build_object('total', ${ofShops('count(*)')}, 'finished', ${ofShops('count(*)', "p.status not in ('pending', 'running')")}, 'stopped', ${stoppedShopsOfRun})`
}

/** Leaves the runs that match all of the filter. */
export function whereRun (query: Knex.QueryBuilder, filter: RunFilter): void {
  for (const [field, sql] of Object.entries(fields)) {
    const values = filter[field as RunField]
    // Answers have milliseconds, the columns microseconds.
    if (values) whereAny(query, field.endsWith('_at') ? `date_trunc('milliseconds', ${sql})` : sql, values)
  }
  for (const [field, sql] of Object.entries(objects)) {
    const part = filter[field as keyof typeof objects]
    if (part) query.whereRaw(`${sql} @> ?::jsonb`, [JSON.stringify(part)])
  }
}

/** `order by`, with the id last so that pages never overlap. */
export function orderOfRuns (sort: RunQuery['sort']): string {
  const { field, descending } = sort ?? { field: 'started_at', descending: true }
  const direction = descending ? 'desc' : 'asc'
  return `${fields[field]} ${direction} nulls last, r.id ${direction}`
}
