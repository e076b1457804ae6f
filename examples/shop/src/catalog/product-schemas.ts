import { type TSchema, Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { recordSchemas } from '../records/schemas.ts'
import { Uuid } from '../http/schemas.ts'
import { bound, type Filter, having, holding, listOf, search } from '../lists/filters.ts'
import { listQuerySchema } from '../lists/list.ts'
import { catalogList } from './list.ts'
import { AttributeValue, productFields } from './product-fields.ts'

/** The name of the filter says which bound it is. */
const PriceBound = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const { Input: ProductInput, Changes: ProductChanges, Record: Product } = recordSchemas(productFields, {
  required: ['name'],
  otherwise: { slug: 'Derived from the name', status: 'draft', currency: 'The currency of the shop' }
})

/** How many products a batch may have: as many as fit into a body, in the usual length. */
export const MAX_BATCH = 500

export const ProductBatch = Type.Object({
  items: Type.Array(
    Type.Object({
      id: Type.Optional(Uuid('The product to change; a product without one is created')),
      ...ProductChanges.properties
    }, { additionalProperties: false }),
    { minItems: 1, maxItems: MAX_BATCH }
  )
}, { additionalProperties: false })

const Count = (description: string) => Type.Integer({ description })

export const ProductBatchResult = Type.Object({
  created: Count('How many products were created'),
  updated: Count('How many were changed'),
  unchanged: Count('How many were as the items say already'),
  items: Type.Array(
    Type.Object({
      id: Uuid(),
      action: Type.Unsafe<'created' | 'updated' | 'unchanged'>({
        type: 'string',
        enum: ['created', 'updated', 'unchanged']
      })
    }),
    { description: 'In the order of the request' }
  )
})

export const list = catalogList(Product, {
  sort: 'name',
  filters: {
    q: search(['name', 'sku', 'description']),
    category_ids: linkedTo('category'),
    tag_ids: linkedTo('tag'),
    attributes: having('products', ['product_attributes', 'product_id'], AttributeValue, (field) => field === 'value'),
    image_urls: holding('image_urls', Type.String(), 'jsonb'),
    price_amount_gte: bound('price_amount', '>=', PriceBound),
    price_amount_lte: bound('price_amount', '<=', PriceBound)
  }
})

/** Matches products that are linked to any of the given categories or tags. */
function linkedTo (noun: 'category' | 'tag'): Filter {
  const table = noun === 'category' ? 'product_categories' : 'product_tags'
  return {
    schema: listOf(Uuid()),
    apply: (query, ids: readonly string[]) => {
      query.whereExists((links: Knex.QueryBuilder) =>
        links.from(table)
          .whereRaw('??.shop_id = products.shop_id and ??.product_id = products.id', [table, table])
          .whereIn(`${noun}_id`, ids)
      )
    },
    // A product has at most one link to each.
    count: (query, shopId, ids: readonly string[]) => {
      query.from(table).where({ shop_id: shopId }).whereIn(`${noun}_id`, ids)
      if (ids.length === 1) query.count({ matching_count: '*' })
      else query.countDistinct({ matching_count: 'product_id' })
    }
  }
}

/** Defined after the list, whose filters it has. */
const { filter } =
  (listQuerySchema(list) as unknown as { readonly properties: { readonly filter: TSchema } }).properties

export const ExportQuery = Type.Object({
  format: Type.Optional(
    Type.Unsafe<'csv' | 'jsonl'>({ type: 'string', enum: ['csv', 'jsonl'], description: 'In place of Accept' })
  ),
  filter: Type.Optional(Type.Unsafe<Readonly<Record<string, unknown>>>(filter))
}, { additionalProperties: false })

export const ProductFile = {
  description: 'The file',
  content: { 'text/csv': { schema: Type.String() }, 'application/x-ndjson': { schema: Type.String() } }
}
