import { validationError } from '../errors.ts'
import { modes, statuses, type RunFilter, type RunQuery } from '../reconcile/types.ts'
import type { AccountFilter, AccountQuery, AccountSort } from '../types.ts'
import { isString, listQueryFrom, type ListRules, type RawQuery, STRING } from './list-grammar.ts'
import { defaultLimit, maxLimit } from './schemas.ts'

/** Rules of every list of this package. */
export const commonRules: Omit<ListRules, 'fields' | 'conditions'> = {
  defaultLimit,
  maxLimit,
  refuse: (path, message) => validationError(path.join('/'), `${path.join('.')} ${message}`)
}

const accountRules: ListRules = {
  ...commonRules,
  fields: {
    id: { kind: 'string' },
    shop_id: { kind: 'string' },
    shop_name: { kind: 'string' },
    name: { kind: 'string' },
    hash_name: { kind: 'string', nullable: true },
    details: { kind: 'object' },
    pay_customer_id: { kind: 'string', nullable: true },
    pay_synced_at: { kind: 'string', nullable: true }
  },
  conditions: { missing_pay: { kind: 'boolean' }, q: { kind: 'string' } }
}

const runRules: ListRules = {
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
 * Reads the parameters of `GET /admin/accounts`: those of every list, `shop_id` and `missing_pay`.
 *
 * @throws {@link PAY_RECONCILE_VALIDATION} for an unknown field, a value of the wrong type, a limit over 1000, or
 * contradictory conditions: a mistake must not read as "all accounts" or "none".
 */
export function accountQueryFrom (query: RawQuery): AccountQuery {
  const { filter: conditions, sort, ...page } = listQueryFrom(query, accountRules)
  const filter: AccountFilter = conditions
  const shopId = shopFrom(query.shop_id)
  const missing = wordFrom('missing_pay', query.missing_pay, ['true', 'false'])
  return {
    ...page,
    filter: {
      ...filter,
      ...(shopId !== undefined && { shop_id: bothOf('shop_id', filter.shop_id, shopId) }),
      ...(missing !== undefined && { missing_pay: bothOf('missing_pay', filter.missing_pay === undefined ? undefined : [filter.missing_pay], missing === 'true')[0] })
    },
    sort: totalOrder(sort ?? { field: 'id', descending: false })
  }
}

/**
 * Reads the parameters of `GET /admin/accounts/reconcile`: those of every list, and `status`.
 *
 * @throws {@link PAY_RECONCILE_VALIDATION}
 */
export function runQueryFrom (query: RawQuery): RunQuery {
  const { filter: conditions, sort, ...page } = listQueryFrom(query, runRules)
  const filter: RunFilter = conditions
  const status = wordFrom('status', query.status, statuses)
  return {
    ...page,
    filter: { ...filter, ...(status !== undefined && { status: bothOf('status', filter.status, status) }) },
    sort: sort as RunQuery['sort']
  }
}

/** Adds the id, so that pages never overlap. It has the same direction, so that one index serves both. */
function totalOrder ({ field, descending }: { readonly field: string, readonly descending: boolean }): readonly AccountSort[] {
  const first = { field: field as AccountSort['field'], descending }
  return field === 'id' ? [first] : [first, { field: 'id', descending }]
}

function shopFrom (value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'string' || !isString(value)) throw commonRules.refuse(['shop_id'], `must be ${STRING}`)
  return value
}

/** Reads a parameter that is one of certain words. */
export function wordFrom<Word extends string> (name: string, value: unknown, words: readonly Word[]): Word | undefined {
  const word = words.find(known => known === value)
  if (value !== undefined && word === undefined) throw commonRules.refuse([name], `must be one of ${words.join(', ')}`)
  return word
}

/** Combines a condition of the filter with a parameter of the same name. */
function bothOf<T> (name: string, inFilter: readonly T[] | undefined, wanted: T): readonly T[] {
  if (inFilter !== undefined && !inFilter.includes(wanted)) throw commonRules.refuse([name], `contradicts filter.${name}`)
  return [wanted]
}
