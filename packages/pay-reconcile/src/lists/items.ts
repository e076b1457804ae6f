import { DIFFERENCES, OUTCOMES, type ItemFilter } from '../reconcile/types.ts'
import type { Listed } from './listed.ts'

/** Items `i` of runs. */
export const itemList: Listed<ItemFilter> = {
  account_id: { rule: { kind: 'string' }, sql: 'i.account_id' },
  shop_id: { rule: { kind: 'string' }, sql: 'i.shop_id' },
  outcome: { rule: { kind: 'string', words: OUTCOMES }, sql: 'i.outcome' },
  // Items with any of these kinds.
  differences: { rule: { kind: 'string', words: DIFFERENCES }, sql: "i.item->'differences'", where: (query, wanted) => query.whereRaw("jsonb_exists_any(i.item->'differences', ?::text[])", [[...wanted]]) }
}
