import type { Knex } from 'knex'
import { isObject } from '../details.ts'
import type { Account } from '../types.ts'

/** The tables of accounts and shops. */
export interface Tables {
  readonly table: string
  readonly shopTable: string
}

/** A row as every query of the store selects it. */
export interface AccountRow {
  /** As the driver returns it: a number or a bigint from a column of integers. */
  readonly id: unknown
  readonly shop_id: unknown
  readonly shop_name: string
  readonly name: string
  readonly hash_name: string | null
  readonly details: unknown
}

/** The customer id of the account `a`; null if it is empty. */
export const customerId = "nullif(a.details->>'pay_customer_id', '')"

/** Accounts `a` with their shops `s`. */
export function accountRows (knex: Knex, { table, shopTable }: Tables) {
  return knex(`${table} as a`).join(`${shopTable} as s`, 's.id', 'a.shop_id')
    .select<AccountRow[]>('a.id', 'a.shop_id', { shop_name: 's.name' }, 'a.name', 'a.hash_name', 'a.details')
}

export function accountFrom (row: AccountRow): Account {
  return {
    id: String(row.id),
    shopId: String(row.shop_id),
    shopName: row.shop_name,
    name: row.name,
    hashName: row.hash_name,
    details: isObject(row.details) ? row.details : {}
  }
}
