import { Type } from '@sinclair/typebox'
import { recordSchemas } from '../records/schemas.ts'
import { Description, Name, Nullable, Slug, Uuid } from '../http/schemas.ts'
import { anyOf, search } from '../lists/filters.ts'
import { catalogList } from './list.ts'

const Parent = Nullable(Uuid('Parent category; null at the top level'))
const Position = Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Place among its siblings, lowest first' })

export const { Input: CategoryInput, Changes: CategoryChanges, Record: Category } = recordSchemas({
  name: Name,
  slug: Slug,
  description: Description,
  parent_id: Parent,
  position: Position
}, { required: ['name'], otherwise: { slug: 'Derived from the name' } })

export const list = catalogList(Category, {
  sort: 'name',
  filters: {
    q: search(['name', 'slug']),
    parent_id: anyOf('parent_id', Parent, 'Direct children of these; null is the top level')
  }
})
