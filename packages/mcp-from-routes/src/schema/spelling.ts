import { isObject, mapSubschemas, type JsonSchema } from './json-schema.ts'

/**
 * The same schema as the clients that read least understand it: one type in each `type`, `items` in every array, and
 * `additionalProperties` in every record. Without them VS Code drops the tool, OpenAI refuses the request, and some
 * clients show a record without its values. It accepts the same values as before.
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
  const rewritten = (part: JsonSchema): JsonSchema =>
    spell(mapSubschemas(part, (sub) => isObject(sub) ? rewritten(sub) : sub))
  return rewritten(plain)
}

/** A closed tuple, with its length in place of `items: false`. */
function withoutEnd (schema: JsonSchema): JsonSchema {
  const { items, prefixItems, maxItems = Infinity } = schema
  return items !== false
    ? schema
    : {
      ...schema,
      items: {},
      maxItems: Math.min(Array.isArray(prefixItems) ? prefixItems.length : 0, Number(maxItems))
    }
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

/** Keywords that look at values of one type only. */
const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  array: ['contains', 'items', 'maxContains', 'maxItems', 'minContains', 'minItems', 'prefixItems', 'uniqueItems'],
  number: ['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum', 'multipleOf'],
  object: [
    'additionalProperties',
    'dependentRequired',
    'dependentSchemas',
    'maxProperties',
    'minProperties',
    'patternProperties',
    'properties',
    'propertyNames',
    'required'
  ],
  string: ['contentEncoding', 'contentMediaType', 'contentSchema', 'maxLength', 'minLength', 'pattern']
}
const ALL_TYPES = 6

/**
 * The same schema with every list in `type` written as an `anyOf`, each branch with the keywords of its type: several
 * clients read one type only. Both spellings accept the same values.
 * @param schema - of 2020-12
 */
function withoutTypeLists (schema: JsonSchema): JsonSchema {
  const out = mapSubschemas(schema, (sub) => isObject(sub) ? withoutTypeLists(sub) : sub)
  if (!Array.isArray(out.type)) return out
  const { type: list, ...rest } = out
  const types = distinct(list as readonly string[])
  const [only] = types
  if (types.length === 1) return { ...rest, type: only }
  if (types.length === ALL_TYPES && types.includes('number')) return rest
  const values = Array.isArray(rest.enum) ? rest.enum as readonly unknown[] : undefined
  const branches = types.map((type) => branchOf(type, rest, types, values?.filter((value) => hasType(value, type))))
    .filter((branch) => !Array.isArray(branch.enum) || branch.enum.length > 0)
  const [branch, ...others] = branches
  if (branch === undefined) return out
  const beside = Object.fromEntries(
    Object.entries(rest).filter(([keyword]) =>
      keyword !== 'enum' && !branches.some((branch) => Object.hasOwn(branch, keyword))
    )
  )
  if (others.length === 0) return { ...beside, ...branch }
  if (beside.anyOf === undefined) return { ...beside, anyOf: branches }
  return {
    ...beside,
    allOf: [...Array.isArray(beside.allOf) ? beside.allOf as readonly unknown[] : [], { anyOf: branches }]
  }
}

/** Integers are numbers, and are not named beside them. */
function distinct (types: readonly string[]): readonly string[] {
  return [...new Set(types)].filter((type) => type !== 'integer' || !types.includes('number'))
}

function branchOf (
  type: string,
  schema: JsonSchema,
  types: readonly string[],
  values: readonly unknown[] | undefined
): Record<string, unknown> {
  const own = new Set(OF_TYPE[type === 'integer' ? 'number' : type])
  // A format says by itself which type it is for, so it stays with all of several.
  if (types.filter((other) => other !== 'null').length === 1 && type !== 'null') own.add('format')
  const kept = Object.entries(schema).filter(([keyword]) => own.has(keyword))
  // The only null is null.
  return {
    type,
    ...Object.fromEntries(kept),
    ...values !== undefined && (type !== 'null' || values.length === 0) && { enum: values }
  }
}

function hasType (value: unknown, type: string): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value)
    case 'boolean':
      return typeof value === 'boolean'
    case 'integer':
      return Number.isInteger(value)
    case 'null':
      return value === null
    case 'number':
      return typeof value === 'number'
    case 'object':
      return isObject(value)
    default:
      return typeof value === 'string'
  }
}
