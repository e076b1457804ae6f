import type { Knex } from 'knex'
import { isObject } from '../details.ts'
import type { Account, AccountQuery, AccountSort } from '../types.ts'
import type { HostTables } from './account-table.ts'
import { accountList } from '../lists/accounts.ts'
import { sortKeyOf, whereListed } from '../lists/listed.ts'
import { record, recordsOf, countOf } from './records.ts'

/**
 * An account over accounts `a` and shops `s`, as every query of the store selects it. Ids as text, because a bigint may
 * exceed 2^53.
 */
export const ACCOUNT_COLUMNS: Readonly<Record<keyof Account, string>> = {
  id: 'a.id::text',
  shopId: 'a.shop_id::text',
  shopName: 's.name',
  name: 'a.name',
  hashName: 'a.hash_name',
  details: 'a.details'
}

/** Accounts `a` with their shops `s`. */
export function accountsWithShops (knex: Knex, { accounts, shops }: HostTables): Knex.QueryBuilder {
  return knex(accounts('a')).join(shops, 's.id', 'a.shop_id')
}

/** An account as it was selected, whose `details` may hold anything. */
export function accountFrom (row: Account): Account {
  return isObject(row.details) ? row : { ...row, details: {} }
}

const NULLABLE: ReadonlySet<string> = new Set(['hash_name', 'pay_customer_id', 'pay_synced_at'])

/** In bytes of `details`: memory holds several copies of a page. */
const MAX_PAGE_BYTES = 4_194_304

/**
 * One page and the count of all. A subquery finds the ids of the page first, so that sorting and skipping never carry
 * `details` along. The count is a query of its own, because a window function returns nothing for an empty page. A page
 * ends before it exceeds 4 MiB, but has at least one account.
 */
export async function accountPage (
  knex: Knex,
  tables: HostTables,
  name: string,
  { skip, limit, filter, sort }: AccountQuery
): Promise<{ accounts: readonly Account[], count: number }> {
  const { accounts: from, shops, customerId, syncedAt } = tables
  const listed = accountList({ shops, name, customerId: customerId('a'), syncedAt: syncedAt('a') })
  const order = sort.map(({ field, descending }) =>
    `${sortKeyOf(listed, field)} ${descending ? 'desc' : 'asc'}${NULLABLE.has(field) ? ' nulls last' : ''}`
  ).join(', ')
  const matching = () => knex(from('a')).modify((query) => whereListed(query, listed, filter))
  const ids = matching().select('a.id').orderByRaw(order).offset(skip).limit(limit)
  // Shops in order, so that the database reads account by account, and only as many as the page needs.
  const byShop = sort.find(({ field }: AccountSort) => field === 'shop_name')
  if (byShop) {
    ids.join(
      knex(shops).select('id', 'name').orderBy('name', byShop.descending ? 'desc' : 'asc').as('s'),
      's.id',
      'a.shop_id'
    )
  }

  const bytes = 'coalesce(octet_length(a.details::text), 0)'
  const measured = accountsWithShops(knex, tables).whereIn('a.id', ids)
    .select('a.id', knex.raw(`${bytes} as bytes`), knex.raw(`sum(${bytes}) over (order by ${order}) as bytes_so_far`))
  const fitting = knex(measured.as('m')).select('id').where('bytes_so_far', '<=', MAX_PAGE_BYTES).orWhere(
    'bytes_so_far',
    knex.ref('bytes')
  )
  // First, because an account that is added in between would otherwise read as one that did not fit.
  const count = await countOf(knex, matching())
  const rows = await recordsOf<Account>(
    knex,
    accountsWithShops(knex, tables).whereIn('a.id', fitting).orderByRaw(order).select(knex.raw(record(ACCOUNT_COLUMNS)))
  )
  return { accounts: rows.map(accountFrom), count }
}
