import { withoutMarked } from '../schema/marks.ts'
import { compact } from '../schema/compact.ts'
import { withoutFilled } from '../schema/defaults.ts'
import { definitionsOf, followed, type DefinitionMap } from '../schema/shared.ts'
import {
  MCP_FROM_ROUTES_INVALID_SCHEMA,
  MCP_FROM_ROUTES_NAME_CLASH,
  MCP_FROM_ROUTES_UNSUPPORTED_ROUTE
} from '../errors.ts'
import { both, flatBody, flatObject, unlisted, type FlatObject } from '../schema/flatten.ts'
import { isObject, mapSubschemas, type JsonSchema } from '../schema/json-schema.ts'
import type { Input, Overrides, Place } from './overrides.ts'
import type { PathPart } from './path.ts'
import { hasEmptyDefault } from './query.ts'
import type { SchemaReader } from '../schema/reader.ts'
import { typesOf } from '../schema/types-of.ts'

/** What a tool takes, and where each argument goes. */
export interface ToolInput {
  readonly schema: JsonSchema
  /** The first place of each argument. */
  readonly places: ReadonlyMap<string, Place>
  readonly inputs: readonly Input[]
  /** How the body is made: not at all, of the arguments whose place is the body, or of the argument `body` alone. */
  readonly body: 'none' | 'fields' | 'whole'
}

/** The parts of a route's schema that say what it takes. */
export interface RequestSchemas {
  readonly params?: unknown
  readonly querystring?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly headers?: unknown
  readonly consumes?: readonly string[]
}

/** Settings that change the arguments of a route. */
export interface InputRules {
  /** Which inputs have another name or a fixed value. */
  readonly overrides: Overrides
  /** Whether the route fills in defaults before it checks required properties. */
  readonly fillsDefaults: boolean
}

/**
 * Joins path parameters, query string, body and chosen headers into the arguments of one tool.
 * @param route - the route as named in errors
 * @throws {@link MCP_FROM_ROUTES_NAME_CLASH}, {@link MCP_FROM_ROUTES_UNSUPPORTED_ROUTE},
 *   {@link MCP_FROM_ROUTES_INVALID_SCHEMA}
 */
export function inputFromRoute (
  route: string,
  path: readonly PathPart[],
  schemas: RequestSchemas,
  reader: SchemaReader,
  { overrides, fillsDefaults }: InputRules
): ToolInput {
  const chosen = Object.keys(overrides.headers)
  const headers = chosen.length === 0 ? undefined : schemas.headers
  const parts = partsOfRequest(route, { ...schemas, headers }, reader, fillsDefaults)
  const input = new InputBuilder(route, overrides, parts.definitions)
  input.addAll('path', pathInputs(route, path, parts))
  input.addAll('query', queryInputs(route, parts))
  const body = bodyInputs(parts)
  if (body !== undefined) input.addAll('body', body.flat)
  if (chosen.length > 0) input.addAll('header', headerInputs(route, chosen, parts))
  return input.build(body?.kind ?? 'none')
}

/** The schemas of a request, as read. */
interface RequestParts {
  readonly params: JsonSchema | undefined
  readonly querystring: JsonSchema | undefined
  readonly body: JsonSchema | undefined
  readonly headers: JsonSchema | undefined
  readonly definitions: DefinitionMap
}

function partsOfRequest (
  route: string,
  schemas: RequestSchemas,
  reader: SchemaReader,
  fillsDefaults: boolean
): RequestParts {
  const given = {
    params: schemas.params,
    querystring: schemas.querystring ?? schemas.query,
    body: jsonBody(route, schemas),
    headers: schemas.headers
  }
  const present = Object.entries(given).filter(([, schema]) => schema !== undefined)
  const read = withoutMarked(
    reader.close({
      properties: Object.fromEntries(present.map(([part, schema]) => [part, reader.read(schema, part, 'input')]))
    }),
    'readOnly'
  )
  const whole = fillsDefaults ? withoutFilled(read) : read
  return {
    params: undefined,
    querystring: undefined,
    body: undefined,
    headers: undefined,
    ...whole.properties as object,
    definitions: definitionsOf(whole)
  }
}

const EMPTY: FlatObject = { properties: {}, required: [], dependentRequired: {}, minProperties: 0 }

