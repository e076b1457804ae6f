import type { Static } from '@sinclair/typebox'
import { ownFields } from '../records/schemas.ts'
import { Product } from './product-schemas.ts'

type Row = Static<typeof Product>

/**
 * The fields of a product that are rows of tables of their own, each with the column that says what the product is
 * linked to.
 */
export const LINKS = {
  category_ids: { table: 'product_categories', column: 'category_id' },
  tag_ids: { table: 'product_tags', column: 'tag_id' },
  attributes: { table: 'product_attributes', column: 'attribute_id' }
} as const satisfies Partial<Record<keyof Row, { readonly table: string, readonly column: string }>>

export type Link = keyof typeof LINKS

type Column = Exclude<keyof Row, Link | 'id' | 'shop_id' | 'created_at' | 'updated_at'>

/** The fields that are columns of the product's own row. */
export const COLUMNS = ownFields(Product).map(([name]) => name).filter((name) => !isLink(name)) as readonly Column[]

/** Columns that have a value in every product. */
type Filled = { [Name in Column]: null extends Row[Name] ? never : Name }[Column]

/**
 * What they are in a new product that says nothing of them. Others are derived: the slug from the name, the currency
 * from the shop.
 */
export const INITIAL: { readonly [Name in Exclude<Filled, 'name' | 'slug' | 'currency'>]: Row[Name] } = {
  status: 'draft',
  image_urls: [],
  metadata: {}
}

/** @returns the columns of a new product of which nothing is known but its shop */
export function initialColumns (
  { currency }: Pick<Row, 'currency'>
): { readonly [Name in Exclude<Column, 'name' | 'slug'>]: Row[Name] } {
  return {
    ...Object.fromEntries(COLUMNS.filter((name) => name !== 'name' && name !== 'slug').map((name) => [name, null])),
    ...INITIAL,
    currency
  } as ReturnType<typeof initialColumns>
}

export function isLink (name: string): name is Link {
  return Object.hasOwn(LINKS, name)
}
