/** A JSON Schema object of any draft. Boolean schemas appear only in keyword positions. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** Keywords whose value is one schema. `items` may also be an array of them. */
const SINGLE = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties'
])
const LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'])
/** Keywords whose value maps author-chosen names to schemas. */
const MAP = new Set(['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'])

export function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of a keyword that is a list; none if it is none. */
export function listIn (value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/**
 * Rebuilds a schema with `change` applied to each direct subschema.
 * Positions that hold data (`enum`, `const`, `default`, `examples`) are left alone, and names in
 * `properties` are never taken for keywords.
 */
export function mapSubschemas (
  schema: JsonSchema,
  change: (subschema: unknown, keyword: string) => unknown
): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (MAP.has(keyword) && isObject(value)) {
      out[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, sub]) => [name, isSchema(sub) ? change(sub, keyword) : sub])
      )
    } else if (LIST.has(keyword) && Array.isArray(value)) {
      out[keyword] = value.map((sub) => change(sub, keyword))
    } else if (SINGLE.has(keyword) && isSchema(value)) {
      out[keyword] = change(value, keyword)
    } else {
      out[keyword] = value
    }
  }
  return out
}

function isSchema (value: unknown): boolean {
  return isObject(value) || typeof value === 'boolean'
}

/** A copy, frozen all through: it shares no object with the host's, so that nothing of the host's is frozen. */
export function frozenCopy<T> (json: T): T {
  return JSON.parse(JSON.stringify(json), (_key, value: unknown) => Object.freeze(value)) as T
}
