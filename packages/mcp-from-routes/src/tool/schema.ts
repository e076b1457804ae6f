import { isTooDeep, MAX_DEPTH } from '../depth.ts'
import { MCP_FROM_ROUTES_INVALID_SCHEMA } from '../errors.ts'
import { insteadOf, to2020 } from './dialect.ts'
import type { DefinitionMap } from './definitions.ts'
import { isObject } from './json-schema.ts'
import type { JsonSchema } from './json-schema.ts'
import type { Definitions, RefResolver } from './refs.ts'

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
 */
export function schemaReader (route: string, resolver: RefResolver, prepare = (schema: JsonSchema) => schema): SchemaReader {
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
      const plain = plainSchema(schema, io)
      if (typeof plain === 'string') return fail(part, plain)
      if (isTooDeep(plain)) return fail(part, `it nests more than ${MAX_DEPTH} levels deep, or contains itself. Refer to a shared schema with $ref`)
      const local = resolver.localize(plain, found)
      if (typeof local === 'string') return fail(part, local)
      for (const [name, definition] of found.schemas) if (!definitions.has(name)) definitions.set(name, converted(definition, `${part}: $defs/${name}`))
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
function plainSchema (schema: unknown, io: 'input' | 'output'): JsonSchema | string {
  if (typeof schema === 'boolean') return schema ? {} : { not: {} }
  const standard: unknown = Object(schema)['~standard']
  if (standard !== undefined) {
    const converter: unknown = Object(Object(standard).jsonSchema)[io]
    if (typeof converter !== 'function') return 'it is not JSON Schema and cannot convert itself to it'
    let json: unknown
    try {
      json = converter({ target: 'draft-2020-12' })
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      return `it cannot be converted to JSON Schema: ${problem}${insteadOf(problem)}`
    }
    return isObject(json) ? json : 'it does not convert to a JSON Schema object'
  }
  return isObject(schema) ? schema : 'it is not a JSON Schema object'
}
