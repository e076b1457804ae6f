import { PAY_RECONCILE_VALIDATION } from '../errors.ts'
import { accountList } from '../lists/accounts.ts'
import { auditList } from '../lists/audit.ts'
import { itemList, runList } from '../lists/runs.ts'
import { rulesOf } from '../lists/listed.ts'
import {
  DIFFERENCES,
  OUTCOMES,
  STATUSES,
  type ItemFilter,
  type ItemQuery,
  type RunFilter,
  type RunQuery
} from '../reconcile/types.ts'
import type { AccountFilter, AccountQuery, AccountSort, AccountStore, AuditQuery } from '../types.ts'
import { isCut, isString, listQueryFrom, type ListRules, type RawQuery, STRING } from '#shared/list-grammar'
import { DEFAULT_LIMIT, MAX_LIMIT } from './schemas.ts'

/** Rules of every list of this package. */
export const commonRules: Omit<ListRules, 'fields' | 'conditions'> = {
  defaultLimit: DEFAULT_LIMIT,
  maxLimit: MAX_LIMIT,
  refuse: (path, message) => new PAY_RECONCILE_VALIDATION(path.join('/'), `${path.join('.')} ${message}`)
}

// The rules are the same for every table.
const accountRules = rulesOf(accountList({ shops: '', name: '', customerId: '', syncedAt: '' }), commonRules)
const runRules = rulesOf(runList, commonRules)
const auditRules = rulesOf(auditList(0), commonRules)
const itemRules = rulesOf(itemList, commonRules)

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
      ...(missing !== undefined &&
        {
          missing_pay: bothOf(
            'missing_pay',
            filter.missing_pay === undefined ? undefined : [filter.missing_pay],
            missing === 'true'
          )[0]
        })
    },
    sort: totalOrder(sort ?? { field: 'id', descending: false })
  }
}

/**
 * Refuses a page that ended early because its accounts are large, if the client asked for all of it: by `range`, or by
 * ids without a limit, as react-admin does. It would treat accounts that are not on the page as missing.
 *
 * @param count - how many accounts match
 * @param length - how many accounts are on the page
 * @throws {@link PAY_RECONCILE_VALIDATION}
 */
export function refuseCutPage (query: RawQuery, page: AccountQuery, count: number, length: number): void {
  const byIds = query.limit === undefined && page.filter.id !== undefined ? 'filter' : undefined
  const field = query.range === undefined ? byIds : 'range'
  if (field === undefined || !isCut(page, count, length)) return
  throw new PAY_RECONCILE_VALIDATION(
    field,
    `These accounts are too large for one page: only ${length} fit. Request fewer, or page with skip and limit`
  )
}

/**
 * Reads the parameters of `GET /admin/accounts/reconcile`: those of every list, and `status`.
 *
 * @throws {@link PAY_RECONCILE_VALIDATION}
 */
export function runQueryFrom (query: RawQuery): RunQuery {
  const { filter: conditions, sort, ...page } = listQueryFrom(query, runRules)
  const filter: RunFilter = conditions
  const status = wordFrom('status', query.status, STATUSES)
  return {
    ...page,
    filter: { ...filter, ...(status !== undefined && { status: bothOf('status', filter.status, status) }) },
    sort: sort as RunQuery['sort']
  }
}

/**
 * Reads the parameters of `GET /admin/accounts/reconcile/{id}`: a page, `filter`, `outcome`, `differences`, `shop_id`
 * and `since`.
 *
 * @throws {@link PAY_RECONCILE_VALIDATION}
 */
export function itemQueryFrom (query: RawQuery): ItemQuery {
  const { filter: conditions, skip, limit } = listQueryFrom(query, itemRules)
  const filter: ItemFilter = conditions
  const wanted = {
    outcome: wordFrom('outcome', query.outcome, OUTCOMES),
    differences: wordFrom('differences', query.differences, DIFFERENCES),
    shop_id: shopFrom(query.shop_id)
  }
  const parameters = Object.entries(wanted).filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, bothOf<unknown>(name, filter[name as keyof typeof wanted], value)])
  const { since } = query
  if (since !== undefined && !isUuid(since)) throw commonRules.refuse(['since'], 'must be the id of an earlier run')
  return {
    skip,
    limit,
    filter: { ...filter, ...Object.fromEntries(parameters) },
    ...(since !== undefined && { since })
  }
}

/** Reads the parameters of `GET /admin/accounts/audit`. @throws {@link PAY_RECONCILE_VALIDATION} */
export function auditQueryFrom (query: RawQuery): AuditQuery {
  const { filter, sort, ...page } = listQueryFrom(query, auditRules)
  return { ...page, filter, sort: sort as AuditQuery['sort'] }
}

/** Adds the id, so that pages never overlap. It has the same direction, so that one index serves both. */
function totalOrder (
  { field, descending }: { readonly field: string, readonly descending: boolean }
): readonly AccountSort[] {
  const first = { field: field as AccountSort['field'], descending }
  return field === 'id' ? [first] : [first, { field: 'id', descending }]
}

export function isUuid (value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)
}

/** Reads the parameter `shop_id`. @throws {@link PAY_RECONCILE_VALIDATION} */
export function shopFrom (value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'string' || !isString(value)) throw commonRules.refuse(['shop_id'], `must be ${STRING}`)
  return value
}

/** Reads a parameter that is one of certain words. */
export function wordFrom<Word extends string> (name: string, value: unknown, words: readonly Word[]): Word | undefined {
  const word = words.find((known) => known === value)
  if (value !== undefined && word === undefined) throw commonRules.refuse([name], `must be one of ${words.join(', ')}`)
  return word
}

/** Combines a condition of the filter with a parameter of the same name. */
function bothOf<T> (name: string, inFilter: readonly T[] | undefined, wanted: T): readonly T[] {
  if (inFilter !== undefined && !inFilter.includes(wanted)) {
    throw commonRules.refuse([name], `contradicts filter.${name}`)
  }
  return [wanted]
}

/**
 * Refuses a list that is empty because the only shop that it asks for does not exist: a misspelt id must not read as a
 * shop without records. A shop that was deleted, and still has records, passes, and so does any UUID: nobody mistypes
 * one for another.
 *
 * @throws {@link PAY_RECONCILE_VALIDATION}
 */
export async function refuseUnknownShop (
  accounts: AccountStore,
  query: RawQuery,
  shops: ReadonlyArray<string | number | boolean | null> | undefined,
  count: number
): Promise<void> {
  const [shopId, ...others] = shops ?? []
  if (
    count > 0 || typeof shopId !== 'string' || others.length > 0 || isUuid(shopId) ||
    (await accounts.shops(shopId)).length > 0
  ) return
  const field = query.shop_id === undefined ? 'filter/shop_id' : 'shop_id'
  throw new PAY_RECONCILE_VALIDATION(field, `${field.replace('/', '.')} must be the id of a shop`)
}
