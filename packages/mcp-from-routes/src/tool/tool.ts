import { MCP_FROM_ROUTES_UNSUPPORTED_ROUTE } from '../errors.ts'
import type { ExposedRoute, ListedTool, Part, Parts, Source, Tool, ToolRequest } from '../model.ts'
import { openOutcome, openRepeat, REPEATS } from '../call/status.ts'
import { IDENTITY, NEVER_FORWARDED } from '../call/headers.ts'
import type { Settings } from '../settings.ts'
import type { Era, McpTool, ToolDefinition } from '../types.ts'

import type { Beside } from './beside.ts'
import { constraintHeaders, VERSION_HEADER } from './constraints.ts'
import { definitionFrom, wordsOf } from './definition.ts'
import { formerNames } from './former.ts'
import { optIn, reasonAgainst } from './header-arguments.ts'
import { definitionsOf, followed } from '../schema/shared.ts'
import { impliableArguments } from './implied.ts'
import { inputFromRoute, mentionsFile, type ToolInput, unsupportedBody } from './input.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { beginOf, joined } from './parts.ts'
import { mirroredArguments, withoutHeaders } from './mirrored.ts'
import {
  declaredFromRoute,
  declaresStream,
  jsonFromRoute,
  outputFromRoute,
  withoutPatterns,
  withoutUnknown,
  type ToolOutput
} from './output.ts'
import { Overrides } from './overrides.ts'
import { partsFromPath } from './path.ts'
import { plansOf } from '../schema/plan.ts'
import { PLAIN_PARSER, queryProblem, queryShape, scalarProblem, type QueryShape } from './query.ts'
import { refResolver, type RefResolver } from '../schema/refs.ts'
import { schemaReader, type SchemaReader } from '../schema/reader.ts'
import { outputDetail, outputTrimmer } from './trim.ts'

/** The options that decide what a tool looks like. */
export type ToolOptions =
  & Pick<Settings, 'exposedTag' | 'forwardHeaders' | 'maxResultBytes'>
  & Partial<
    Pick<
      Settings,
      | 'ignoredArguments'
      | 'impliedArguments'
      | 'jsonQuery'
      | 'output'
      | 'resultHeaders'
      | 'toJsonSchema'
      | 'trustSerializer'
    >
  >

/** Headers every inner request has anyway. */
const ALWAYS_SENT = new Set(['accept', 'content-length', 'content-type', 'host', 'user-agent'])

/** How the route's schemas are read, and what is done to each while it is still in the draft it was written in. */
type ReaderOf = (prepare?: (part: JsonSchema) => JsonSchema) => SchemaReader

/** What extensions add to a tool. */
export type Extend = (source: Source) => readonly Part[]

/** What of a route extensions cannot see by itself. */
export interface Surroundings {
  readonly extend: Extend
  readonly published: Source['published']
}

const ALONE: Surroundings = { extend: () => [], published: new Map() }

/**
 * Turns a published route into a tool.
 * @throws one of the errors in errors.ts, naming the route, when it cannot be a tool
 */
export function toolFromRoute (
  route: ExposedRoute,
  options: ToolOptions,
  resolver: RefResolver = refResolver(route.shared),
  { extend, published }: Surroundings = ALONE
): Tool {
  const { url, schema, config, constraints: { host }, attachValidation = false } = route
  const method = methodOf(route)
  const label = `${method} ${url}`
  const words = wordsOf(label, route, options.exposedTag)
  const formerly = formerNames(label, words.name, config.mcp?.formerly)
  checkRoute(label, route)
  const readerOf: ReaderOf = (prepare) => schemaReader(label, resolver, prepare, options.toJsonSchema)
  const request = requestOf(label, route, options, readerOf)
  const { input } = request
  const implied = Object.freeze(impliableArguments(input, Object.keys(options.impliedArguments ?? {})))
  const json = (): JsonSchema | undefined => jsonFromRoute(schema.response, readerOf(withoutPatterns))
  const parts = extend({
    label,
    method,
    schema,
    config,
    attachValidation,
    input,
    implied,
    parts: [],
    json,
    published
  })
  const part = joined(parts)
  const beside: Beside[] = [
    ...options.resultHeaders?.length ? ['headers' as const] : [],
    ...formerly.length > 0 ? ['notice' as const] : []
  ]
  const { declared, whole, ...result } = resultOf(label, route, options, readerOf, { parts, beside })
  const definition = definitionFrom(label, method, words, route, { ...result, input, part }, options)
  return {
    public: Object.freeze({
      ...definition,
      ...implied.length > 0 && { implied },
      ...formerly.length > 0 && { formerly },
      ...schema.deprecated === true && { deprecated: true as const },
      ...Object.assign({}, ...parts.map(({ facts }) => facts)) as object,
      route: publicRoute({ method, url, tags: schema.tags ?? [], schema, config }, declared, whole)
    }),
    label,
    request,
    ...result,
    mirrored: mirroredArguments(label, definition.inputSchema),
    isForOneHost: host !== undefined,
    inject: config.mcp?.loopback === 'inject',
    open: openOutcome(definition.annotations.readOnlyHint),
    repeat: definition.annotations.readOnlyHint ? undefined : repeatOf(input),
    part,
    begin: beginOf(part)
  }
}

