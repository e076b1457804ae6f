import { listQueryFrom, type ListRules, type RawQuery } from './list-grammar.ts'
import { bothOf, commonRules, wordFrom } from './list-query.ts'
import type { RunFilter, RunQuery } from '../reconcile/types.ts'
import { modes, statuses } from './run-schemas.ts'

const rules: ListRules = {
  ...commonRules,
  fields: {
    id: { kind: 'uuid' },
    mode: { kind: 'string', words: modes },
    dry_run: { kind: 'boolean' },
    shop_id: { kind: 'string', nullable: true },
    status: { kind: 'string', words: statuses },
    cancel_requested: { kind: 'boolean' },
    actor: { kind: 'string' },
    started_at: { kind: 'instant' },
    finished_at: { kind: 'instant', nullable: true },
    total: { kind: 'integer' },
    processed: { kind: 'integer' },
    outcomes: { kind: 'object' },
    drift: { kind: 'object' },
    shops: { kind: 'object' }
  },
  conditions: {}
}

/**
 * Reads the parameters of `GET /admin/accounts/reconcile`: those of every list, and `status`.
 *
 * @throws {@link PAY_RECONCILE_VALIDATION}
 */
export function runQueryFrom (query: RawQuery): RunQuery {
  const { skip, limit, filter: wanted, sort } = listQueryFrom(query, rules)
  const filter: RunFilter = wanted
  const status = wordFrom('status', query.status, statuses)
  return {
    skip,
    limit,
    filter: { ...filter, ...(status !== undefined && { status: bothOf('status', filter.status, status) }) },
    sort: sort as RunQuery['sort']
  }
}
