import { MCP_FROM_ROUTES_BAD_SCHEMA, MCP_FROM_ROUTES_NAME_CLASH, MCP_FROM_ROUTES_UNSUPPORTED_BODY } from './errors.ts'
import { flatBody, flatObject, unlisted } from './flatten.ts'
import type { FlatObject } from './flatten.ts'
import { isObject } from './json-schema.ts'
import type { JsonSchema } from './json-schema.ts'
import type { PathPart } from './path.ts'
import type { SchemaReader } from './schema.ts'

/** Where an argument goes in the inner request. */
export type Place = 'path' | 'query' | 'body'

/** What a tool takes, and where each argument goes. */
export interface ToolInput {
  readonly schema: JsonSchema
  readonly places: ReadonlyMap<string, Place>
  /** How the body is made: not at all, of the arguments whose place is the body, or of the argument `body` alone. */
  readonly body: 'none' | 'fields' | 'whole'
}

/** The parts of a route's schema that say what it takes. */
export interface RequestSchemas {
  readonly params?: unknown
  readonly querystring?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly consumes?: readonly string[]
}

/**
 * Joins path parameters, query string and body into the arguments of one tool.
 * @param route - the route as named in errors
 * @throws {@link MCP_FROM_ROUTES_NAME_CLASH}, {@link MCP_FROM_ROUTES_UNSUPPORTED_BODY}, {@link MCP_FROM_ROUTES_BAD_SCHEMA}
 */
export function inputFromRoute (route: string, path: readonly PathPart[], schemas: RequestSchemas, reader: SchemaReader): ToolInput {
  const input = new InputBuilder(route)
  input.addAll('path', pathInputs(route, path, schemas.params, reader))
  input.addAll('query', queryInputs(route, schemas.querystring ?? schemas.query, reader))
  const body = jsonBody(route, schemas)
  if (body === undefined) return input.build(reader, 'none')
  const schema = reader.read(body, 'body', 'input')
  const flat = flatBody(schema)
  if (flat === undefined) {
    input.addAll('body', { ...EMPTY, properties: { body: schema }, required: ['body'] })
    return input.build(reader, 'whole')
  }
  input.addAll('body', flat)
  return input.build(reader, 'fields')
}

const EMPTY: FlatObject = { properties: {}, required: [], dependentRequired: {}, minProperties: 0 }

/** Collects arguments and refuses two of one name. */
class InputBuilder {
  readonly #route: string
  readonly #properties: Record<string, JsonSchema> = {}
  readonly #places = new Map<string, Place>()
  readonly #required = new Set<string>()
  #dependentRequired: Record<string, readonly string[]> = {}
  #minProperties = 0

  constructor (route: string) {
    this.#route = route
  }

  addAll (place: Place, flat: FlatObject): void {
    // The merged object has at least so many properties only if everything else in it is certain to be there.
    if (flat.minProperties > 0 && this.#required.size === this.#places.size) this.#minProperties = this.#places.size + flat.minProperties
    for (const [name, schema] of Object.entries(flat.properties)) {
      const taken = this.#places.get(name)
      if (taken !== undefined) throw new MCP_FROM_ROUTES_NAME_CLASH(this.#route, name, `${taken} and ${place}`)
      this.#places.set(name, place)
      this.#properties[name] = schema
    }
    for (const name of flat.required) if (this.#places.has(name)) this.#required.add(name)
    this.#dependentRequired = { ...this.#dependentRequired, ...flat.dependentRequired }
  }

  build (reader: SchemaReader, body: ToolInput['body']): ToolInput {
    const schema = {
      type: 'object',
      properties: this.#properties,
      ...this.#required.size > 0 && { required: [...this.#required] },
      ...Object.keys(this.#dependentRequired).length > 0 && { dependentRequired: this.#dependentRequired },
      ...this.#minProperties > this.#required.size && { minProperties: this.#minProperties },
      additionalProperties: false
    }
    return { schema: reader.close(schema), places: this.#places, body }
  }
}

function pathInputs (route: string, path: readonly PathPart[], params: unknown, reader: SchemaReader): FlatObject {
  const described = params === undefined ? EMPTY : objectOf(route, reader.read(params, 'params', 'input'), 'params')
  const inPath = path.filter((part) => 'param' in part)
  const unknown = Object.keys(described.properties).find((name) => !inPath.some((part) => part.param === name))
  if (unknown !== undefined) throw new MCP_FROM_ROUTES_BAD_SCHEMA(route, `params describes ${unknown}, which is not in the path`)
  const properties = Object.fromEntries(inPath.map(({ param }) => [param, described.properties[param] ?? { type: 'string' }]))
  for (const [name, schema] of Object.entries(properties)) {
    const types = [schema.type ?? 'string'].flat()
    if (types.every((type) => type === 'array' || type === 'object')) {
      throw new MCP_FROM_ROUTES_BAD_SCHEMA(route, `the path parameter ${name} is an ${types.join(' or ')}, which has no one spelling in a URL`)
    }
  }
  return { ...EMPTY, properties, required: inPath.filter((part) => !part.optional).map((part) => part.param) }
}

function queryInputs (route: string, query: unknown, reader: SchemaReader): FlatObject {
  if (query === undefined) return EMPTY
  const { additionalProperties, unevaluatedProperties, minProperties, ...schema } = reader.read(query, 'querystring', 'input')
  if (Object.keys(schema).length === 0) return EMPTY
  const flat = objectOf(route, schema, 'querystring')
  const name = unlisted(flat)
  if (name !== undefined) throw new MCP_FROM_ROUTES_BAD_SCHEMA(route, `querystring requires ${name}, which is not among its properties. Describe it there`)
  return flat
}

function objectOf (route: string, schema: JsonSchema, part: string): FlatObject {
  const flat = flatObject(schema)
  if (flat === undefined) throw new MCP_FROM_ROUTES_BAD_SCHEMA(route, `${part} is not an object with a fixed list of properties`)
  return flat
}

/** The schema of the JSON body, if the route takes a body. */
function jsonBody (route: string, { body, consumes }: RequestSchemas): unknown {
  if (consumes !== undefined && consumes.length > 0 && !consumes.some(isJson)) {
    throw new MCP_FROM_ROUTES_UNSUPPORTED_BODY(route, `it takes ${consumes.join(', ')}`)
  }
  if (body === undefined || body === null) return undefined
  if (isObject(body) && isObject(body.content)) {
    const types = Object.keys(body.content)
    const json = types.find(isJson)
    if (json === undefined) throw new MCP_FROM_ROUTES_UNSUPPORTED_BODY(route, `it takes ${types.join(', ')}`)
    return Reflect.get(Object(body.content[json]), 'schema')
  }
  if (mentionsFile(body)) throw new MCP_FROM_ROUTES_UNSUPPORTED_BODY(route, 'it takes a file upload')
  return body
}

function isJson (mediaType: string): boolean {
  return /^(application\/json|\*\/\*|application\/\*)\s*(;|$)/i.test(mediaType)
}

/** @fastify/multipart describes uploaded files with `isFile: true`, or with a shared schema of its own. */
function mentionsFile (schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(mentionsFile)
  if (!isObject(schema)) return false
  return schema.isFile === true || Object.values(schema).some(mentionsFile)
}
