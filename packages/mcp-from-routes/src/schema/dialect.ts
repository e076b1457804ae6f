import { attempt } from '../attempt.ts'
import { isObject, mapSubschemas, type JsonSchema } from './json-schema.ts'

/**
 * The keyword by which a schema says that clients send an argument as a header too.
 *
 * @see [SEP-2243](https://modelcontextprotocol.io/seps/2243-http-standardization)
 */
export const MIRRORED = 'x-mcp-header'

/** The keywords of 2020-12 that a tool schema may use. Everything else is only for Fastify, OpenAPI or Ajv. */
const KNOWN = new Set([
  '$defs',
  '$ref',
  'additionalProperties',
  'allOf',
  'anyOf',
  'const',
  'contains',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
  'default',
  'dependentRequired',
  'dependentSchemas',
  'deprecated',
  'description',
  'else',
  'enum',
  'examples',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'if',
  'items',
  'maxContains',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minContains',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'multipleOf',
  'not',
  'oneOf',
  'pattern',
  'patternProperties',
  'prefixItems',
  'properties',
  'propertyNames',
  'readOnly',
  'required',
  'then',
  'title',
  'type',
  'unevaluatedItems',
  'unevaluatedProperties',
  'uniqueItems',
  'writeOnly',
  MIRRORED
])
const TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])
const DYNAMIC = ['$dynamicRef', '$recursiveRef']

/** Thrown inside this file only; its message becomes the answer. */
class Unpublishable extends Error {}

/**
 * Rewrites a draft-07 schema, with the OpenAPI and Ajv keywords Fastify applications use, as JSON Schema 2020-12.
 * References must point into `$defs` already.
 * @returns the schema, or a sentence that says what in it cannot be published
 * @see [JSON Schema 2020-12 migration notes](https://json-schema.org/draft/2020-12/release-notes)
 */
export function to2020 (schema: JsonSchema): JsonSchema | string {
  try {
    return convert(schema)
  } catch (error) {
    if (error instanceof Unpublishable) return error.message
    throw error
  }
}

function convert (schema: unknown): Record<string, unknown> {
  if (schema === true) return {}
  if (!isObject(schema)) return { not: {} }
  const dynamic = DYNAMIC.find((keyword) => keyword in schema)
  if (dynamic !== undefined) throw new Unpublishable(`${dynamic} is not supported`)
  checkPatterns(schema)
  const out = mapSubschemas(schema, (sub) => typeof sub === 'boolean' ? sub : convert(sub))
  tuples(out)
  dependencies(out)
  bounds(out)
  examples(out)
  booleans(out)
  checkTypes(out)
  if (!isReadable(out.pattern)) delete out.pattern
  if (!Array.isArray(out.required)) delete out.required
  const nullable = out.nullable === true
  for (const keyword of Object.keys(out)) if (!KNOWN.has(keyword) || out[keyword] === undefined) delete out[keyword]
  return nullable ? asNullable(out) : out
}

/** `items: [a, b], additionalItems: c` is `prefixItems: [a, b], items: c`. */
function tuples (schema: Record<string, unknown>): void {
  if (!Array.isArray(schema.items)) return
  schema.prefixItems = schema.items
  schema.items = schema.additionalItems
}

/** `dependencies` became `dependentRequired` and `dependentSchemas`. */
function dependencies (schema: Record<string, unknown>): void {
  if (!isObject(schema.dependencies)) return
  const entries = Object.entries(schema.dependencies)
  const names = entries.filter(([, value]) => Array.isArray(value))
  const schemas = entries.filter(([, value]) => !Array.isArray(value))
  if (names.length > 0) {
    schema.dependentRequired = { ...Object.fromEntries(names), ...objectOrNothing(schema.dependentRequired) }
  }
  if (schemas.length > 0) {
    schema.dependentSchemas = { ...Object.fromEntries(schemas), ...objectOrNothing(schema.dependentSchemas) }
  }
}

/** Draft 4 and OpenAPI 3.0 wrote `minimum: 0, exclusiveMinimum: true`. */
function bounds (schema: Record<string, unknown>): void {
  for (const [exclusive, inclusive] of [['exclusiveMinimum', 'minimum'], ['exclusiveMaximum', 'maximum']] as const) {
    if (typeof schema[exclusive] !== 'boolean') continue
    if (schema[exclusive]) {
      schema[exclusive] = schema[inclusive]
      delete schema[inclusive]
    } else {
      delete schema[exclusive]
    }
  }
}

function examples (schema: Record<string, unknown>): void {
  if (!Array.isArray(schema.examples)) delete schema.examples
  if (schema.example !== undefined && schema.examples === undefined) schema.examples = [schema.example]
}

