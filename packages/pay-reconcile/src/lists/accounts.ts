import type { Knex } from 'knex'
import { wordsOf } from '#shared/list-grammar'
import type { AccountFilter } from '../types.ts'
import type { Listed } from './listed.ts'

/** What the list of accounts needs to know of the host's tables. */
export interface AccountColumns {
  /** Shops `s`, for `from`. */
  readonly shops: Knex.Raw | string
  /** SQL of the account's name, in a collation that knows both cases of every letter. */
  readonly name: string
  /** SQL of the customer id of the account. */
  readonly customerId: string
  /** SQL of the time at which its snapshot was stored. */
  readonly syncedAt: string
}

/** Accounts `a`; sorted by `shop_name` joined with their shops `s`. */
export function accountList ({ shops, name, customerId, syncedAt }: AccountColumns): Listed<AccountFilter> {
  return {
    id: { rule: { kind: 'string' }, sql: 'a.id' },
    shop_id: { rule: { kind: 'string' }, sql: 'a.shop_id' },
    shop_name: {
      rule: { kind: 'string' },
      sql: 's.name',
      where: (query, names) =>
        query.whereIn('a.shop_id', query.client.queryBuilder().from(shops).whereIn('name', names).select('id'))
    },
    name: { rule: { kind: 'string' }, sql: 'a.name' },
    hash_name: { rule: { kind: 'string', nullable: true }, sql: 'a.hash_name' },
    details: { rule: { kind: 'object' }, sql: "coalesce(a.details::jsonb, '{}')" },
    pay_customer_id: { rule: { kind: 'string', nullable: true }, sql: customerId },
    pay_synced_at: { rule: { kind: 'string', nullable: true }, sql: syncedAt },
    missing_pay: {
      rule: { kind: 'boolean' },
      where: (query, missing) => query.whereRaw(`${customerId} is ${missing ? '' : 'not '}null`)
    },
    q: {
      rule: { kind: 'string' },
      // Every word is somewhere in the name.
      where: (query, text) => {
        for (const word of wordsOf(text)) {
          query.whereRaw(`${name} ilike ? escape '!'`, [`%${word.replace(/[!%_]/g, '!$&')}%`])
        }
      }
    }
  }
}
