import type { Knex } from 'knex'
import { payStringIn } from 'pay-reconcile/knex'
import type { Caller } from '../access/caller.ts'
import { recordChange } from '../records/trail.ts'
import { newer } from '../database/updated-at.ts'
import { SHOP_GONE } from '../errors.ts'
import { shopsThere } from '../access/shops-there.ts'
import type { ShopScope } from '../access/scope.ts'
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
  /** How many keys and signing secrets were re-encrypted with the newest secret. */
  readonly resealed: number
  /** How many were encrypted with it already. */
  readonly current: number
  /** The shops with a key or a signing secret that no secret decrypts. */
  readonly unreadable: readonly string[]
}

/** The two encrypted values of a shop. A value copied to the other column cannot be decrypted there. */
const SEALED = {
  pay_secret_key: (shopId: string) => shopId,
  pay_webhook_secret: (shopId: string) => `webhook:${shopId}`
} as const

type SealedColumn = keyof typeof SEALED

/** A value as it is stored, and for whom it was encrypted. */
export interface SealedValue {
  readonly shopId: string
  readonly column: SealedColumn
  readonly sealed: string
  readonly sealedFor: string
}

/** All that is stored of all shops. */
export async function sealedValues (knex: Knex): Promise<readonly SealedValue[]> {
  const shops = await knex('shops').orderBy('id').select<Array<{ id: string } & Record<SealedColumn, string | null>>>(
    'id',
    ...Object.keys(SEALED)
  )
  return shops.flatMap(({ id, ...columns }) =>
    (Object.keys(SEALED) as SealedColumn[]).flatMap((column) => {
      const sealed = columns[column]
      return sealed === null ? [] : [{ shopId: id, column, sealed, sealedFor: SEALED[column](id) }]
    })
  )
}

/** Re-encrypts keys and signing secrets with the newest secret. Those that are set meanwhile are left alone. */
export async function resealPayKeys (knex: Knex, keys: KeyRing): Promise<Resealed> {
  const result = { resealed: 0, current: 0 }
  const unreadable = new Set<string>()
  for (const { shopId: id, column, sealed, sealedFor } of await sealedValues(knex)) {
    if (!keys.opens(sealed, sealedFor)) unreadable.add(id)
    else if (keys.isCurrent(sealed)) result.current++
    else {
      result.resealed += await knex('shops').where({ id, [column]: sealed }).update({
        [column]: keys.seal(keys.open(sealed, sealedFor), sealedFor)
      })
    }
  }
  return { ...result, unreadable: [...unreadable] }
}

/** The signing secret as it was set; undefined if no secret decrypts it: then the shop has no webhook. */
export function openWebhookSecret (keys: KeyRing): (sealed: string, shopId: string) => string | undefined {
  return (sealed, shopId) => {
    const sealedFor = SEALED.pay_webhook_secret(shopId)
    return keys.opens(sealed, sealedFor) ? keys.open(sealed, sealedFor) : undefined
  }
}

/** The secret keys of shops: encrypted in the database, and decrypted only for calls to the provider. */
export function payKeyRepository (knex: Knex, keys: KeyRing) {
  return {
    async status (shop: ShopScope): Promise<PayStatus> {
      const { sealed, ...counts } = await knex('accounts').where({ shop_id: shop.id }).first(
        knex.raw('(select pay_secret_key from shops where id = ?) as sealed', [shop.id]),
        knex.raw('count(*) as accounts'),
        knex.raw(`count(${payStringIn('details', 'pay_customer_id')}) as linked`),
        knex.raw(`count(${payStringIn('details', 'pay_synced_at')}) as synced`)
      )
      return { configured: sealed !== null, readable: sealed !== null && keys.opens(sealed, shop.id), ...counts }
    },

    /** @throws {@link SHOP_PAY_KEY_UNREADABLE} | {@link SHOP_GONE} */
    async get (shop: ShopScope): Promise<string | null> {
      const row = await shopsThere(knex).where({ id: shop.id }).first('pay_secret_key')
      if (row === undefined) throw new SHOP_GONE()
      return row.pay_secret_key === null ? null : keys.open(row.pay_secret_key, shop.id)
    },

    /** @throws {@link SHOP_GONE} */
    async set (shop: ShopScope, caller: Caller, secretKey: string): Promise<void> {
      await replace(shop, caller, 'pay_secret_key', secretKey)
    },

    /** @throws {@link SHOP_GONE} */
    async remove (shop: ShopScope, caller: Caller): Promise<void> {
      await replace(shop, caller, 'pay_secret_key', null)
    },

    /** @param secret - null: removes it. @throws {@link SHOP_GONE} */
    async setWebhookSecret (shop: ShopScope, caller: Caller, secret: string | null): Promise<void> {
      await replace(shop, caller, 'pay_webhook_secret', secret)
    }
  }

  async function replace (shop: ShopScope, caller: Caller, column: SealedColumn, value: string | null): Promise<void> {
    const sealed = value === null ? null : keys.seal(value, SEALED[column](shop.id))
    await knex.transaction(async (trx) => {
      const row = await shopsThere(trx).where({ id: shop.id }).forNoKeyUpdate().first<
        Record<SealedColumn, string | null> | undefined
      >(column)
      if (row === undefined) throw new SHOP_GONE()
      if (row[column] === null && sealed === null) return
      await trx('shops').where({ id: shop.id }).update({ [column]: sealed, updated_at: newer(trx) })
      const told = column === 'pay_secret_key' ? { configured: true } : { webhook_secret: true }
      await recordChange(trx, caller, {
        shopId: shop.id,
        recordKind: 'pay_key',
        recordId: shop.id,
        before: row[column] === null ? null : told,
        after: sealed === null ? null : told,
        evenIfEqual: true
      })
    })
  }
}