/** What the route takes, and how a call becomes a request to it. */
function requestOf (label: string, route: ExposedRoute, options: ToolOptions, readerOf: ReaderOf): ToolRequest {
  const {
    url,
    schema,
    config,
    fillsDefaults = false,
    queryParser = PLAIN_PARSER,
    bodyTypes = { coerces: false, drops: false }
  } = route
  const path = partsFromPath(url)
  if (typeof path === 'string') throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(label, path)
  const overrides = new Overrides(label, config.mcp?.arguments)
  const isForwarded = (name: string): boolean => options.forwardHeaders.includes(name)
  const isLeft = (name: string): boolean => name === VERSION_HEADER || !NEVER_FORWARDED.test(name)
  const fixed = overrides.fixedHeaders((name) => isLeft(name) && !isForwarded(name))
  const varies = (name: string): boolean => name === 'host' || IDENTITY.has(name) || isForwarded(name)
  const { constraints, strategies } = route
  const constrained = { label, method: methodOf(route), url, constraints, headers: fixed, varies, strategies }
  const routing = constraintHeaders(constrained)
  const headers = { ...routing, ...fixed }
  const reason = (name: string): string | undefined => reasonAgainst(name, options.forwardHeaders, routing)
  overrides.checkHeaders(reason)
  const isSent = (name: string): boolean =>
    ALWAYS_SENT.has(name) || isForwarded(name) || [headers, overrides.headers].some((own) => Object.hasOwn(own, name))
  checkRequiredHeaders(label, schema.headers, readerOf(withoutPatterns), isSent, reason)
  const input = inputFromRoute(
    label,
    path,
    schema,
    readerOf((part) => {
      if (mentionsFile(part)) throw unsupportedBody(label, 'it takes a file upload')
      return part
    }),
    { overrides, fillsDefaults }
  )
  return {
    path,
    headers,
    input,
    plans: plansOf(input.schema),
    required: new Set(Array.isArray(input.schema.required) ? input.schema.required.map(String) : []),
    bodyReading: { ...bodyTypes, tooDeep: 'The arguments are nested too deeply' },
    ignored: ignoredArguments(input, options.ignoredArguments ?? []),
    shapes: queryShapes(label, input, route, options),
    queryParser,
    hasUnions: /"(?:anyOf|oneOf)":/.test(JSON.stringify(input.schema))
  }
}

/** What the route returns, as far as the tool promises it, and what its schemas declare beyond that. */
function resultOf (
  label: string,
  { schema: { response }, config: { mcp }, keepsToSchema }: ExposedRoute,
  options: ToolOptions,
  readerOf: ReaderOf,
  { parts, beside }: { readonly parts: readonly Part[], readonly beside: readonly Beside[] }
) {
  // A trusted serializer checks what Fastify's does not.
  const reader = readerOf((part) =>
    options.trustSerializer ? withoutPatterns(part) : withoutUnknown(withoutPatterns(part))
  )
  const detail = outputDetail(label, mcp?.output, options.output)
  const outputs = parts.flatMap(({ output }) => output ?? [])
  const changes = outputs.filter((output) => output !== false)
  const outputOf = (keep: (part: JsonSchema) => JsonSchema): ToolOutput | undefined => {
    if (!keepsToSchema || detail === false || outputs.includes(false)) return undefined
    const trim = outputTrimmer(label, detail)
    return outputFromRoute(response, reader, (part) => keep(trim(part)), beside)
  }
  const output = outputOf((part) => changes.reduce((schema, change) => change(schema), part))
  return {
    output,
    streams: declaresStream(response),
    declared: () => declared(response, readerOf, output),
    whole: () => changes.length === 0 ? undefined : outputOf((part) => part)?.schema
  }
}

function repeatOf ({ inputs }: ToolInput): Tool['repeat'] {
  const key = inputs.find(({ place, name }) => place === 'header' && REPEATS.includes(name))
  return key?.argument === undefined ? undefined : { header: key.name, open: openRepeat(key.argument) }
}

/** Cursor sends this to tools without arguments, and to no other. */
const WITHOUT_ARGUMENTS = 'random_string'

function ignoredArguments ({ places }: ToolInput, names: readonly string[]): ReadonlySet<string> {
  return new Set(names.filter((name) => !places.has(name) && (name !== WITHOUT_ARGUMENTS || places.size === 0)))
}

