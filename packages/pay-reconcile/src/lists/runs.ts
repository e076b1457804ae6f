import { MODES, STATUSES, DIFFERENCES, OUTCOMES, type RunFilter, type ItemFilter } from '../reconcile/types.ts'
import type { Listed } from './listed.ts'
import { whereId } from './spellings.ts'

/** An aggregate over the shops of the run `r`. */
const ofShops = (sum: string, condition = 'true'): string =>
  `(select ${sum} from pay_reconcile_run_shops p where p.run_id = r.id and ${condition})`
/** The sum of each counter over the shops of the run `r`. */
const countersOf = (column: string): string =>
  `(select coalesce(jsonb_object_agg(k.key, k.n), '{}') from (
  select e.key, sum(e.value::int) as n from pay_reconcile_run_shops p, jsonb_each_text(p.${column}) e
    where p.run_id = r.id group by e.key) k)`

/** Runs `r`. */
export const runList = {
  id: { rule: { kind: 'uuid' }, sql: 'r.id' },
  mode: { rule: { kind: 'string', words: MODES }, sql: 'r.mode' },
  dry_run: { rule: { kind: 'boolean' }, sql: 'r.dry_run' },
  shop_id: { rule: { kind: 'string', nullable: true }, sql: 'r.shop_id', where: whereId },
  status: {
    rule: { kind: 'string', words: STATUSES },
    sql: `case when r.finished_at is null then 'running' when ${ofShops('bool_or(true)', "p.status = 'cancelled'")} ` +
      "then 'cancelled' else 'done' end"
  },
  cancel_requested: { rule: { kind: 'boolean' }, sql: 'r.cancel_requested' },
  actor: { rule: { kind: 'string' }, sql: 'r.actor' },
  scheduled_for: { rule: { kind: 'instant', nullable: true }, sql: 'r.scheduled_for' },
  started_at: { rule: { kind: 'instant' }, sql: 'r.started_at' },
  finished_at: { rule: { kind: 'instant', nullable: true }, sql: 'r.finished_at' },
  total: { rule: { kind: 'integer' }, sql: ofShops('coalesce(sum(p.total), 0)::int') },
  processed: { rule: { kind: 'integer' }, sql: ofShops('coalesce(sum(p.processed), 0)::int') },
  outcomes: { rule: { kind: 'object' }, sql: countersOf('outcomes') },
  differences: { rule: { kind: 'object' }, sql: countersOf('differences') },
  selection: { rule: { kind: 'object' }, sql: 'r.selection' },
  shops: {
    rule: { kind: 'object' },
    sql: `jsonb_build_object('total', ${ofShops('count(*)')}, 'finished', ${
      ofShops('count(*)', "p.status not in ('pending', 'running')")
    },
      'stopped', (select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
          'shop_id', s.shop_id, 'reason', s.reason, 'missing_permission', s.missing_permission
        ))), '[]') from (
        select shop_id, reason, missing_permission from pay_reconcile_run_shops
        where run_id = r.id and status = 'stopped' order by shop_id limit 100) s))`
  }
} satisfies Listed<RunFilter>

/** Items `i` of runs. */
export const itemList: Listed<ItemFilter> = {
  account_id: { rule: { kind: 'string' }, sql: 'i.account_id', where: whereId },
  shop_id: { rule: { kind: 'string' }, sql: 'i.shop_id', where: whereId },
  outcome: { rule: { kind: 'string', words: OUTCOMES }, sql: 'i.outcome' },
  // Items with any of these kinds.
  differences: {
    rule: { kind: 'string', words: DIFFERENCES },
    sql: "i.item->'differences'",
    where: (query, wanted) => query.whereRaw("jsonb_exists_any(i.item->'differences', ?::text[])", [[...wanted]])
  }
}
