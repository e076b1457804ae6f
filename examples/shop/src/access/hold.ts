import type { Knex } from 'knex'
import { SHOP_GONE } from '../errors.ts'
import type { ShopScope } from './scope.ts'
import { shopsThere } from './shops-there.ts'

/**
 * Waits until a deletion of the shop that has begun ends, which may wait for calls that write to the shop.
 *
 * @throws {@link SHOP_GONE}
 */
export async function awaitDeletion (knex: Knex, id: string): Promise<void> {
  if (await shopsThere(knex).where({ id }).forKeyShare().first('id') === undefined) throw new SHOP_GONE()
}

/**
 * Prevents the deletion of the shop until `trx` ends. Transactions that lock several rows of a shop lock the shop
 * first, as its deletion does, since two that lock the same rows in different orders deadlock.
 *
 * @param alone - take turns with other callers that set this; callers that do not are not affected
 * @throws {@link SHOP_GONE}
 */
export async function holdShop (trx: Knex.Transaction, shop: ShopScope, { alone = false } = {}): Promise<void> {
  const row = shopsThere(trx).where({ id: shop.id }).first('id')
  if (await (alone ? row.forNoKeyUpdate() : row.forKeyShare()) === undefined) throw new SHOP_GONE()
}
