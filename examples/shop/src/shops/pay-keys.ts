import type { Knex } from 'knex'
import { SHOP_GONE } from '../errors.ts'
import { newer, updatedAt } from '../repository.ts'
import type { KeyRing } from './key-ring.ts'
import type { ShopScope } from './scope.ts'

/** How a shop stands with its payment provider. */
export interface PayStatus {
  readonly configured: boolean
  readonly accounts: number
  readonly linked: number
  readonly synced: number
}

/** What {@link resealPayKeys} found. */
export interface Resealed {
  /** How many keys are now encrypted under the newest secret and were not before. */
  readonly resealed: number
  /** How many were already. */
  readonly current: number
  /** The shops whose key no secret opens. */
  readonly unreadable: readonly string[]
}

/** Encrypts anew, under the newest secret, what older ones encrypted. A key that is set meanwhile stays as it was set. */
export async function resealPayKeys (knex: Knex, keys: KeyRing): Promise<Resealed> {
  const result = { resealed: 0, current: 0, unreadable: [] as string[] }
  const shops = await knex('shops').whereNotNull('pay_secret_key').orderBy('id').select<Array<{ id: string, pay_secret_key: string }>>('id', 'pay_secret_key')
  for (const { id, pay_secret_key: sealed } of shops) {
    let secretKey: string
    try {
      secretKey = keys.open(sealed, id)
    } catch {
      result.unreadable.push(id)
      continue
    }
    if (keys.isCurrent(sealed)) result.current++
    else result.resealed += await knex('shops').where({ id, pay_secret_key: sealed }).update({ pay_secret_key: keys.seal(secretKey, id) })
  }
  return result
}

/** The secret keys of shops: encrypted in the database, in the clear only on their way to the provider. */
export function payKeyRepository (knex: Knex, keys: KeyRing) {
  return {
    async status (shop: ShopScope): Promise<PayStatus> {
      return await knex('accounts').where({ shop_id: shop.id }).first(
        knex.raw('exists (select from shops where id = ? and pay_secret_key is not null) as configured', [shop.id]),
        knex.raw('count(*) as accounts'),
        knex.raw("count(nullif(details->>'pay_customer_id', '')) as linked"),
        knex.raw("count(nullif(details->>'pay_synced_at', '')) as synced"))
    },

    /** @throws {@link SHOP_PAY_KEY_UNREADABLE} | {@link SHOP_GONE} */
    async get (shop: ShopScope): Promise<string | null> {
      const row = await knex('shops').where({ id: shop.id }).first('pay_secret_key')
      if (row === undefined) throw new SHOP_GONE()
      return row.pay_secret_key === null ? null : keys.open(row.pay_secret_key, shop.id)
    },

    /** @throws {@link SHOP_GONE} */
    async set (shop: ShopScope, secretKey: string): Promise<void> {
      const change = { pay_secret_key: keys.seal(secretKey, shop.id) }
      const count = await knex('shops').where({ id: shop.id }).update({ ...change, updated_at: updatedAt(knex, change) })
      if (count === 0) throw new SHOP_GONE()
    },

    /** @throws {@link SHOP_GONE} */
    async remove (shop: ShopScope): Promise<void> {
      const since = knex.raw('case when pay_secret_key is null then updated_at else ? end', [newer(knex)])
      const count = await knex('shops').where({ id: shop.id }).update({ pay_secret_key: null, updated_at: since })
      if (count === 0) throw new SHOP_GONE()
    }
  }
}
