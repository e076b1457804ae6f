import { isObject, mapSubschemas, type JsonSchema } from './json-schema.ts'
import { withoutTypeLists } from './type-lists.ts'

/**
 * The same schema as the clients that read least understand it: one type in each `type`, `items` in every array, and
 * `additionalProperties` in every record. Without them VS Code drops the tool, OpenAI refuses the request, and some clients
 * show a record without its values. It accepts the same values as before.
 *
 * @param schema - of 2020-12
 */
export function argumentsForClients (schema: JsonSchema): JsonSchema {
  return respelled(schema, (part) => asRecord(withItems(withoutEnd(part))))
}

/** The same for a result, whose arrays no client requires to say more. */
export function resultForClients (schema: JsonSchema): JsonSchema {
  return respelled(schema, asRecord)
}

/** The same for a comparison, which knows closed tuples and describes them as they are written. */
export function spelledForComparison (schema: JsonSchema): JsonSchema {
  return respelled(schema, (part) => asRecord(withItems(part)))
}

function respelled (schema: JsonSchema, spell: (part: JsonSchema) => JsonSchema): JsonSchema {
  const plain = withoutTypeLists(schema)
  // Those look at which keyword has judged a value.
  if (/"unevaluated(?:Items|Properties)":/.test(JSON.stringify(plain))) return plain
  const rewritten = (part: JsonSchema): JsonSchema => spell(mapSubschemas(part, (sub) => isObject(sub) ? rewritten(sub) : sub))
  return rewritten(plain)
}

/** A closed tuple, with its length in place of `items: false`. */
function withoutEnd (schema: JsonSchema): JsonSchema {
  const { items, prefixItems, maxItems = Infinity } = schema
  return items !== false ? schema : { ...schema, items: {}, maxItems: Math.min(Array.isArray(prefixItems) ? prefixItems.length : 0, Number(maxItems)) }
}

function withItems (schema: JsonSchema): JsonSchema {
  const { type, items } = schema
  return type !== 'array' || items === false || isObject(items) ? schema : { ...schema, items: {} }
}

/** Patterns that every name matches, as TypeBox writes them. */
const EVERY_NAME = new Set(['', '^', '.*', '^.*', '^.*$', '^(.*)$', '^(?:.*)$'])

function asRecord (schema: JsonSchema): JsonSchema {
  const { patternProperties, properties = {}, additionalProperties, ...rest } = schema
  const [only, ...others] = isObject(patternProperties) ? Object.entries(patternProperties) : []
  if (only === undefined || others.length > 0 || Object.keys(Object(properties)).length > 0) return schema
  const [pattern, values] = only
  if (EVERY_NAME.has(pattern)) return { ...rest, additionalProperties: values }
  if (additionalProperties !== false || rest.propertyNames !== undefined) return schema
  return { ...rest, propertyNames: { pattern }, additionalProperties: values }
}
