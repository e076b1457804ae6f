import type { Knex } from 'knex'
import { SHOP_GONE } from '../errors.ts'
import type { ShopScope } from './scope.ts'

/**
 * Waits for a deletion of the shop that is under way, for work that has less time than a large shop's deletion takes.
 *
 * @throws {@link SHOP_GONE}
 */
export async function awaitDeletion (knex: Knex, id: string): Promise<void> {
  if (await knex('shops').where({ id }).forKeyShare().first('id') === undefined) throw new SHOP_GONE()
}

/**
 * Keeps the shop from being deleted until `trx` ends. Whoever takes several rows of a shop takes that of the shop first,
 * as its deletion does: two that take the same rows in different orders wait for each other.
 *
 * @param alone - one after another with all who ask for this; those who do not are in nobody's way
 * @throws {@link SHOP_GONE}
 */
export async function holdShop (trx: Knex.Transaction, shop: ShopScope, { alone = false } = {}): Promise<void> {
  const row = trx('shops').where({ id: shop.id }).first('id')
  if (await (alone ? row.forNoKeyUpdate() : row.forKeyShare()) === undefined) throw new SHOP_GONE()
}
