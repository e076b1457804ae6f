import { isTooDeep, MAX_DEPTH } from '../depth.ts'
import { MCP_FROM_ROUTES_INVALID_SCHEMA } from '../errors.ts'
import { insteadOf, to2020 } from './dialect.ts'
import type { DefinitionMap } from './shared.ts'
import { isObject, type JsonSchema } from './json-schema.ts'
import type { Definitions, RefResolver } from './refs.ts'

/**
 * Converts a schema of a library whose schemas are no JSON Schema, and do not convert themselves. Undefined for one
 * that needs no conversion.
 *
 * @param context - `io` is `'input'` for what a route takes, `'output'` for what it responds
 */
export type ToJsonSchema = (schema: unknown, context: { readonly io: 'input' | 'output' }) => unknown

/** Reads the schemas of one route, written as 2020-12. Their references read `#/$defs/<name>`. */
export interface SchemaReader {
  /**
   * @param part - where the schema stands in the route, for the error message
   * @param io - which side of the schema counts, when it is a Standard Schema whose two sides differ
   * @throws {@link MCP_FROM_ROUTES_INVALID_SCHEMA}
   */
  read: (schema: unknown, part: string, io: 'input' | 'output') => JsonSchema
  /** What the schemas read so far refer to, shared by all of them. */
  definitions: () => DefinitionMap
  /** The schema with those definitions put beside it. */
  close: (schema: JsonSchema) => JsonSchema
}

/**
 * @param route - the route as named in errors, like `GET /products/:id`
 * @param resolver - resolves the references the route can use
 * @param prepare - what is done to a schema while it is still in the draft it was written in
 * @param convert - the host's conversion of what is no JSON Schema
 */
export function schemaReader (
  route: string,
  resolver: RefResolver,
  prepare = (schema: JsonSchema) => schema,
  convert?: ToJsonSchema
): SchemaReader {
  const found: Definitions = { schemas: new Map(), names: new Map() }
  const definitions = new Map<string, JsonSchema>()
  function fail (part: string, problem: string): never {
    throw new MCP_FROM_ROUTES_INVALID_SCHEMA(route, `${part}: ${problem}`)
  }
  function converted (schema: JsonSchema, part: string): JsonSchema {
    const answer = to2020(prepare(schema))
    return typeof answer === 'string' ? fail(part, answer) : answer
  }
  return {
    read (schema, part, io) {
      const plain = plainSchema(schema, io, convert)
      if (typeof plain === 'string') return fail(part, plain)
      if (isTooDeep(plain)) {
        return fail(
          part,
          `it nests more than ${MAX_DEPTH} levels deep, or contains itself. Refer to a shared schema with $ref`
        )
      }
      const local = resolver.localize(plain, found)
      if (typeof local === 'string') return fail(part, local)
      for (const [name, definition] of found.schemas) {
        if (!definitions.has(name)) definitions.set(name, converted(definition, `${part}: $defs/${name}`))
      }
      return converted(local, part)
    },
    definitions: () => definitions,
    close (schema) {
      return definitions.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(definitions) }
    }
  }
}

/**
 * The schema as JSON Schema: as it is, or what a Standard Schema (Zod, Valibot, ArkType) says it is.
 * @see [Standard JSON Schema](https://standardschema.dev/json-schema)
 */
function plainSchema (schema: unknown, io: 'input' | 'output', convert?: ToJsonSchema): JsonSchema | string {
  if (typeof schema === 'boolean') return schema ? {} : { not: {} }
  if (convert !== undefined) {
    try {
      const json = convert(schema, { io })
      if (json !== undefined) return plainSchema(json, io)
    } catch (error) {
      return `toJsonSchema failed: ${messageOf(error)}`
    }
  }
  const standard: unknown = Object(schema)['~standard']
  if (standard !== undefined) {
    const converter: unknown = Object(Object(standard).jsonSchema)[io]
    if (typeof converter !== 'function') return NO_JSON_SCHEMA
    let json: unknown
    try {
      json = converter({ target: 'draft-2020-12' })
    } catch (error) {
      const problem = messageOf(error)
      // As Zod names a type that JSON lacks. Other errors may have the same words.
      const [, type = ''] = /^(.+) cannot be represented in JSON Schema$/.exec(problem) ?? []
      return `it cannot be converted to JSON Schema: ${problem}${insteadOf(type)}`
    }
    return isObject(json) ? json : 'it does not convert to a JSON Schema object'
  }
  if (!isObject(schema)) return 'it is not a JSON Schema object'
  return isPlain(schema) ? schema : NO_JSON_SCHEMA
}

function messageOf (error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const NO_JSON_SCHEMA =
  'it is not JSON Schema and cannot convert itself to it, as Zod 4 can. For Zod 3, Valibot and others give the ' +
  'option toJsonSchema'

/** An instance of a class is a schema of a library. Objects may come from another realm, as in Jest. */
function isPlain (schema: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(schema)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
