import { isObject, type JsonSchema } from './json-schema.ts'

/** An object schema reduced to what can be merged with other inputs into one. */
export interface FlatObject {
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required: readonly string[]
  readonly dependentRequired: Readonly<Record<string, readonly string[]>>
  readonly minProperties: number
}

/** Keywords that a merge keeps or that say nothing about the value. */
const MERGEABLE = new Set([
  'additionalProperties',
  'allOf',
  'default',
  'dependentRequired',
  'deprecated',
  'description',
  'examples',
  'minProperties',
  'properties',
  'readOnly',
  'required',
  'title',
  'type',
  'unevaluatedProperties',
  'writeOnly'
])

/**
 * Reads a 2020-12 schema as a plain list of named properties, joining the members of an `allOf`.
 * @returns undefined when the schema says more than that: alternatives, conditions, free property names, other types
 */
export function flatObject (schema: JsonSchema): FlatObject | undefined {
  const flat = flatten(schema)
  const isAnObject = schema.type === 'object' || (flat !== undefined && Object.keys(flat.properties).length > 0)
  return isAnObject ? flat : undefined
}

/**
 * The same for a body. One that cannot be flattened becomes a single argument instead.
 * @returns undefined also when a property that the body requires or allows would have no argument
 */
export function flatBody (schema: JsonSchema): FlatObject | undefined {
  const flat = flatObject(schema)
  if (flat === undefined || unlisted(flat) !== undefined) return undefined
  const isClosed = schema.additionalProperties === false || schema.unevaluatedProperties === false
  return isClosed || Object.keys(flat.properties).length > 0 ? flat : undefined
}

/** The name of a required property that is not among the properties. */
export function unlisted ({ properties, required }: FlatObject): string | undefined {
  return required.find((name) => !Object.hasOwn(properties, name))
}

function flatten (schema: JsonSchema): FlatObject | undefined {
  if (schema.type !== undefined && schema.type !== 'object') return undefined
  if (!Object.keys(schema).every((keyword) => MERGEABLE.has(keyword))) return undefined
  // Written out as open: its other names could not be given if the properties were merged into a closed schema.
  if (isOpen(schema.additionalProperties) || isOpen(schema.unevaluatedProperties)) return undefined
  const parts: FlatObject[] = [{
    properties: isObject(schema.properties) ? schema.properties as Record<string, JsonSchema> : {},
    required: Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [],
    dependentRequired: isObject(schema.dependentRequired)
      ? schema.dependentRequired as Record<string, readonly string[]>
      : {},
    minProperties: typeof schema.minProperties === 'number' ? schema.minProperties : 0
  }]
  for (const member of Array.isArray(schema.allOf) ? schema.allOf : []) {
    const part = isObject(member) ? flatten(member) : undefined
    if (part === undefined) return undefined
    parts.push(part)
  }
  return parts.reduce(merged)
}

function merged (a: FlatObject, b: FlatObject): FlatObject {
  const properties = { ...a.properties }
  for (const [name, schema] of Object.entries(b.properties)) {
    const other = Object.hasOwn(properties, name) ? properties[name] : undefined
    properties[name] = other === undefined ? schema : both(other, schema)
  }
  return {
    properties,
    required: [...new Set([...a.required, ...b.required])],
    dependentRequired: { ...a.dependentRequired, ...b.dependentRequired },
    minProperties: Math.max(a.minProperties, b.minProperties)
  }
}

/** A schema for what fits two of them. */
export function both (a: JsonSchema, b: JsonSchema): JsonSchema {
  return JSON.stringify(a) === JSON.stringify(b) ? b : { allOf: [a, b] }
}

function isOpen (value: unknown): boolean {
  return value === true || isObject(value)
}
