import type { Knex } from 'knex'
import { isObject } from '../details.ts'
import type { Account } from '../types.ts'
import type { HostTables } from './account-table.ts'

/** An account over accounts `a` and shops `s`, as every query of the store selects it. Ids as text, because a bigint may exceed 2^53. */
export const ACCOUNT_COLUMNS: Readonly<Record<keyof Account, string>> = {
  id: 'a.id::text', shopId: 'a.shop_id::text', shopName: 's.name', name: 'a.name', hashName: 'a.hash_name', details: 'a.details'
}

/** Accounts `a` with their shops `s`. */
export function accountsWithShops (knex: Knex, { accounts, shops }: HostTables): Knex.QueryBuilder {
  return knex(accounts('a')).join(shops, 's.id', 'a.shop_id')
}

/** An account as it was selected, whose `details` may hold anything. */
export function accountFrom (row: Account): Account {
  return isObject(row.details) ? row : { ...row, details: {} }
}
