import { recordSchemas } from '../records/schemas.ts'
import { Name, Slug } from '../http/schemas.ts'
import { search } from '../lists/filters.ts'
import { catalogList } from './list.ts'

export const { Input: TagInput, Changes: TagChanges, Record: Tag } = recordSchemas({
  name: Name,
  slug: Slug
}, { required: ['name'], otherwise: { slug: 'Derived from the name' } })

export const list = catalogList(Tag, { sort: 'name', filters: { q: search(['name', 'slug']) } })
