import type { AccountFilter, AccountQuery, AccountSort } from '../types.ts'
import { validationError } from '../errors.ts'
import { isString, type ListField, listQueryFrom, type ListRules, type RawQuery, STRING } from './list-grammar.ts'

export const defaultLimit = 100
export const maxLimit = 1000

/** What every list of this package has in common. */
export const commonRules: Omit<ListRules, 'fields' | 'conditions'> = {
  defaultLimit,
  maxLimit,
  refuse: (path, message) => validationError(path.join('/'), `${path.join('.')} ${message}`)
}

const accountFields = {
  id: { kind: 'string' },
  shop_id: { kind: 'string' },
  shop_name: { kind: 'string' },
  name: { kind: 'string' },
  hash_name: { kind: 'string', nullable: true },
  details: { kind: 'object' },
  pay_customer_id: { kind: 'string', nullable: true },
  pay_synced_at: { kind: 'string', nullable: true }
} satisfies Readonly<Record<string, ListField>>

const accountRules: ListRules = {
  ...commonRules,
  fields: accountFields,
  conditions: { missing_pay: { kind: 'boolean' }, q: { kind: 'string' } }
}

/**
 * Reads the parameters of `GET /admin/accounts`: those of every list, `shop_id` and `missing_pay`.
 *
 * @throws {@link PAY_RECONCILE_VALIDATION} for a field that is not listed, a value of the wrong type, a limit
 * over 1000, or conditions that exclude each other: a slip must not read as "all accounts" or "none".
 */
export function accountQueryFrom (query: RawQuery): AccountQuery {
  const { skip, limit, filter: wanted, sort } = listQueryFrom(query, accountRules)
  const filter: AccountFilter = wanted
  const shopId = shopFrom(query.shop_id)
  const missing = wordFrom('missing_pay', query.missing_pay, ['true', 'false'])
  return {
    skip,
    limit,
    filter: {
      ...filter,
      ...(shopId !== undefined && { shop_id: bothOf('shop_id', filter.shop_id, shopId) }),
      ...(missing !== undefined && { missing_pay: bothOf('missing_pay', filter.missing_pay === undefined ? undefined : [filter.missing_pay], missing === 'true')[0] })
    },
    sort: totalOrder(sort ?? { field: 'id', descending: false })
  }
}

/** The id is always last, so that pages never overlap, and in the same direction, so that one index serves both. */
function totalOrder ({ field, descending }: { readonly field: string, readonly descending: boolean }): readonly AccountSort[] {
  const first = { field: field as AccountSort['field'], descending }
  return field === 'id' ? [first] : [first, { field: 'id', descending }]
}

function shopFrom (value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'string' || !isString(value)) throw commonRules.refuse(['shop_id'], `must be ${STRING}`)
  return value
}

/** Reads a parameter that takes certain words. */
export function wordFrom<Word extends string> (name: string, value: unknown, words: readonly Word[]): Word | undefined {
  const word = words.find(known => known === value)
  if (value !== undefined && word === undefined) throw commonRules.refuse([name], `must be one of ${words.join(', ')}`)
  return word
}

/** What a condition of the filter and a parameter of the same name leave together. */
export function bothOf<T> (name: string, inFilter: readonly T[] | undefined, wanted: T): readonly T[] {
  if (inFilter !== undefined && !inFilter.includes(wanted)) throw commonRules.refuse([name], `contradicts filter.${name}`)
  return [wanted]
}
