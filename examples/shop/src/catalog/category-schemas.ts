import { Type } from '@sinclair/typebox'
import { Defaulted, Description, Name, Nullable, ShopRecord, Slug, Uuid } from '../http/schemas.ts'
import { anyOf, search } from '../lists/filters.ts'
import { listRules } from '../lists/list.ts'

const Parent = Nullable(Uuid('Parent category; null at the top level'))
const Position = Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Place among its siblings, lowest first' })

export const CategoryInput = Type.Object({
  name: Name,
  slug: Defaulted(Slug, 'Derived from the name'),
  description: Type.Optional(Description),
  parent_id: Type.Optional(Parent),
  position: Type.Optional(Position)
}, { additionalProperties: false })

export const CategoryChanges = Type.Partial(Type.Object({ ...CategoryInput.properties, slug: Slug }), { additionalProperties: false })

export const Category = ShopRecord({
  name: Name,
  slug: Slug,
  description: Description,
  parent_id: Parent,
  position: Position
})

export const list = listRules(Category, {
  sort: 'name',
  filters: {
    q: search(['name', 'slug']),
    parent_id: anyOf('parent_id', Parent, 'Only direct children of these categories; null matches the top level')
  }
})
