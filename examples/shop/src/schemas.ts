import { type TSchema, Type } from '@sinclair/typebox'

/** Values that the schemas of the resources share. */

export const Uuid = (description: string) => Type.String({ format: 'uuid', description })

export const Nullable = <T extends TSchema>(schema: T) => Type.Unsafe<T['static'] | null>({ ...schema, type: [schema['type'], 'null'] })

export const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', description: 'What people read' })

export const Description = Nullable(Type.String({ maxLength: 20_000, description: 'Plain text or Markdown' }))

/** ASCII, so that it can stand in a URL as it is. */
export const Slug = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
  description: 'Unique in the shop: lower-case letters, digits and single hyphens. Made from the name when left out'
})

export const ShopParams = Type.Object({ shop_id: Uuid('The shop') })

/** Fields of every record that the server writes. */
export const serverFields = {
  id: Uuid('Made by the server'),
  shop_id: Uuid('The shop that it belongs to'),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' })
}

/** The answer to a deletion. */
export const Deleted = Type.Null({ description: 'Deleted' })
