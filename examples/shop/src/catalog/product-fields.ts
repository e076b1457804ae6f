import { Type } from '@sinclair/typebox'
import { ImageUrls } from '../http/image-urls.ts'
import { Currency, Description, Metadata, Name, Nullable, Slug, Uuid } from '../http/schemas.ts'

const Sku = Type.String({ maxLength: 100, pattern: '\\S', description: 'Stock keeping unit; unique in the shop' })
const Status = Type.Unsafe<'draft' | 'active' | 'archived'>({
  type: 'string',
  enum: ['draft', 'active', 'archived'],
  description: 'Only active products are on sale'
})
const PriceAmount = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Price in minor units of the currency: 1999 is 19.99 EUR'
})
const Ids = Type.Array(Uuid(), { maxItems: 100, uniqueItems: true })
export const AttributeValue = Type.Object({
  attribute_id: Uuid(),
  value: Type.Unsafe<string | number | boolean>({
    type: ['string', 'number', 'boolean'],
    maxLength: 2000,
    description: 'Of the type of the attribute; for select, one of its options'
  })
}, { additionalProperties: false })
const AttributeValues = Type.Array(AttributeValue, { maxItems: 100, description: 'One value per attribute' })

/**
 * What users write of a product. All that is known of it comes from here: a field that is added is in every list of
 * them, or something does not compile. CONTRIBUTING.md says what else a field needs.
 */
export const productFields = {
  name: Name,
  slug: Slug,
  description: Description,
  sku: Nullable(Sku),
  status: Status,
  price_amount: Nullable(PriceAmount),
  currency: Currency,
  category_ids: Ids,
  tag_ids: Ids,
  attributes: AttributeValues,
  image_urls: ImageUrls,
  metadata: Metadata
}