/** Few ever ask for the declaration, so it is derived for those who do. */
function publicRoute (
  route: Omit<McpTool['route'], 'output' | 'whole'>,
  output: () => JsonSchema | undefined,
  whole: () => JsonSchema | undefined
): McpTool['route'] {
  return Object.freeze(
    Object.defineProperties(route, { output: { get: output }, whole: { get: whole } }) as McpTool['route']
  )
}

/** Patterns are left out where one of them has no meaning in a published schema. */
function declared (
  response: unknown,
  readerOf: ReaderOf,
  output: ToolOutput | undefined
): JsonSchema | undefined {
  try {
    return declaredFromRoute(response, readerOf(), output)
  } catch {
    return declaredFromRoute(response, readerOf(withoutPatterns), output)
  }
}

/**
 * The tool as `tools/list` shows it. Before revision 2026-07-28, clients know of no headers that repeat arguments.
 */
export function definitionOf (
  { mirrored, part, public: { route, implied, formerly, deprecated, ...shown } }: ListedTool,
  era: Era
): ToolDefinition {
  const definition: ToolDefinition = part === undefined || part.all.length === 0 ? shown : withoutFacts(shown, part)
  if (era === 'modern') return definition
  const inputSchema = mirrored.length === 0 ? definition.inputSchema : withoutHeaders(definition.inputSchema)
  return Object.assign({ ...definition, inputSchema }, ...part?.all.map(({ legacy }) => legacy) ?? [])
}

function withoutFacts (shown: ToolDefinition, { all }: Parts): ToolDefinition {
  const facts = new Set(all.flatMap(({ facts = {} }) => Object.keys(facts)))
  return Object.fromEntries(Object.entries(shown).filter(([name]) => !facts.has(name))) as unknown as ToolDefinition
}

function methodOf ({ method, url }: ExposedRoute): string {
  const methods = [method].flat().filter((name) => name !== 'HEAD' && name !== 'OPTIONS')
  const [only] = methods
  if (only === undefined || methods.length > 1) {
    throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(
      `${methods.join(',')} ${url}`,
      'it has several methods. Register each as a route with its own operationId'
    )
  }
  return only
}

function checkRoute (label: string, { config, constraints, websocket }: ExposedRoute): void {
  if (config.mcp?.hijack || websocket) {
    throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(
      label,
      'it takes the connection over, so there is no response to return. Do not publish it'
    )
  }
  if (config.rawBody) {
    throw unsupportedBody(label, 'it checks the bytes of its body, which an agent cannot sign')
  }
  const ownConstraint = Object.keys(constraints).find((name) => name !== 'host' && name !== 'version')
  if (ownConstraint !== undefined) {
    throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(
      label,
      `it has the custom constraint ${ownConstraint}, which a tool call cannot meet. Do not publish it, or ` +
        'remove the constraint'
    )
  }
}

/**
 * A header the route requires and the plugin never sends would make every call fail.
 * @param reason - what keeps a header from being an argument
 */
function checkRequiredHeaders (
  label: string,
  headers: unknown,
  reader: SchemaReader,
  isSent: (name: string) => boolean,
  reason: (name: string) => string | undefined
): void {
  if (headers === undefined) return
  const { required } = followed(reader.read(headers, 'headers', 'input'), reader.definitions())
  for (const name of Array.isArray(required) ? required.map((item) => String(item).toLowerCase()) : []) {
    if (isSent(name)) continue
    throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(
      label,
      `it requires the header ${name}. Add it to forwardHeaders, or give it a value in config.mcp.arguments.headers` +
        `${reason(name) === undefined ? `, or make it an argument: ${optIn(name)}` : ''}`
    )
  }
}

/** The shapes of the query arguments, all of which arrive. */
function queryShapes (
  label: string,
  { inputs, schema }: ToolInput,
  { queryParser = PLAIN_PARSER, accepts }: ExposedRoute,
  { jsonQuery = false }: ToolOptions
): ReadonlyMap<string, QueryShape> {
  const shapes = new Map<string, QueryShape>()
  const definitions = definitionsOf(schema)
  for (const { place, name, argument } of inputs) {
    if (place === 'body' || argument === undefined) continue
    const shape = queryShape(
      followed(Reflect.get(Object(schema.properties), argument) as JsonSchema, definitions),
      schema
    )
    const takes = accepts?.[place](name) ?? (() => undefined)
    if (place !== 'query') {
      const problem = scalarProblem(shape.types, takes)
      if (problem !== undefined) {
        throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(
          label,
          `its ${place === 'path' ? 'path parameter' : 'header'} ${name} ${problem}`
        )
      }
      continue
    }
    const problem = queryProblem(shape, queryParser, takes, jsonQuery)
    if (problem !== undefined) {
      throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(label, `its query argument ${name} ${problem}`)
    }
    shapes.set(name, shape)
  }
  return shapes
}

export type { ExposedRoute, ListedTool, Tool } from '../model.ts'
