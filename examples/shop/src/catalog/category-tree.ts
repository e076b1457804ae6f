import type { Knex } from 'knex'
import { invalid } from '../errors.ts'
import { holdShop } from '../shops/hold.ts'
import type { ShopScope } from '../shops/scope.ts'

/**
 * Keeps the categories of a shop a tree: a category cannot move below itself or one of its descendants. Moves and
 * deletions in a shop take turns until `trx` ends, since two valid moves can close a circle together.
 *
 * @throws {@link SHOP_INVALID} about `parent_id`, {@link SHOP_GONE}
 */
export async function refuseCycle (trx: Knex.Transaction, shop: ShopScope, id: string, parentId: string): Promise<void> {
  await holdShop(trx, shop, { alone: true })
  const { rows } = await trx.raw(`
    with recursive ancestors (id, parent_id) as (
      select id, parent_id from categories where shop_id = :shop and id = :parentId
      union
      select above.id, above.parent_id from categories above
        join ancestors on above.shop_id = :shop and above.id = ancestors.parent_id
    )
    select 1 from ancestors where id = :id`, { shop: shop.id, parentId, id })
  if (rows.length > 0) throw invalid('parent_id', 'parent_id would put the category below itself')
}
