import type { Knex } from 'knex'
import type { Caller } from '../history/caller.ts'
import { recordChange } from '../history/trail.ts'
import { newer } from '../database/updated-at.ts'
import { SHOP_GONE } from '../errors.ts'
import type { ShopScope } from '../shops/scope.ts'
import type { KeyRing } from './key-ring.ts'

/** The state of a shop at its payment provider. */
export interface PayStatus {
  readonly configured: boolean
  /** Whether one of the secrets decrypts the key; false without a key. */
  readonly readable: boolean
  readonly accounts: number
  readonly linked: number
  readonly synced: number
}

/** The result of {@link resealPayKeys}. */
export interface Resealed {
  /** How many keys were re-encrypted with the newest secret. */
  readonly resealed: number
  /** How many were encrypted with it already. */
  readonly current: number
  /** The shops whose key no secret decrypts. */
  readonly unreadable: readonly string[]
}

/** Re-encrypts keys with the newest secret. Keys that are set meanwhile are left alone. */
export async function resealPayKeys (knex: Knex, keys: KeyRing): Promise<Resealed> {
  const result = { resealed: 0, current: 0, unreadable: [] as string[] }
  const shops = await knex('shops').whereNotNull('pay_secret_key').orderBy('id').select<Array<{ id: string, pay_secret_key: string }>>('id', 'pay_secret_key')
  for (const { id, pay_secret_key: sealed } of shops) {
    if (!keys.opens(sealed, id)) result.unreadable.push(id)
    else if (keys.isCurrent(sealed)) result.current++
    else result.resealed += await knex('shops').where({ id, pay_secret_key: sealed }).update({ pay_secret_key: keys.seal(keys.open(sealed, id), id) })
  }
  return result
}

/** The secret keys of shops: encrypted in the database, and decrypted only for calls to the provider. */
export function payKeyRepository (knex: Knex, keys: KeyRing) {
  return {
    async status (shop: ShopScope): Promise<PayStatus> {
      const { sealed, ...counts } = await knex('accounts').where({ shop_id: shop.id }).first(
        knex.raw('(select pay_secret_key from shops where id = ?) as sealed', [shop.id]),
        knex.raw('count(*) as accounts'),
        knex.raw("count(nullif(details->>'pay_customer_id', '')) as linked"),
        knex.raw("count(nullif(details->>'pay_synced_at', '')) as synced"))
      return { configured: sealed !== null, readable: sealed !== null && keys.opens(sealed, shop.id), ...counts }
    },

    /** @throws {@link SHOP_PAY_KEY_UNREADABLE} | {@link SHOP_GONE} */
    async get (shop: ShopScope): Promise<string | null> {
      const row = await knex('shops').where({ id: shop.id }).first('pay_secret_key')
      if (row === undefined) throw new SHOP_GONE()
      return row.pay_secret_key === null ? null : keys.open(row.pay_secret_key, shop.id)
    },

    /** @throws {@link SHOP_GONE} */
    async set (shop: ShopScope, caller: Caller, secretKey: string): Promise<void> {
      await replace(shop, caller, keys.seal(secretKey, shop.id))
    },

    /** @throws {@link SHOP_GONE} */
    async remove (shop: ShopScope, caller: Caller): Promise<void> {
      await replace(shop, caller, null)
    }
  }

  async function replace (shop: ShopScope, caller: Caller, sealed: string | null): Promise<void> {
    await knex.transaction(async (trx) => {
      const row = await trx('shops').where({ id: shop.id }).forNoKeyUpdate().first('pay_secret_key')
      if (row === undefined) throw new SHOP_GONE()
      if (row.pay_secret_key === null && sealed === null) return
      await trx('shops').where({ id: shop.id }).update({ pay_secret_key: sealed, updated_at: newer(trx) })
      await recordChange(trx, caller, {
        shopId: shop.id,
        recordKind: 'pay_key',
        recordId: shop.id,
        before: row.pay_secret_key === null ? null : { configured: true },
        after: sealed === null ? null : { configured: true }
      })
    })
  }
}
