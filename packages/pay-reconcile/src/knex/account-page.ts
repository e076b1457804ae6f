import type { Knex } from 'knex'
import type { Account, AccountFilter, AccountQuery, AccountSort } from '../types.ts'
import { accountFrom, accountRows, customerId, type Tables } from './account-rows.ts'
import { countOf, whereAny } from './sql.ts'

/** What each field sorts by; never a name from the request. */
const sortKeys: Readonly<Record<AccountSort['field'], string>> = {
  id: 'a.id',
  shop_id: 'a.shop_id',
  shop_name: 's.name',
  name: 'a.name',
  hash_name: 'a.hash_name',
  pay_customer_id: customerId,
  pay_synced_at: "nullif(a.details->>'pay_synced_at', '')"
}
const nullable: ReadonlySet<string> = new Set(['hash_name', 'pay_customer_id', 'pay_synced_at'])

/** In bytes of `details`: memory holds several copies of a page. */
const maxPageBytes = 4_194_304

/**
 * One page and the count of all. A subquery finds the ids of the page first, so that sorting and skipping never carry
 * `details` along. The count is a query of its own, because a window function returns nothing for an empty page. A page
 * ends before it exceeds 4 MiB, but has at least one account.
 */
export async function accountPage (
  knex: Knex, tables: Tables, { skip, limit, filter, sort }: AccountQuery
): Promise<{ accounts: readonly Account[], count: number }> {
  const { table, shopTable } = tables
  const matching = () => knex(`${table} as a`).modify(query => where(query, filter, shopTable))
  const ids = matching().select('a.id').orderByRaw(orderBy(sort)).offset(skip).limit(limit)
  // Shops in order, so that the database reads account by account, and only as many as the page needs.
  const byShop = sort.find(({ field }) => field === 'shop_name')
  if (byShop) ids.join(knex(shopTable).select('id', 'name').orderBy('name', byShop.descending ? 'desc' : 'asc').as('s'), 's.id', 'a.shop_id')

  const bytes = 'coalesce(octet_length(a.details::text), 0)'
  const measured = knex(`${table} as a`).join(`${shopTable} as s`, 's.id', 'a.shop_id').whereIn('a.id', ids)
    .select('a.id', knex.raw(`${bytes} as bytes`), knex.raw(`sum(${bytes}) over (order by ${orderBy(sort)}) as bytes_so_far`))
  const fitting = knex(measured.as('m')).select('id').where('bytes_so_far', '<=', maxPageBytes).orWhere('bytes_so_far', knex.ref('bytes'))
  // First, because an account that is added in between would otherwise read as one that did not fit.
  const count = await countOf(matching())
  const rows = await accountRows(knex, tables).whereIn('a.id', fitting).orderByRaw(orderBy(sort))
  return { accounts: rows.map(accountFrom), count }
}

function where (query: Knex.QueryBuilder, filter: AccountFilter, shopTable: string): void {
  for (const field of ['id', 'shop_id', 'name', 'hash_name', 'pay_customer_id', 'pay_synced_at'] as const) {
    const values = filter[field]
    if (values) whereAny(query, sortKeys[field], values)
  }
  if (filter.shop_name) query.whereIn('a.shop_id', query.client.queryBuilder().from(shopTable).whereIn('name', filter.shop_name).select('id'))
  if (filter.details) query.whereRaw("coalesce(a.details::jsonb, '{}') @> ?::jsonb", [JSON.stringify(filter.details)])
  if (filter.missing_pay !== undefined) query.whereRaw(`${customerId} is ${filter.missing_pay ? 'null' : 'not null'}`)
  if (filter.q) query.whereRaw("a.name ilike ? escape '!'", [`%${filter.q.replace(/[!%_]/g, '!$&')}%`])
}

function orderBy (sort: readonly AccountSort[]): string {
  return sort.map(({ field, descending }) => `${sortKeys[field]} ${descending ? 'desc' : 'asc'}${nullable.has(field) ? ' nulls last' : ''}`).join(', ')
}