/** Older clients read every property as an object, so `true` is written `{}` there. */
function booleans (schema: Record<string, unknown>): void {
  for (const keyword of ['properties', 'patternProperties', 'dependentSchemas']) {
    const map = schema[keyword]
    if (isObject(map)) {
      schema[keyword] = Object.fromEntries(
        Object.entries(map).map(([name, sub]) => [name, typeof sub === 'boolean' ? convert(sub) : sub])
      )
    }
  }
}

function checkTypes (schema: Record<string, unknown>): void {
  if (schema.type === undefined) return
  for (const type of [schema.type].flat()) {
    if (typeof type !== 'string' || !TYPES.has(type)) {
      throw new Unpublishable(`type ${JSON.stringify(type)} is not a JSON Schema type${insteadOf(String(type))}`)
    }
  }
}

/** Keywords under which accepting more makes the whole schema accept less. */
const CONTRARY = ['contains', 'if', 'not', 'oneOf']

/**
 * A pattern is read with the u flag; a client fails on one that is not valid then, and may take no tool at all. A route
 * whose validator reads patterns without the flag checks such a pattern itself, so it is left out where that is safe.
 */
function checkPatterns (schema: JsonSchema): void {
  const names = Object.keys(objectOrNothing(schema.patternProperties))
  const pattern = names.find((name) => !isReadable(name)) ?? unreadableIn(CONTRARY.map((keyword) => schema[keyword]))
  if (pattern !== undefined) {
    throw new Unpublishable(`pattern ${JSON.stringify(pattern)} is not a regular expression with the u flag`)
  }
}

/** A pattern that cannot be read, in a schema or its subschemas. */
function unreadableIn (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(unreadableIn).find((pattern) => pattern !== undefined)
  if (!isObject(schema)) return undefined
  if (!isReadable(schema.pattern)) return schema.pattern
  let found: unknown
  mapSubschemas(schema, (sub) => {
    found ??= unreadableIn(sub)
  })
  return found
}

/** Whether a pattern, if it is one, is a regular expression with the u flag. */
export function isReadable (pattern: unknown): boolean {
  return typeof pattern !== 'string' || attempt(() => RegExp(pattern, 'u')) !== undefined
}

/** OpenAPI's `nullable: true`, as a union with null. */
function asNullable (schema: Record<string, unknown>): Record<string, unknown> {
  if (schema.type !== undefined && schema.$ref === undefined) {
    const types = [schema.type].flat()
    return { ...schema, type: types.includes('null') ? types : [...types, 'null'] }
  }
  if (
    Object.keys(schema).every((keyword) =>
      ['title', 'description', 'default', 'examples', 'deprecated'].includes(keyword)
    )
  ) return schema
  const { title, description, default: fallback, ...rest } = schema
  const annotations = { title, description, default: fallback }
  const kept = Object.fromEntries(Object.entries(annotations).filter(([, value]) => value !== undefined))
  return { ...kept, anyOf: [rest, { type: 'null' }] }
}

function objectOrNothing (value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {}
}

/** Types that programs have and JSON lacks, and what to describe in their place. */
const INSTEAD: ReadonlyArray<readonly [type: RegExp, instead: string]> = [
  [
    /\bdate\b/i,
    'JSON has no dates. Describe a string with the format date-time and convert it: in Zod ' +
    "z.iso.datetime().transform((text) => new Date(text)), in TypeBox Type.String({ format: 'date-time' })"
  ],
  [
    /\bbigint\b/i,
    'JSON has no big integers. Describe a string of digits and convert it: in Zod ' +
    'z.string().regex(/^[0-9]+$/).transform(BigInt)'
  ],
  [/\bmap\b/i, 'JSON has no maps. Describe an object with additionalProperties: in Zod z.record()'],
  [/\bset\b/i, 'JSON has no sets. Describe an array with uniqueItems: in Zod z.array()'],
  [/\b(undefined|void)\b/i, 'JSON has no undefined. Make the property optional, or describe null'],
  [/\bnan\b/i, 'JSON has no NaN. Describe null'],
  [/\btransforms?\b/i, 'Say what the transform returns: in Zod .pipe(z.string()) after it'],
  [/\b(uint8array|custom|symbols?|functions?)\b/i, 'Describe the JSON value that is sent in its place']
]

/**
 * What to write for a type that JSON lacks.
 * @param problem - names the type
 * @returns sentences to append to the problem, or nothing where there is no advice
 */
export function insteadOf (problem: string): string {
  const found = INSTEAD.find(([type]) => type.test(problem))
  return found === undefined ? '' : `. ${found[1]}`
}
