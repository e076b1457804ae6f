import type { Knex } from 'knex'
import type { Account, AccountFilter, AccountQuery, AccountSort } from '../types.ts'
import { accountFrom, type AccountRow } from './accounts.ts'

const customerId = "nullif(a.details->>'pay_customer_id', '')"

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

/** In bytes of `details`: a page is held in memory several times over. */
const maxPageBytes = 4_194_304

/**
 * One page and the count of all. The ids of the page are found first, so that sorting and skipping never
 * carry `details` along; the count is its own query, because a window function has no row to say it in
 * when the page is empty. A page ends before it is larger than 4 MiB, but has one account at least.
 */
export async function accountPage (
  knex: Knex, { table, shopTable }: { table: string, shopTable: string }, { skip, limit, filter, sort }: AccountQuery
): Promise<{ accounts: readonly Account[], count: number }> {
  const matching = () => knex(`${table} as a`).modify(query => where(query, filter, shopTable))
  const withShop = (query: Knex.QueryBuilder) => query.join(`${shopTable} as s`, 's.id', 'a.shop_id')
  // Shops in their order, so that accounts are read shop by shop and only as far as the page needs.
  const byShop = (query: Knex.QueryBuilder, descending: boolean) =>
    query.join(knex(shopTable).select('id', 'name').orderBy('name', descending ? 'desc' : 'asc').as('s'), 's.id', 'a.shop_id')

  const ids = matching().select('a.id').modify(query => order(query, sort)).offset(skip).limit(limit)
    .modify(query => { for (const { field, descending } of sort) if (field === 'shop_name') byShop(query, descending) })
  const bytes = 'coalesce(octet_length(a.details::text), 0)'
  const measured = withShop(knex(`${table} as a`)).whereIn('a.id', ids)
    .select('a.id', knex.raw(`${bytes} as bytes`), knex.raw(`sum(${bytes}) over (order by ${orderBy(sort)}) as bytes_so_far`))
  const fitting = knex(measured.as('m')).select('id').where('bytes_so_far', '<=', maxPageBytes).orWhere('bytes_so_far', knex.ref('bytes'))
  const page = withShop(knex(`${table} as a`)).whereIn('a.id', fitting).modify(query => order(query, sort))
    .select('a.id', 'a.shop_id', { shop_name: 's.name' }, 'a.name', 'a.hash_name', 'a.details') as Promise<AccountRow[]>
  const count = matching().select<Array<{ count: number }>>(knex.raw('count(*)::int as count'))

  const [rows, [counted]] = await Promise.all([page, count])
  return { accounts: rows.map(accountFrom), count: counted?.count ?? 0 }
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

/** @param key - SQL, never from the request */
export function whereAny (query: Knex.QueryBuilder, key: string, values: ReadonlyArray<string | number | boolean | null>): void {
  const present = values.filter(value => value !== null)
  query.where(any => {
    any.whereIn(query.client.raw(key), present)
    if (present.length < values.length) any.orWhereRaw(`${key} is null`)
  })
}

function order (query: Knex.QueryBuilder, sort: readonly AccountSort[]): void {
  query.orderByRaw(orderBy(sort))
}

function orderBy (sort: readonly AccountSort[]): string {
  return sort.map(({ field, descending }) => `${sortKeys[field]} ${descending ? 'desc' : 'asc'}${nullable.has(field) ? ' nulls last' : ''}`).join(', ')
}
