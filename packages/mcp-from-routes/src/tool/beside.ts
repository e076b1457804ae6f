import { isObject, type JsonSchema } from '../schema/json-schema.ts'
import { partsOf } from '../schema/parts.ts'
import { definitionsOf } from '../schema/shared.ts'

/* What a result says beside the route's own JSON. */

/** What each of them is. Without words: a brief schema has none. */
export const BESIDE = {
  headers: { type: 'object', additionalProperties: { type: 'string' } },
  notice: { type: 'string' }
} as const

/** The names of the fields: headers of the route's response, and the tool's new name for callers of an old one. */
export type Beside = keyof typeof BESIDE

/**
 * The fields that may stand among those of a record: its schema describes none of that name. A map has entries in place
 * of fields, so one more would be read as an entry.
 *
 * @param record - the record's schema, whole
 */
export function besideRecord (record: JsonSchema, names: readonly Beside[]): readonly Beside[] {
  const parts = partsOf([record], definitionsOf(record))
  return parts.some(isMap) ? [] : names.filter((name) => !parts.some((part) => describes(part, name)))
}

/** The schema of a record that may have these fields too. Only a closed one has to name them. */
export function withNamed (schema: JsonSchema, names: readonly Beside[]): JsonSchema {
  if (schema.additionalProperties !== false || names.length === 0) return schema
  const named = Object.fromEntries(names.map((name) => [name, BESIDE[name]]))
  return { ...schema, properties: { ...schema.properties as object, ...named } }
}

function isMap ({ additionalProperties, patternProperties }: JsonSchema): boolean {
  return patternProperties !== undefined ||
    (isObject(additionalProperties) && Object.keys(additionalProperties).length > 0)
}

function describes ({ properties }: JsonSchema, name: string): boolean {
  return isObject(properties) && Object.hasOwn(properties, name)
}
