import { Type } from '@sinclair/typebox'
import { Currency, Defaulted, Name, serverFields, Slug, Uuid } from '../http/schemas.ts'
import { search } from '../lists/filters.ts'
import { listRules } from '../lists/list.ts'

const Status = Type.Unsafe<'active' | 'archived'>({
  type: 'string',
  enum: ['active', 'archived'],
  description: 'An archived shop is closed to its members and API keys, but not to admins and machines'
})
const ShopSlug = Type.String({ ...Slug, description: 'Unique: lower-case letters, digits and single hyphens' })
const ShopCurrency = Type.String({ ...Currency, description: 'ISO 4217; the default for its products and orders' })

export const ShopInput = Type.Object({
  name: Name,
  slug: Defaulted(ShopSlug, 'Derived from the name'),
  currency: ShopCurrency
}, { additionalProperties: false })

export const ShopChanges = Type.Object({
  name: Type.Optional(Name),
  slug: Type.Optional(ShopSlug),
  status: Type.Optional(Status)
}, { additionalProperties: false })

export const Shop = Type.Object({
  id: Uuid('Set by the server'),
  slug: ShopSlug,
  name: Name,
  currency: ShopCurrency,
  status: Status,
  created_at: serverFields.created_at,
  updated_at: serverFields.updated_at
})

export const list = listRules(Shop, { sort: 'name', filters: { q: search(['name', 'slug']) } })
