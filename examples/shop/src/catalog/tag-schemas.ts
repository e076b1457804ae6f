import { Type } from '@sinclair/typebox'
import { Defaulted, Name, ShopRecord, Slug } from '../http/schemas.ts'
import { search } from '../lists/filters.ts'
import { listRules } from '../lists/list.ts'

export const TagInput = Type.Object({
  name: Name,
  slug: Defaulted(Slug, 'Derived from the name')
}, { additionalProperties: false })

export const TagChanges = Type.Partial(Type.Object({ ...TagInput.properties, slug: Slug }), { additionalProperties: false })

export const Tag = ShopRecord({ name: Name, slug: Slug })

export const list = listRules(Tag, { sort: 'name', filters: { q: search(['name', 'slug']) } })
