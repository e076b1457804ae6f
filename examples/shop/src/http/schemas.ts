import { type StringOptions, type TProperties, type TSchema, type TString, Type } from '@sinclair/typebox'

/** Schemas that the resources share. */

/** A UUID as PostgreSQL writes it; also JSON Schema's format `uuid`. */
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The description may be left out where the name of the field says it all: agents read every word of a tool. */
export const Uuid = (description?: string) =>
  Type.String({ format: 'uuid', ...(description !== undefined && { description }) })

/** Marks the schemas of {@link AnyId}. It is no keyword of JSON Schema, so nobody is told. */
export const ANY_ID = Symbol('any id')

/** A string that is an id of this server, or of something else, such as the client of a machine. */
export const AnyId = (description: string, options: StringOptions = {}): TString =>
  Object.assign(Type.String({ ...options, description }), { [ANY_ID]: true })

/** @returns what {@link AnyId} is stored as: the server writes its ids in lower case, and callers may not */
export function spellingsOf (id: string): readonly string[] {
  return UUID.test(id) && id !== id.toLowerCase() ? [id, id.toLowerCase()] : [id]
}

/**
 * An optional field of a new record, and its default. Changes use `schema` itself, since fields that they leave out
 * keep their values.
 */
export const Defaulted = <T extends TSchema>(schema: T, otherwise: string) =>
  Type.Optional<T>({ ...schema, description: `${schema.description}. ${otherwise} when left out` })

export const Nullable = <T extends TSchema>(schema: T) =>
  Type.Unsafe<T['static'] | null>({ ...schema, type: [schema['type'], 'null'] })

export const Name = Type.String({ maxLength: 200, pattern: '\\S' })

export const Description = Nullable(Type.String({ maxLength: 20_000, description: 'Plain text or Markdown' }))

/** ASCII, so that URLs need no encoding. */
export const Slug = Type.String({
  maxLength: 200,
  pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
  description: 'Unique in the shop'
})

/** What patterns mean, for people. */
export const FORMS: Readonly<Record<string, string>> = {
  [Slug.pattern!]: 'must be words of a-z and 0-9 with hyphens between them, such as tea-cup',
  '^[A-Z]{3}$': 'must be a code of three capital letters, such as EUR'
}

export const Currency = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217' })

/** Money, in minor units of its currency. */
export const Amount = (description: string) =>
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: `${description}, in minor units of the currency`
  })

/** An instant that JavaScript and PostgreSQL both accept: RFC 3339 without leap seconds. */
export const INSTANT = /^(19|20|21)\d\d-\d\d-\d\dT\d\d:\d\d:[0-5]\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/
export const Instant = (description: string) =>
  Type.String({
    format: 'date-time',
    pattern: INSTANT.source,
    description: `${description}: RFC 3339, from 1900 to 2199`
  })

/** In bytes of JSON: a page of records has to fit into memory. */
export const MAX_METADATA = 16 * 1024

export const Metadata = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: `Any JSON object, at most ${MAX_METADATA / 1024} KiB`
})

/** Clients of MCP repeat the shop as `Mcp-Param-Shop-Id`, so that a proxy can route and limit by it. */
export const ShopParams = Type.Object({ shop_id: Type.String({ format: 'uuid', 'x-mcp-header': 'Shop-Id' }) })

/** The fields of every record that the server sets. */
export const serverFields = {
  id: Uuid('Set by the server'),
  shop_id: Uuid(),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' })
}

/** A record of a shop: its own fields, and those that the server writes. */
export const ShopRecord = <T extends TProperties>(fields: T) =>
  Type.Object({
    id: serverFields.id,
    shop_id: serverFields.shop_id,
    ...fields,
    created_at: serverFields.created_at,
    updated_at: serverFields.updated_at
  })

/** The response to a deletion. */
export const Deleted = Type.Null({ description: 'Deleted' })

/** The body of every error response. */
export const Problem = Type.Object({
  statusCode: Type.Integer(),
  code: Type.String({ description: 'Stable, for programs' }),
  error: Type.String({ description: 'The status in words' }),
  message: Type.String({ description: 'For people; its wording may change' }),
  field: Type.Optional(
    Type.String({ description: 'The input that the error is about, as a path: name, attributes/0/value' })
  )
}, { description: 'An error' })
