import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { updatedAt } from '../database/updated-at.ts'
import { invalid } from '../errors.ts'
import { refuseUnsafeImages } from '../http/image-urls.ts'
import { refuseLargeMetadata, refuseUnknownCurrency } from '../http/values.ts'
import { holdShop } from '../shops/hold.ts'
import { Price } from '../shops/price-schemas.ts'
import { recordRepository } from '../shops/record-repository.ts'
import type { ShopScope } from '../shops/scope.ts'
import { slugFromName } from '../shops/slug.ts'
import { type AttributeRule, misfit } from './attribute-values.ts'
import { INITIAL, initialColumns, isLink, type Link, LINKS } from './product-columns.ts'
import { list, Product, type ProductChanges, type ProductInput } from './product-schemas.ts'

type ProductRow = Static<typeof Product>
type ValueOf = NonNullable<Static<typeof ProductInput>['attributes']>[number]

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
      { table: 'orders', link: 'order_lines', from: 'order_id', to: 'product_id', lost: 'link', kept: ['order_id', 'position'] },
      { table: 'prices', link: 'prices', from: 'id', to: 'product_id', lost: 'row', kept: Object.keys(Price.properties).filter((name) => !['shop_id', 'product_id', 'updated_at'].includes(name)) }
    ]
  })
}

/** Products and their links: categories, tags and attribute values. */
export function productRepository (knex: Knex) {
  const rows = productRows(knex)

  return {
    list: rows.list,
    get: rows.get,
    ifUnchanged: rows.ifUnchanged,
    hold: rows.hold,
    remove: rows.remove,
    deletion: rows.deletion,

    /** @throws {@link SHOP_CONFLICT} | {@link SHOP_INVALID} | {@link SHOP_GONE} */
    async create (shop: ShopScope, input: Static<typeof ProductInput>): Promise<ProductRow> {
      const row = { ...initialColumns(shop), ...columnsOf(input), slug: input.slug ?? slugFromName(input.name) }
      // Most new products have no links: one statement is enough, and commits by itself.
      if (!mentionsLinks(input)) return { ...await rows.insert(shop, row), ...Object.fromEntries(Object.keys(LINKS).map((name) => [name, []])) }
      return await knex.transaction(async (trx) => {
        await holdShop(trx, shop)
        const links = await requireLinks(trx, shop, input)
        return await rows.insertWith(shop, row, trx, async (id) => await replaceLinks(trx, shop, id, links))
      })
    },

    /** @throws {@link SHOP_NOT_FOUND} | {@link SHOP_CONFLICT} | {@link SHOP_INVALID} | {@link SHOP_GONE} */
    async update (shop: ShopScope, id: string, changes: Static<typeof ProductChanges>, on: Knex = knex): Promise<ProductRow> {
      if (!mentionsLinks(changes)) return await rows.update(shop, id, columnsOf(changes), on)
      return await on.transaction(async (trx) => {
        await holdShop(trx, shop)
        // Links are locked before the product, as deletions of them do: so check first whether it exists.
        await rows.get(shop, id, trx)
        const links = await requireLinks(trx, shop, changes)
        // Links are part of the product, though not of its row.
        const columns = { ...columnsOf(changes), updated_at: updatedAt(trx, changes) }
        return await rows.updateWith(shop, id, columns, trx, async () => await replaceLinks(trx, shop, id, links))
      })
    },

    /**
     * Restores a deleted product with its links, prices and places in orders.
     *
     * @param change - the deletion
     * @param input - its links then
     * @throws {@link SHOP_CONFLICT} | {@link SHOP_INVALID} | {@link SHOP_GONE}
     */
    async restore (shop: ShopScope, id: string, change: string, input: Static<typeof ProductChanges>, trx: Knex.Transaction): Promise<void> {
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
async function requireLinks (trx: Knex.Transaction, shop: ShopScope, input: Static<typeof ProductChanges>): Promise<Links[]> {
  const { category_ids: categoryIds = [], tag_ids: tagIds = [], attributes = [] } = input
  const linked = async (name: 'category_ids' | 'tag_ids', table: string, ids: readonly string[]): Promise<readonly object[]> =>
    Array.from((await requireAll(trx, shop, table, ids, (index) => `${name}/${index}`)).keys(), (id) => ({ [LINKS[name].column]: id }))
  const rowsOf: Readonly<Record<Link, () => Promise<readonly object[]>>> = {
    category_ids: async () => await linked('category_ids', 'categories', categoryIds),
    tag_ids: async () => await linked('tag_ids', 'tags', tagIds),
    attributes: async () => {
      const rules = await requireAll(trx, shop, 'attributes', attributes.map(({ attribute_id: id }) => id), (index) => `attributes/${index}/attribute_id`)
      requireValues(attributes, rules)
      return attributes.map(({ attribute_id: id, value }) => ({ attribute_id: id, value: JSON.stringify(value) }))
    }
  }
  const links: Links[] = []
  for (const name of Object.keys(LINKS) as Link[]) if (input[name] !== undefined) links.push({ table: LINKS[name].table, rows: await rowsOf[name]() })
  return links
}

/**
 * Checks that every id is a row of this shop, and locks these rows until `trx` ends.
 *
 * @returns those rows by id
 * @throws {@link SHOP_INVALID} about the first id that is not
 */
async function requireAll (
  trx: Knex.Transaction, shop: ShopScope, table: string, ids: readonly string[], fieldOf: (index: number) => string
): Promise<Map<string, AttributeRule>> {
  const found = await trx(table).where({ shop_id: shop.id }).whereIn('id', ids).orderBy('id').forShare()
  const byId = new Map(found.map((row) => [row.id, row]))
  const missing = ids.findIndex((id) => !byId.has(id.toLowerCase()))
  if (missing !== -1) throw invalid(fieldOf(missing), `${fieldOf(missing)} names something that is not in this shop`)
  return byId
}

function requireValues (values: readonly ValueOf[], rules: ReadonlyMap<string, AttributeRule>): void {
  const seen = new Set<string>()
  for (const [index, { attribute_id: given, value }] of values.entries()) {
    const id = given.toLowerCase()
    if (seen.has(id)) throw invalid(`attributes/${index}/attribute_id`, `attributes/${index}/attribute_id appears twice`)
    seen.add(id)
    const why = misfit(rules.get(id)!, value)
    if (why !== undefined) throw invalid(`attributes/${index}/value`, `attributes/${index}/value ${why}`)
  }
}

/** Replaces the rows of the mentioned link tables. */
async function replaceLinks (trx: Knex.Transaction, shop: ShopScope, productId: string, links: readonly Links[]): Promise<void> {
  const owner = { shop_id: shop.id, product_id: productId }
  for (const { table, rows } of links) {
    await trx(table).where(owner).delete()
    if (rows.length > 0) await trx(table).insert(rows.map((row) => ({ ...owner, ...row })))
  }
}
