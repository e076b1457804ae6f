import type { FastifyContextConfig, FastifySchema } from 'fastify'
import { confirmRule, type ConfirmRule } from '../extensions/confirm/rule.ts'
import {
  MCP_FROM_ROUTES_UNSUPPORTED_BODY,
  MCP_FROM_ROUTES_UNSUPPORTED_QUERY,
  MCP_FROM_ROUTES_UNSUPPORTED_ROUTE
} from '../errors.ts'
import { IDENTITY, NEVER_FORWARDED, type Settings } from '../settings.ts'
import { taskConfig, type TaskConfig } from '../extensions/tasks/config.ts'
import { resourceRule, type ResourceRule } from '../extensions/resources/config.ts'
import type { Era, McpTool, ToolDefinition } from '../types.ts'
import type { ToolUi } from '../extensions/views/view.ts'
import { constraintHeaders, VERSION_HEADER, type Strategies } from './constraints.ts'
import { definitionFrom, wordsOf } from './definition.ts'
import { definitionsOf, followed } from '../schema/shared.ts'
import { fieldsRule, withOptionalFields, type FieldsRule } from '../extensions/fields/rule.ts'
import { impliableArguments } from './implied.ts'
import { inputFromRoute, mentionsFile, type ToolInput } from './input.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { mirroredArguments, withoutHeaders, type MirroredArgument } from './mirrored.ts'
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
import { partsFromPath, type UrlPart } from './path.ts'
import { plansOf, type Plan } from '../schema/plan.ts'
import type { BodyTypes, UrlAcceptance } from './probe.ts'
import { PLAIN_PARSER, queryProblem, queryShape, scalarProblem, type QueryParser, type QueryShape } from './query.ts'
import { refResolver, type RefResolver } from '../schema/refs.ts'
import { schemaReader, type SchemaReader } from '../schema/reader.ts'
import { outputDetail, outputTrimmer } from './trim.ts'

/** A tool, with everything needed to call it. */
export interface Tool {
  readonly public: McpTool
  readonly path: readonly UrlPart[]
  readonly input: ToolInput
  /** What the schemas of the arguments say of their types, by name. */
  readonly plans: ReadonlyMap<string, Plan>
  /** Names of the arguments that every call has to pass. */
  readonly required: ReadonlySet<string>
  /** How arguments of the body are read. */
  readonly bodyReading: BodyTypes & { readonly tooDeep: string }
  /** Names that clients add for themselves, and no argument of the tool. */
  readonly ignored: ReadonlySet<string>
  /** What the schemas of the query arguments say of their shapes, by their names in the route. */
  readonly shapes: ReadonlyMap<string, QueryShape>
  readonly queryParser: QueryParser
  /** Headers that every call sends. */
  readonly headers: Readonly<Record<string, string>>
  readonly output: ToolOutput | undefined
  /** What the argument `fields` takes; undefined for a tool without it. */
  readonly fields: FieldsRule | undefined
  /** The arguments that clients repeat in headers. */
  readonly mirrored: readonly MirroredArgument[]
  /** Whether the route has a host constraint. */
  readonly isForOneHost: boolean
  /** Whether calls go through light-my-request. */
  readonly inject: boolean
  /** What a person is asked before a call runs. */
  readonly confirm: ConfirmRule | undefined
  /** How to follow the work that a call starts; undefined for a tool that finishes its work before it responds. */
  readonly task: TaskConfig | undefined
  /** What makes the route a resource; undefined if it is none. */
  readonly resource: ResourceRule | undefined
  /** What it says of its view and of who calls it. */
  readonly ui: ToolUi | undefined
  /** Whether the route declares a streamed response, whose pieces are progress. */
  readonly streams: boolean
  /** Whether an argument has alternatives, of which a validator that converts takes the first that it can. */
  readonly hasUnions: boolean
}

/** A tool, as far as it is listed. */
export interface ListedTool {
  readonly public: ToolDefinition & Partial<Pick<McpTool, 'route' | 'implied' | 'confirm'>>
  readonly mirrored: Tool['mirrored']
}