/** Collects arguments and refuses two of one name. */
class InputBuilder {
  readonly #route: string
  readonly #properties: Record<string, JsonSchema> = {}
  readonly #places = new Map<string, Place>()
  #inputs: readonly Input[] = []
  readonly #overrides: Overrides
  readonly #chosen = new Set<string>()
  readonly #required = new Set<string>()
  #dependentRequired: Record<string, readonly string[]> = {}
  readonly #definitions: DefinitionMap
  #minProperties = 0

  constructor (route: string, overrides: Overrides, definitions: DefinitionMap) {
    this.#route = route
    this.#overrides = overrides
    this.#definitions = definitions
  }

  addAll (place: Place, own: FlatObject): void {
    const { flat, inputs, chosen } = this.#overrides.apply(place, own)
    this.#inputs = [...this.#inputs, ...inputs]
    const known = place === 'header' ? new Set(this.#chosen) : this.#chosen
    for (const name of chosen) this.#chosen.add(name)
    // The merged object has at least so many properties only if everything else in it is certain to be there.
    const least = flat.minProperties - Object.keys(flat.properties).filter((name) => this.#places.has(name)).length
    if (this.#required.size === this.#places.size) this.#minProperties = this.#places.size + least
    for (const [name, schema] of Object.entries(flat.properties)) {
      const taken = this.#places.get(name)
      // A name chosen in config.mcp.arguments means that both inputs get the same value. Each header has a chosen one.
      if (taken !== undefined && !known.has(name)) {
        throw new MCP_FROM_ROUTES_NAME_CLASH(this.#route, name, `${taken} and ${place}`)
      }
      this.#places.set(name, taken ?? place)
      this.#properties[name] = taken === undefined ? schema : both(this.#properties[name] ?? {}, schema)
    }
    for (const name of flat.required) if (this.#places.has(name)) this.#required.add(name)
    this.#dependentRequired = { ...this.#dependentRequired, ...flat.dependentRequired }
  }

  build (body: ToolInput['body']): ToolInput {
    const $defs = Object.fromEntries(this.#definitions)
    const properties = Object.entries(this.#properties).map((
      [name, property]
    ) => [name, notEmpty(property, this.#places.get(name), { $defs }, this.#definitions)])
    const schema = {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...this.#required.size > 0 && { required: [...this.#required] },
      ...Object.keys(this.#dependentRequired).length > 0 && { dependentRequired: this.#dependentRequired },
      ...this.#minProperties > this.#required.size && { minProperties: this.#minProperties },
      additionalProperties: false,
      $defs
    }
    return { schema: compact(schema), places: this.#places, inputs: this.#inputs, body }
  }
}

/** Formats that no empty string has. */
const NEVER_EMPTY = new Set(['date', 'date-time', 'duration', 'email', 'ipv4', 'ipv6', 'time', 'uri', 'uuid'])

/**
 * No call may have an empty path value, which leads to another route, an empty header, which many routes take for none,
 * or an empty array, which no query string holds.
 */
function notEmpty (
  schema: JsonSchema,
  place: Place | undefined,
  root: JsonSchema,
  definitions: DefinitionMap
): JsonSchema {
  const types = typesOf(schema, root)
  const whole = followed(schema, definitions)
  const isOpen = whole.enum === undefined && whole.const === undefined && !NEVER_EMPTY.has(String(whole.format))
  const isLine = place === 'path' || place === 'header'
  if (isLine && (types?.has('string') ?? true) && isOpen) return atLeastOne(schema, whole, 'minLength')
  if (place === 'query' && types?.has('array') && !hasEmptyDefault(whole)) return atLeastOne(schema, whole, 'minItems')
  return schema
}

function atLeastOne (schema: JsonSchema, whole: JsonSchema, keyword: 'minLength' | 'minItems'): JsonSchema {
  return Number(whole[keyword]) >= 1 ? schema : { ...schema, [keyword]: 1 }
}

function pathInputs (route: string, path: readonly PathPart[], { params, definitions }: RequestParts): FlatObject {
  const described = params === undefined ? EMPTY : objectOf(route, followed(params, definitions), 'params')
  const inPath = path.filter((part) => 'param' in part)
  const unknown = Object.keys(described.properties).find((name) => !inPath.some((part) => part.param === name))
  if (unknown !== undefined) {
    throw new MCP_FROM_ROUTES_INVALID_SCHEMA(route, `params describes ${unknown}, which is not in the path`)
  }
  const properties = Object.fromEntries(
    inPath.map((
      { param }
    ) => [
      param,
      Object.hasOwn(described.properties, param) ? described.properties[param] as JsonSchema : { type: 'string' }
    ])
  )
  for (const [name, schema] of Object.entries(properties)) {
    const types = [followed(schema, definitions).type].flat()
    if (types.every((type) => type === 'array' || type === 'object')) {
      throw new MCP_FROM_ROUTES_INVALID_SCHEMA(
        route,
        `the path parameter ${name} is an ${types.join(' or ')}, which has no standard form in a URL`
      )
    }
  }
  return { ...EMPTY, properties, required: inPath.filter((part) => !part.optional).map((part) => part.param) }
}

function queryInputs (route: string, { querystring, definitions }: RequestParts): FlatObject {
  if (querystring === undefined) return EMPTY
  const { additionalProperties, unevaluatedProperties, minProperties, ...schema } = followed(querystring, definitions)
  if (Object.keys(schema).length === 0) return EMPTY
  const flat = objectOf(route, schema, 'querystring')
  const name = unlisted(flat)
  if (name !== undefined) {
    throw new MCP_FROM_ROUTES_INVALID_SCHEMA(
      route,
      `querystring requires ${name}, which is not among its properties. Describe it there`
    )
  }
  return flat
}

/** The arguments of a body: its properties, or `body` if it is no object, or its alternatives do not fit in one. */
function bodyInputs ({ body, definitions }: RequestParts):
  | { readonly flat: FlatObject, readonly kind: 'fields' | 'whole' }
  | undefined
{
  if (body === undefined) return undefined
  const flat = flatBody(followed(body, definitions))
  return flat === undefined
    ? { flat: { ...EMPTY, properties: { body }, required: ['body'] }, kind: 'whole' }
    : { flat, kind: 'fields' }
}

/**
 * The headers that are arguments.
 * @param chosen - their names in lower case
 */
function headerInputs (
  route: string,
  chosen: readonly string[],
  { headers = {}, definitions }: RequestParts
): FlatObject {
  const { additionalProperties, unevaluatedProperties, minProperties, ...schema } = followed(headers, definitions)
  const { properties, required } = Object.keys(schema).length === 0 ? EMPTY : objectOf(route, schema, 'headers')
  const isChosen = (name: string): boolean => chosen.includes(name.toLowerCase())
  const kept = Object.entries(properties).filter(([name]) => isChosen(name))
  for (const [name, property] of kept) {
    const types = [followed(property, definitions).type].flat()
    if (types.every((type) => type === 'array' || type === 'object')) {
      throw new MCP_FROM_ROUTES_INVALID_SCHEMA(
        route,
        `the header ${name} is an ${types.join(' or ')}, and an argument that is a header must be a string`
      )
    }
  }
  return {
    ...EMPTY,
    properties: Object.fromEntries(kept.map(([name, property]) => [name.toLowerCase(), property])),
    required: required.filter(isChosen).map((name) => name.toLowerCase())
  }
}

function objectOf (route: string, schema: JsonSchema, part: string): FlatObject {
  const flat = flatObject(schema)
  if (flat === undefined) {
    throw new MCP_FROM_ROUTES_INVALID_SCHEMA(route, `${part} is not an object with a fixed list of properties`)
  }
  return flat
}

/** @param why - such as `it takes a file upload` */
export function unsupportedBody (route: string, why: string): Error {
  return new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(route, `${why}. Do not publish it, or offer a JSON body`)
}

/** The schema of the JSON body, if the route takes a body. */
function jsonBody (route: string, { body, consumes }: RequestSchemas): unknown {
  if (consumes !== undefined && consumes.length > 0 && !consumes.some(isJson)) {
    throw unsupportedBody(route, `it takes ${consumes.join(', ')}`)
  }
  if (body === null) return undefined
  if (isObject(body) && isObject(body.content)) {
    const types = Object.keys(body.content)
    const json = types.find(isJson)
    if (json === undefined) throw unsupportedBody(route, `it takes ${types.join(', ')}`)
    return Reflect.get(Object(body.content[json]), 'schema')
  }
  return body
}

function isJson (mediaType: string): boolean {
  return /^(application\/json|\*\/\*|application\/\*)\s*(;|$)/i.test(mediaType)
}

/**
 * Whether a schema has a file: @fastify/multipart describes those with `isFile: true`, from which its `ajvFilePlugin`
 * makes `format: 'binary'` before tools are read.
 */
export function mentionsFile (schema: JsonSchema): boolean {
  let found = schema.isFile === true || schema.format === 'binary'
  mapSubschemas(schema, (sub) => {
    found ||= isObject(sub) && mentionsFile(sub)
  })
  return found
}
