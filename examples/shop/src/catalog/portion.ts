import type { Knex } from 'knex'
import type { ShopScope } from '../access/scope.ts'
import type { ProductItem } from './product-batch.ts'

/**
 * How much of long works is in memory at a time, and in a statement, in bytes: lines of a file or changes to be taken
 * back, with the products that they are about. Each step has one at least.
 */
export const PORTION = 1_048_576

/** @returns how many of the first items are a portion, with the products that they change */
export async function itemsOfPortion (
  on: Knex,
  shop: Pick<ShopScope, 'id'>,
  items: readonly ProductItem[]
): Promise<number> {
  const ids = items.flatMap(({ id }) => id ?? [])
  const found: ReadonlyArray<{ readonly id: string, readonly bytes: number }> = await on('products').where({
    shop_id: shop.id
  }).whereRaw('id = any(?::uuid[])', [ids]).select('id', 'bytes')
  const sizes = new Map(found.map(({ id, bytes }) => [id, bytes]))
  let size = 0
  const end = items.findIndex((item, index) => {
    size += Buffer.byteLength(JSON.stringify(item)) + (sizes.get(item.id?.toLowerCase() ?? '') ?? 0)
    return index > 0 && size > PORTION
  })
  return end === -1 ? items.length : end
}
