import { isObject, mapSubschemas } from './json-schema.ts'
import type { JsonSchema } from './json-schema.ts'
import type { SchemaReader } from './schema.ts'

/** What a successful call answers with, as far as the route's response schemas promise it. */
export interface ToolOutput {
  /** The answer as it is, for protocol revisions that allow any schema. */
  readonly schema: JsonSchema
  /** The same for revisions whose output must be an object: `schema` itself, or `{ result: … }` around it. */
  readonly objectSchema: JsonSchema
  /** Whether `objectSchema` is a wrapping. */
  readonly wrapped: boolean
}

/** Kept by {@link relaxed}: what the serializer guarantees, and annotations. */
const GUARANTEED = new Set(['$defs', '$ref', 'additionalProperties', 'allOf', 'anyOf', 'const', 'default', 'deprecated', 'description',
  'examples', 'items', 'patternProperties', 'prefixItems', 'properties', 'required', 'title', 'type'])

/**
 * Derives the output schema from a route's `response` schemas.
 * @returns undefined when a success may carry no JSON: no 2xx schema, a 204, another media type
 */
export function outputFromRoute (response: unknown, reader: SchemaReader): ToolOutput | undefined {
  if (!isObject(response)) return undefined
  const successes = Object.entries(response).filter(([status]) => /^2(\d\d|xx)$/i.test(status))
  const schemas: JsonSchema[] = []
  for (const [status, answer] of successes) {
    const schema = status === '204' || status === '205' ? undefined : jsonAnswer(answer)
    if (schema === undefined) return undefined
    schemas.push(relaxed(reader.read(schema, `response ${status}`, 'output')))
  }
  const [first, ...others] = schemas
  if (first === undefined) return undefined
  const schema = reader.close(others.length === 0 ? first : { anyOf: schemas }, relaxed)
  const wrapped = schema.type !== 'object'
  return { schema, objectSchema: wrapped ? wrap(schema) : schema, wrapped }
}

/** The JSON schema of one status, or undefined when its body may be something else. */
function jsonAnswer (answer: unknown): unknown {
  if (!isObject(answer)) return answer === true ? {} : undefined
  if (answer.type === 'null') return undefined
  if (!isObject(answer.content)) return answer
  const types = Object.entries(answer.content)
  const [only] = types
  return types.length === 1 && only !== undefined && /[/+]json\s*(;|$)/i.test(only[0]) && isObject(only[1]) ? only[1].schema : undefined
}

/**
 * Leaves what Fastify's serializer makes true of every answer. It coerces types, fills defaults, drops other
 * properties and fails without a required one, but it ignores enum, format, lengths and ranges; a client that
 * checks them would reject good answers. It takes the first matching alternative, so `oneOf` becomes `anyOf`.
 */
function relaxed (schema: unknown): JsonSchema {
  if (!isObject(schema)) return {}
  const { oneOf, ...rest } = schema
  const anyOf = Array.isArray(oneOf) && rest.anyOf === undefined ? { anyOf: oneOf } : {}
  const out = mapSubschemas({ ...rest, ...anyOf }, (sub) => typeof sub === 'boolean' ? sub : relaxed(sub))
  // The serializer joins these before it writes, so what one part closes another may open.
  const open = schema.allOf !== undefined || schema.if !== undefined || schema.anyOf !== undefined || oneOf !== undefined
  for (const keyword of Object.keys(out)) if (!GUARANTEED.has(keyword) || (open && keyword === 'additionalProperties')) delete out[keyword]
  for (const keyword of ['allOf', 'anyOf']) {
    const members = out[keyword]
    if (open && Array.isArray(members)) out[keyword] = members.map(opened)
  }
  return out
}

function opened (schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const { additionalProperties, ...rest } = schema
  return rest
}

/** `{ result: schema }`, with the references in it moved along. */
function wrap (schema: JsonSchema): JsonSchema {
  const { $defs, ...natural } = schema
  return { type: 'object', properties: { result: natural }, required: ['result'], ...$defs !== undefined && { $defs } }
}