/** The part of a registered route that the plugin keeps. */
export interface ExposedRoute {
  readonly method: string | readonly string[]
  readonly url: string
  readonly schema: FastifySchema
  /** The name of its tool. Default is the `operationId`. */
  readonly name?: string
  readonly config: FastifyContextConfig & { readonly rawBody?: unknown }
  readonly constraints: Readonly<Record<string, unknown>>
  /** Default is Fastify's own for each constraint. */
  readonly strategies?: Strategies
  readonly websocket: boolean
  /** What the tool says of its view. Default is nothing. */
  readonly ui?: ToolUi | undefined
  /** Whether the handler gets calls that validation refuses. Default is false. */
  readonly attachValidation?: boolean
  /** Whether the serializer guarantees that responses match their schemas. */
  readonly keepsToSchema: boolean
  /** Whether defaults are filled in before the route looks for what is required. Default is false. */
  readonly fillsDefaults?: boolean
  /** The schemas the route can refer to. */
  readonly shared: Readonly<Record<string, unknown>>
  /** Default is one that reads as Fastify's own. */
  readonly queryParser?: QueryParser
  /** What the route's validator accepts for an argument in the URL. Unknown by default. */
  readonly accepts?: { readonly path: UrlAcceptance, readonly query: UrlAcceptance }
  /** What the route's validator makes of a body that is not as its schema says. Default: it refuses it. */
  readonly bodyTypes?: BodyTypes
}

/** The options that decide what a tool looks like. */
export type ToolOptions =
  & Pick<Settings, 'exposedTag' | 'largeTag' | 'forwardHeaders' | 'maxResultBytes'>
  & Partial<
    Pick<
      Settings,
      | 'confirmFallback'
      | 'fields'
      | 'ignoredArguments'
      | 'impliedArguments'
      | 'jsonQuery'
      | 'output'
      | 'toJsonSchema'
      | 'trustSerializer'
    >
  >

/** Headers every inner request has anyway. */
const ALWAYS_SENT = new Set(['accept', 'content-length', 'content-type', 'host', 'user-agent'])

/** How the route's schemas are read, and what is done to each while it is still in the draft it was written in. */
type ReaderOf = (prepare?: (part: JsonSchema) => JsonSchema) => SchemaReader

/**
 * Turns a tagged route into a tool.
 * @throws one of the errors in errors.ts, naming the route, when it cannot be a tool
 */
export function toolFromRoute (
  route: ExposedRoute,
  options: ToolOptions,
  resolver: RefResolver = refResolver(route.shared)
): Tool {
  const { url, schema, config, constraints: { host }, ui } = route
  const method = methodOf(route)
  const label = `${method} ${url}`
  const words = wordsOf(label, route, options.exposedTag)
  checkRoute(label, route)
  const readerOf: ReaderOf = (prepare) => schemaReader(label, resolver, prepare, options.toJsonSchema)
  const request = requestOf(label, route, options, readerOf)
  const { input } = request
  const { declared, whole, ...result } = resultOf(label, route, options, readerOf, input)
  const confirm = confirmRule(
    label,
    config.mcp?.confirm,
    route.attachValidation ?? false,
    options.confirmFallback ?? 'refuse'
  )
  const definition = definitionFrom(label, method, words, route, { ...result, input, confirm }, options)
  const implied = Object.freeze(impliableArguments(input, Object.keys(options.impliedArguments ?? {})))
  return {
    public: Object.freeze({
      ...definition,
      ...implied.length > 0 && { implied },
      ...confirm && { confirm: confirm.fallback },
      route: publicRoute({ method, url, tags: schema.tags ?? [], schema, config }, declared, whole)
    }),
    ...request,
    ...result,
    mirrored: mirroredArguments(label, definition.inputSchema),
    isForOneHost: host !== undefined,
    inject: config.mcp?.loopback === 'inject',
    confirm,
    resource: resourceRule({ label, method, schema, mcp: config.mcp, input, implied }),
    ui
  }
}

