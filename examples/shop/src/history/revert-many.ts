import type { Knex } from 'knex'
import { productBatch } from '../catalog/product-batch.ts'
import { productRows } from '../catalog/product-repository.ts'
import { Product } from '../catalog/product-schemas.ts'
import type { Facts } from '../records/facts.ts'
import type { ShopScope } from '../access/scope.ts'
import { refuseLaterChanges } from './conflict.ts'
import { earlier, type Listed } from './revertible.ts'

/** What refers to a product and keeps it from being deleted again. */
const REFERENCES = ['order_lines', 'prices']

/**
 * Reverts changes that are alike in a few statements: those that created products, or updated them, each another one.
 * This is what imports and batches leave.
 *
 * @returns the work: it answers false, before it writes anything, if the changes are not alike or something is in the
 *   way of one of them. They are then to be reverted one by one, which also tells what is in the way
 */
export function revertMany (knex: Knex) {
  const rows = productRows(knex)
  const batch = productBatch(knex)

  async function remove (trx: Knex.Transaction, shop: ShopScope, changes: readonly Listed[]): Promise<boolean> {
    const ids = changes.map(({ record_id: id }) => id)
    // From here on, transactions that add a reference wait.
    await rows.lockMany(shop, ids, trx, { alone: true })
    if (!areAsLeft(await rows.factsOfMany(shop, ids, trx), changes)) return false
    for (const table of REFERENCES) {
      if (
        await trx(table).where({ shop_id: shop.id }).whereRaw('product_id = any(?::uuid[])', [ids]).first(
          'product_id'
        ) !== undefined
      ) return false
    }
    await rows.removeMany(shop, new Map(changes.map(({ id, record_id: product }) => [product, id])), trx)
    return true
  }

  async function update (trx: Knex.Transaction, shop: ShopScope, changes: readonly Listed[]): Promise<boolean> {
    const items = changes.map((change) => ({ ...earlier(change), id: change.record_id }))
    return await batch.revert(shop, items, trx, changes.map(({ id }) => id), (facts) => areAsLeft(facts, changes))
  }

  return async (trx: Knex.Transaction, shop: ShopScope, changes: readonly Listed[]): Promise<boolean> => {
    const [{ action }] = changes as [Listed]
    const areAlike = changes.every((change) =>
      change.record_kind === 'product' && change.action === action && !change.was_reverted
    )
    if (!areAlike || new Set(changes.map(({ record_id: id }) => id)).size < changes.length) return false
    if (action === 'create') return await remove(trx, shop, changes)
    // A batch writes the fields that this version knows.
    return action === 'update' &&
      changes.every((change) => Object.keys(change.changes).every((name) => name in Product.properties)) &&
      await update(trx, shop, changes)
  }
}

/** Whether all products are as the changes left them, in what these set. */
function areAsLeft (facts: ReadonlyMap<string, Facts>, changes: readonly Listed[]): boolean {
  try {
    for (const { action, record_id: id, changes: fields } of changes) {
      const now = facts.get(id)
      if (now === undefined) return false
      refuseLaterChanges(now, fields, Object.keys(action === 'create' ? now : fields))
    }
    return true
  } catch {
    return false
  }
}
