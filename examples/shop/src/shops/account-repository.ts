import type { Knex } from 'knex'
import { invalid } from '../errors.ts'
import { list } from './account-schemas.ts'
import { recordRepository } from './record-repository.ts'
import type { ShopScope } from './scope.ts'

type Details = Record<string, unknown>

interface AccountRow {
  readonly id: string
  readonly shop_id: string
  readonly name: string
  readonly hash_name: string | null
  readonly details: Details
  readonly created_at: string
  readonly updated_at: string
}

interface AccountChanges {
  readonly name?: string
  readonly hash_name?: string | null
  readonly details?: Details
}

/** Accounts, with what the shop says of them in `details`; the payment keys in there are not its to write. */
export function accountRepository (knex: Knex) {
  const rows = recordRepository<AccountRow>(knex, {
    table: 'accounts', noun: 'account', ...list, dependents: [{ table: 'orders', link: 'orders', from: 'id', to: 'account_id' }]
  })

  return {
    list: rows.list,
    get: rows.get,
    remove: rows.remove,

    /** @throws {@link SHOP_INVALID} */
    async create (shop: ShopScope, { details = {}, ...columns }: AccountChanges): Promise<AccountRow> {
      return await rows.insert(shop, { ...columns, details: JSON.stringify(splitDetails(details).set) })
    },

    /**
     * Changes `details` where it is, in one statement: whoever writes other keys at the same time loses nothing.
     *
     * @throws {@link SHOP_NOT_FOUND} | {@link SHOP_INVALID}
     */
    async update (shop: ShopScope, id: string, { details, ...columns }: AccountChanges): Promise<AccountRow> {
      if (details === undefined) return await rows.update(shop, id, columns)
      const { set, removed } = splitDetails(details)
      return await rows.update(shop, id, { ...columns, details: knex.raw('(details || ?::jsonb) - ?::text[]', [JSON.stringify(set), removed]) })
    }
  }
}

/** What is to be set, and the keys that are to be removed: those given as null. */
function splitDetails (details: Details): { set: Details, removed: string[] } {
  const key = ['pay_customer_id', 'pay_customer', 'pay_customer_before_deletion', 'pay_synced_at'].find((name) => Object.hasOwn(details, name))
  if (key !== undefined) throw invalid(`details/${key}`, `details/${key} is written by the payment routes only`)
  const entries = Object.entries(details)
  return {
    set: Object.fromEntries(entries.filter(([, value]) => value !== null)),
    removed: entries.filter(([, value]) => value === null).map(([name]) => name)
  }
}