/** What the route takes, and how a call becomes a request to it. */
function requestOf (label: string, route: ExposedRoute, options: ToolOptions, readerOf: ReaderOf) {
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
  const fixed = overrides.headers((name) => isLeft(name) && !isForwarded(name))
  const varies = (name: string): boolean => name === 'host' || IDENTITY.has(name) || isForwarded(name)
  const { constraints, strategies } = route
  const constrained = { label, method: methodOf(route), url, constraints, headers: fixed, varies, strategies }
  const headers = { ...constraintHeaders(constrained), ...fixed }
  checkHeaders(label, schema.headers, readerOf(withoutPatterns), options, headers)
  const input = inputFromRoute(
    label,
    path,
    schema,
    readerOf((part) => {
      if (mentionsFile(part)) throw new MCP_FROM_ROUTES_UNSUPPORTED_BODY(label, 'it takes a file upload')
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
  input: ToolInput
) {
  // A trusted serializer checks what Fastify's does not.
  const reader = readerOf((part) =>
    options.trustSerializer ? withoutPatterns(part) : withoutUnknown(withoutPatterns(part))
  )
  const detail = outputDetail(label, mcp?.output, options.output)
  const task = taskConfig(label, mcp?.task)
  // The result of work comes later, and from another route.
  const fields = fieldsRule(
    label,
    mcp?.fields,
    options.fields ?? false,
    input,
    () => task === undefined ? jsonFromRoute(response, readerOf(withoutPatterns)) : undefined
  )
  const outputOf = (keep: (part: JsonSchema) => JsonSchema): ToolOutput | undefined => {
    if (!keepsToSchema || detail === false || task !== undefined) return undefined
    const trim = outputTrimmer(label, detail)
    return outputFromRoute(response, reader, (part) => keep(trim(part)))
  }
  const output = outputOf((part) => fields === undefined ? part : withOptionalFields(part, fields))
  return {
    output,
    fields,
    task,
    streams: declaresStream(response),
    declared: () => declared(response, readerOf, output?.wrapped ?? false),
    whole: () => fields === undefined ? undefined : outputOf((part) => part)?.schema
  }
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
function declared (response: unknown, readerOf: ReaderOf, wrapped: boolean): JsonSchema | undefined {
  try {
    return declaredFromRoute(response, readerOf(), wrapped)
  } catch {
    return declaredFromRoute(response, readerOf(withoutPatterns), wrapped)
  }
}

/**
 * The tool as `tools/list` shows it. In revision 2026-07-28, tools do not say whether they start tasks; before it,
 * clients know of no headers that repeat arguments.
 */
export function definitionOf (
  { mirrored, public: { route, implied, confirm, execution, ...definition } }: ListedTool,
  era: Era
): ToolDefinition {
  if (era === 'modern') return definition
  const inputSchema = mirrored.length === 0 ? definition.inputSchema : withoutHeaders(definition.inputSchema)
  return { ...definition, inputSchema, ...execution !== undefined && { execution } }
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
    throw new MCP_FROM_ROUTES_UNSUPPORTED_BODY(label, 'it checks the bytes of its body, which an agent cannot sign')
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

/** A header the route requires and the plugin never sends would make every call fail. */
function checkHeaders (
  label: string,
  headers: unknown,
  reader: SchemaReader,
  options: ToolOptions,
  fixed: Readonly<Record<string, string>>
): void {
  if (headers === undefined) return
  const { required } = followed(reader.read(headers, 'headers', 'input'), reader.definitions())
  for (const name of Array.isArray(required) ? required.map((item) => String(item).toLowerCase()) : []) {
    if (!ALWAYS_SENT.has(name) && !options.forwardHeaders.includes(name) && !Object.hasOwn(fixed, name)) {
      throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(
        label,
        `it requires the header ${name}. Add it to forwardHeaders, or give it a value in config.mcp.arguments.headers`
      )
    }
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
    if (place === 'path') {
      const problem = scalarProblem(shape.types, takes)
      if (problem !== undefined) {
        throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(label, `its path parameter ${name} ${problem}`)
      }
      continue
    }
    const problem = queryProblem(shape, queryParser, takes, jsonQuery)
    if (problem !== undefined) throw new MCP_FROM_ROUTES_UNSUPPORTED_QUERY(label, name, problem)
    shapes.set(name, shape)
  }
  return shapes
}
