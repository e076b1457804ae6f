import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { updatedAt } from '../database/updated-at.ts'
import { refuseUnsafeImages } from '../http/image-urls.ts'
import { refuseLargeMetadata, refuseOtherDecimals, refuseUnknownCurrency } from '../http/values.ts'
import { holdShop } from '../access/hold.ts'
import { recordRepository } from '../records/repository.ts'
import type { ShopScope } from '../access/scope.ts'
import { slugFromName } from '../records/slug.ts'
import { INITIAL, initialColumns, isLink, type Link, LINKS } from './product-columns.ts'
import { linkedBy, refuseWrongLinks, uniqueIds } from './product-links.ts'
import { list, Product, type ProductChanges, type ProductInput } from './product-schemas.ts'

type ProductRow = Static<typeof Product>

/** The rows of products themselves, with what they link to as computed fields. */
export function productRows (knex: Knex) {
  return recordRepository(knex, {
    table: 'products',
    noun: 'product',
    ...list,
    record: Product,
    initial: INITIAL,
    computed: {
      category_ids: jsonArray('category_ids'),
      tag_ids: jsonArray('tag_ids'),
      attributes: jsonArray('attributes', "json_build_object('attribute_id', attribute_id, 'value', value)")
    } satisfies Record<Link, string>,
    dependents: [
      {
        table: 'orders',
        link: 'order_lines',
        from: 'order_id',
        to: 'product_id',
        lost: 'link',
        key: ['order_id', 'position']
      },
      { table: 'prices', link: 'prices', from: 'id', to: 'product_id', lost: 'row' }
    ]
  })
}

/** Products and their links: categories, tags and attribute values. */
export function productRepository (knex: Knex) {
  const rows = productRows(knex)

  return {
    ...rows,

    /** @throws {@link SHOP_CONFLICT} | {@link SHOP_INVALID} | {@link SHOP_GONE} */
    async create (shop: ShopScope, input: Static<typeof ProductInput>, on: Knex = knex): Promise<ProductRow> {
      const row = { ...initialColumns(shop), ...columnsOf(input), slug: input.slug ?? slugFromName(input.name) }
      // Most new products have no links: one statement is enough, and commits by itself.
      if (!mentionsLinks(input)) {
        return {
          ...await rows.insert(shop, row, on),
          ...Object.fromEntries(Object.keys(LINKS).map((name) => [name, []]))
        }
      }
      return await on.transaction(async (trx) => {
        await holdShop(trx, shop)
        const links = await requireLinks(trx, shop, input)
        return await rows.insertWith(shop, row, trx, async (id) => await replaceLinks(trx, shop, id, links))
      })
    },

    /** @throws {@link SHOP_NOT_FOUND} | {@link SHOP_CONFLICT} | {@link SHOP_INVALID} | {@link SHOP_GONE} */
    async update (
      shop: ShopScope,
      id: string,
      changes: Static<typeof ProductChanges>,
      on: Knex = knex
    ): Promise<ProductRow> {
      const columns = columnsOf(changes)
      const isAnotherCurrency = 'currency' in columns && !('price_amount' in columns)
      const lockAndCompare = async (trx: Knex.Transaction): Promise<void> => {
        // Locked, since others may change both meanwhile.
        if (isAnotherCurrency) refuseOtherDecimals('price_amount', await rows.update(shop, id, {}, trx), columns)
      }
      if (!mentionsLinks(changes)) {
        if (!isAnotherCurrency) return await rows.update(shop, id, columns, on)
        return await on.transaction(async (trx) => {
          await lockAndCompare(trx)
          return await rows.update(shop, id, columns, trx)
        })
      }
      return await on.transaction(async (trx) => {
        await holdShop(trx, shop)
        // Links are locked before the product, as deletions of them do: so check first whether it exists.
        await rows.get(shop, id, trx)
        const links = await requireLinks(trx, shop, changes)
        await lockAndCompare(trx)
        // Links are part of the product, though not of its row.
        return await rows.updateWith(
          shop,
          id,
          { ...columns, updated_at: updatedAt(trx, changes) },
          trx,
          async () => await replaceLinks(trx, shop, id, links)
        )
      })
    },

    /**
     * Restores a deleted product with its links, prices and places in orders.
     *
     * @param change - the deletion
     * @param input - its links then
     * @throws {@link SHOP_CONFLICT} | {@link SHOP_INVALID} | {@link SHOP_GONE}
     */
    async restore (
      shop: ShopScope,
      id: string,
      change: string,
      trx: Knex.Transaction,
      input: Static<typeof ProductChanges>
    ): Promise<void> {
      await holdShop(trx, shop)
      const links = await requireLinks(trx, shop, input)
      await rows.restore(shop, id, change, trx, async () => await replaceLinks(trx, shop, id, links))
    }
  }
}

function jsonArray (name: Link, element: string = LINKS[name].column): string {
  const { table, column } = LINKS[name]
  return `(select coalesce(json_agg(${element} order by ${column}), '[]') from ${table}
    where ${table}.shop_id = item.shop_id and ${table}.product_id = item.id)`
}

function mentionsLinks (input: object): boolean {
  return Object.keys(LINKS).some((name) => name in input)
}

/** The part of the input that is stored in the product's own row. */
function columnsOf (fields: Static<typeof ProductChanges>): Readonly<Record<string, unknown>> {
  refuseUnknownCurrency(fields)
  refuseLargeMetadata(fields)
  refuseUnsafeImages(fields)
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isLink(name)))
}

/** The new rows of a link table, without the product's id. */
interface Links {
  readonly table: string
  readonly rows: readonly object[]
}

/**
 * Checks and locks everything that `input` links to, until `trx` ends.
 *
 * @returns the new rows of each link table that the input mentions
 * @throws {@link SHOP_INVALID}
 */
async function requireLinks (
  trx: Knex.Transaction,
  shop: ShopScope,
  input: Static<typeof ProductChanges>
): Promise<readonly Links[]> {
  refuseWrongLinks(input, await linkedBy(trx, shop, [input], true))
  const { attributes = [] } = input
  return (Object.keys(LINKS) as Link[]).filter((name) => input[name] !== undefined).map((name) => ({
    table: LINKS[name].table,
    rows: name === 'attributes'
      ? attributes.map(({ attribute_id: id, value }) => ({ attribute_id: id, value: JSON.stringify(value) }))
      : uniqueIds(input[name]!).map((id) => ({ [LINKS[name].column]: id }))
  }))
}

async function replaceLinks (
  trx: Knex.Transaction,
  shop: ShopScope,
  productId: string,
  links: readonly Links[]
): Promise<void> {
  const owner = { shop_id: shop.id, product_id: productId }
  for (const { table, rows } of links) {
    await trx(table).where(owner).delete()
    if (rows.length > 0) await trx(table).insert(rows.map((row) => ({ ...owner, ...row })))
  }
}
