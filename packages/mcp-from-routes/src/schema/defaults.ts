import { rewriteShared } from './shared.ts'
import { isObject, mapSubschemas, type JsonSchema } from './json-schema.ts'

/** Keywords whose schemas the validator only tries, so it fills nothing in there. */
const TRIED = new Set(['anyOf', 'contains', 'if', 'not', 'oneOf', 'propertyNames'])
const FILLED = 1

/**
 * Makes required properties with a default optional: the validator fills them in.
 * @param schema - with its `$defs`
 * @see [Ajv: assigning defaults](https://ajv.js.org/guide/modifying-data.html#assigning-defaults)
 */
export function withoutFilled (schema: JsonSchema): JsonSchema {
  return rewriteShared(schema, FILLED, rewritten)
}

function rewritten (schema: JsonSchema, place: number, use: (schema: JsonSchema, place: number) => void): JsonSchema {
  use(schema, place)
  const out = mapSubschemas(
    schema,
    (sub, keyword) => isObject(sub) ? rewritten(sub, TRIED.has(keyword) ? 0 : place, use) : sub
  )
  if (place !== FILLED || !Array.isArray(out.required) || !isObject(schema.properties)) return out
  const { properties } = schema
  const required = out.required.filter((name) => Object(properties[name]).default === undefined)
  if (required.length > 0) return { ...out, required }
  delete out.required
  return out
}
