import { Type } from '@sinclair/typebox'
import { recordSchemas } from '../records/schemas.ts'
import { Name, Nullable } from '../http/schemas.ts'
import { holding, search } from '../lists/filters.ts'
import { catalogList } from './list.ts'
import { ATTRIBUTE_TYPES } from './attribute-values.ts'

const Code = Type.String({
  maxLength: 200,
  pattern: '^[a-z0-9]+(_[a-z0-9]+)*$',
  description: 'Unique in the shop'
})
const AttributeType = Type.Unsafe<typeof ATTRIBUTE_TYPES[number]>({
  type: 'string',
  enum: ATTRIBUTE_TYPES,
  description: 'Of its values'
})
const Unit = Nullable(Type.String({ minLength: 1, maxLength: 20, description: 'Such as cm, g or L' }))
const Options = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
  maxItems: 500,
  uniqueItems: true,
  description: 'For type select only'
})

export const { Input: AttributeInput, Changes: AttributeChanges, Record: Attribute } = recordSchemas({
  name: Name,
  code: Code,
  type: AttributeType,
  unit: Unit,
  options: Options
}, { required: ['name', 'type'], otherwise: { code: 'Derived from the name' } })

export const list = catalogList(Attribute, {
  sort: 'name',
  filters: { q: search(['name', 'code']), options: holding('options', Options.items, 'jsonb') }
})
