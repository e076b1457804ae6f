import type { TSchema } from '@sinclair/typebox'

/** What a column of type `integer` holds. */
const INTEGER = { minimum: -2_147_483_648, maximum: 2_147_483_647 }

/** What the column of a whole number holds: it is an `integer`, unless the number's own maximum needs a `bigint`. */
export function columnRange (
  { maximum = INTEGER.maximum }: TSchema
): { readonly minimum: number, readonly maximum: number } {
  return maximum <= INTEGER.maximum ? INTEGER : { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
}

/** Whether a field holds whole numbers. */
export function isInteger (schema: TSchema): boolean {
  return typesOf(schema).includes('integer')
}

/** The types of a field in JSON. */
export function typesOf ({ type }: TSchema): readonly string[] {
  return [type].flat() as string[]
}

/** Whether a field is stored as JSON. */
export function isJson (schema: TSchema): boolean {
  return typesOf(schema).some((type) => type === 'object' || type === 'array')
}
