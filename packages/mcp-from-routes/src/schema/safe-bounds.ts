import { isObject, mapSubschemas, type JsonSchema } from './json-schema.ts'

/** Where a part that accepts more makes the whole accept more. */
const WIDENING = new Set(['additionalProperties', 'allOf', 'anyOf', 'items', 'prefixItems', 'properties'])

/**
 * The schema without the bounds that each integer of a call has anyway: one beyond 9007199254740991 loses digits in
 * JSON and is refused, whatever the schema says. Zod writes them at every `z.int()`, and a model reads them each time.
 *
 * @param schema - with one type in each `type`
 */
export function withoutSafeBounds (schema: JsonSchema): JsonSchema {
  const out = mapSubschemas(
    schema,
    (sub, keyword) => isObject(sub) && WIDENING.has(keyword) ? withoutSafeBounds(sub) : sub
  )
  if (out.type !== 'integer') return out
  const { minimum, maximum, ...rest } = out
  return {
    ...rest,
    ...minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum },
    ...maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }
  }
}
