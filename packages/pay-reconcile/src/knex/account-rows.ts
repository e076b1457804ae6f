import type { Knex } from 'knex'
import { isObject } from '../details.ts'
import type { Account } from '../types.ts'
import type { HostTables } from './account-table.ts'

/** An account as every query of the store selects it. */
export interface AccountRow {
  readonly id: string
  readonly shop_id: string
  readonly shop_name: string
  readonly name: string
  readonly hash_name: string | null
  readonly details: unknown
}

/** {@link AccountRow} over accounts `a` and shops `s`. Ids as text, because a bigint may exceed 2^53. */
export const ACCOUNT_COLUMNS: Readonly<Record<keyof AccountRow, string>> = {
  id: 'a.id::text', shop_id: 'a.shop_id::text', shop_name: 's.name', name: 'a.name', hash_name: 'a.hash_name', details: 'a.details'
}

/** Accounts `a` with their shops `s`. */
export function accountsWithShops (knex: Knex, { accounts, shops }: HostTables): Knex.QueryBuilder {
  return knex(accounts('a')).join(shops, 's.id', 'a.shop_id')
}

export function accountFrom (row: AccountRow): Account {
  return {
    id: row.id,
    shopId: row.shop_id,
    shopName: row.shop_name,
    name: row.name,
    hashName: row.hash_name,
    details: isObject(row.details) ? row.details : {}
  }
}
