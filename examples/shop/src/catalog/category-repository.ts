import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { invalid } from '../errors.ts'
import { holdShop } from '../access/hold.ts'
import { recordRepository } from '../records/repository.ts'
import type { ShopScope } from '../access/scope.ts'
import { slugFromName } from '../records/slug.ts'
import { Category, type CategoryChanges, type CategoryInput, list } from './category-schemas.ts'

type CategoryRow = Static<typeof Category>

/** The tree of categories. */
export function categoryRepository (knex: Knex) {
  const rows = recordRepository(knex, {
    table: 'categories',
    noun: 'category',
    ...list,
    record: Category,
    dependents: [
      { table: 'products', link: 'product_categories', from: 'product_id', to: 'category_id', lost: 'row' },
      { table: 'categories', link: 'categories', from: 'id', to: 'parent_id', lost: 'link', key: ['id'] }
    ]
  })

  return {
    ...rows,

    /** @throws {@link SHOP_CONFLICT} | {@link SHOP_INVALID} */
    async create (shop: ShopScope, input: Static<typeof CategoryInput>, on: Knex = knex): Promise<CategoryRow> {
      return await rows.insert(shop, { ...input, slug: input.slug ?? slugFromName(input.name) }, on)
    },

    /** @throws {@link SHOP_NOT_FOUND} | {@link SHOP_CONFLICT} | {@link SHOP_INVALID} | {@link SHOP_GONE} */
    async update (
      shop: ShopScope,
      id: string,
      changes: Static<typeof CategoryChanges>,
      on: Knex = knex
    ): Promise<CategoryRow> {
      const { parent_id: parent } = changes
      if (parent == null) return await rows.update(shop, id, changes, on)
      return await on.transaction(async (trx) => {
        await refuseCycle(trx, shop, id, parent)
        return await rows.update(shop, id, changes, trx)
      })
    },

    /**
     * Restores a deleted category, with its products and the categories below it.
     *
     * @throws {@link SHOP_CONFLICT} | {@link SHOP_INVALID} | {@link SHOP_GONE}
     */
    async restore (shop: ShopScope, id: string, change: string, trx: Knex.Transaction): Promise<void> {
      const { parent_id: parent } = await rows.restore(shop, id, change, trx)
      // Its parent may have moved below one of its children since.
      if (parent !== null) await refuseCycle(trx, shop, id, parent)
    }
  }
}

/**
 * Keeps the categories of a shop a tree: a category cannot move below itself or one of its descendants. Moves and
 * deletions in a shop take turns until `trx` ends, since two valid moves can close a circle together.
 *
 * @throws {@link SHOP_INVALID} about `parent_id`, {@link SHOP_GONE}
 */
export async function refuseCycle (
  trx: Knex.Transaction,
  shop: ShopScope,
  id: string,
  parentId: string
): Promise<void> {
  await holdShop(trx, shop, { alone: true })
  const { rows } = await trx.raw(
    `
    with recursive ancestors (id, parent_id) as (
      select id, parent_id from categories where shop_id = :shop and id = :parentId
      union
      select above.id, above.parent_id from categories above
        join ancestors on above.shop_id = :shop and above.id = ancestors.parent_id
    )
    select 1 from ancestors where id = :id`,
    { shop: shop.id, parentId, id }
  )
  if (rows.length > 0) throw invalid('parent_id', 'parent_id would put the category below itself')
}
