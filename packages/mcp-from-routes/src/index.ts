import type { FastifyError, FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { toolCaller } from './call/call.ts'
import { routesSoFar } from './tool/earlier.ts'
import { mountEndpoint } from './endpoint/endpoint.ts'
import {
  MCP_FROM_ROUTES_BAD_ROUTES, MCP_FROM_ROUTES_DUPLICATE_NAME, MCP_FROM_ROUTES_REGISTERED_IN_SCOPE, MCP_FROM_ROUTES_REGISTERED_LATE,
  MCP_FROM_ROUTES_UNSUPPORTED_ROUTE, MCP_FROM_ROUTES_UNSUPPORTED_VERSION
} from './errors.ts'
import { guardCalls, markRoute } from './call/guard.ts'
import type { Mark } from './call/guard.ts'
import { policyWarning } from './tool/key-policy.ts'
import { checkLoopback } from './call/loopback.ts'
import { settingsFromOptions } from './options.ts'
import type { McpFromRoutesOptions, Settings } from './options.ts'
import { parentOf } from './parent.ts'
import { probesOf } from './tool/probe.ts'
import type { Probes } from './tool/probe.ts'
import { queryParser } from './tool/query.ts'
import type { QueryParser } from './tool/query.ts'
import { refResolver } from './tool/refs.ts'
import type { RefResolver } from './tool/refs.ts'
import { served } from './endpoint/served.ts'
import { toolFromRoute } from './tool/tool.ts'
import type { ExposedRoute, McpRouteConfig, McpTool, Tool } from './tool/tool.ts'

export * from './errors.ts'
export type { ToolCallEvent } from './call/call.ts'
export { PARENT_REQUEST } from './parent.ts'
export type { McpFromRoutesOptions, ServerInfo } from './options.ts'
export type { ArgumentOverride, ArgumentOverrides } from './tool/overrides.ts'
export type { McpRouteConfig, McpTool, ToolAnnotations, ToolDefinition } from './tool/tool.ts'
export type { JsonSchema } from './tool/json-schema.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The tools, sorted by name and frozen. Empty until the application is ready. */
    readonly mcpTools: readonly McpTool[]
  }
  interface FastifyContextConfig {
    /** What the tool of this route should say beyond the route's schema. */
    mcp?: McpRouteConfig
  }
  // The same as @fastify/swagger declares, so that both can be installed.
  interface FastifySchema {
    hide?: boolean
    tags?: readonly string[]
    description?: string
    summary?: string
    consumes?: readonly string[]
    operationId?: string
  }
}

async function mcpFromRoutes (app: FastifyInstance, options: McpFromRoutesOptions): Promise<void> {
  const settings = settingsFromOptions(options)
  // Fastify makes the instance of a scope from the one around it.
  if (Object.getPrototypeOf(app) !== Object.prototype) throw new MCP_FROM_ROUTES_REGISTERED_IN_SCOPE()
  checkLoopback()
  const earlier = routesSoFar(app)
  const probes = probesOf(app)
  const candidates: Candidate[] = []
  const nearlyTagged: string[] = []
  let endpoint: RouteOptions | undefined
  let tools: ReadonlyMap<string, Tool> = new Map()
  let list: readonly McpTool[] = Object.freeze([])

  app.decorate('mcpTools', { getter: () => list })
  app.addHook('onRoute', function (route) {
    // Fastify goes on to use the same object for the twin with a slash at the end.
    const { url } = route
    if (url === settings.path && [route.method].flat().includes('POST')) endpoint = route
    const mark = isExposed(route, settings) ? {} : undefined
    const isMarked = markRoute(route, mark)
    if (mark !== undefined) candidates.push({ scope: this, label: labelOf(route), url, route, mark, isMarked })
    else if (hasTagLike(route, settings)) nearlyTagged.push(labelOf(route))
  })
  guardCalls(app)
  shareRequestIds(app)
  mountEndpoint(app, served(settings, () => tools, toolCaller(app, settings)))
  app.addHook('onReady', async () => {
    warnOf({ nearlyTagged, routes: candidates.length }, app, settings)
    const mismatch = settings.canUse === undefined ? policyWarning(endpoint, candidates.map(({ label, route }) => [label, route])) : undefined
    if (mismatch !== undefined) app.log.warn({ tools: mismatch.tools }, mismatch.message)
    const late = earlier?.filter((route) => isExposed(route, settings)).map(labelOf) ?? []
    if (late.length > 0) throw new MCP_FROM_ROUTES_REGISTERED_LATE(late.join(', '))
    if (earlier === undefined) app.log.info('mcp-from-routes was imported after Fastify() ran: routes registered before the plugin are not tools, even if tagged')
    tools = toolsFromRoutes(candidates, probes, queryParserOf(app, settings), settings)
    list = Object.freeze([...tools.values()].map((tool) => tool.public))
  })
}

/** A tagged route. Its schemas are read when the application is ready: they may be added or completed later. */
interface Candidate {
  readonly scope: FastifyInstance
  readonly label: string
  readonly url: string
  readonly route: RouteOptions
  readonly mark: Mark
  readonly isMarked: () => boolean
}

/**
 * The tools by name, in the order of their names.
 * @throws what is wrong with the routes that cannot be tools
 */
function toolsFromRoutes (candidates: readonly Candidate[], probes: Probes, parser: QueryParser, settings: Settings): ReadonlyMap<string, Tool> {
  const resolverOf = sharedResolvers()
  const tools = new Map<string, Tool>()
  const errors: FastifyError[] = []
  for (const candidate of candidates) {
    try {
      const route = exposedRoute(candidate, probes, parser, settings)
      const tool = toolFromRoute(route, settings, resolverOf(route.shared))
      const { name } = tool.public
      const other = tools.get(name)
      if (other !== undefined) throw new MCP_FROM_ROUTES_DUPLICATE_NAME(nameOf(other.public.route), nameOf(tool.public.route), name)
      if (!candidate.isMarked()) throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(candidate.label, 'an onRoute hook replaced its config. Let the hook keep what is there: route.config = { ...route.config, … }')
      candidate.mark.tool = tool
      tools.set(name, tool)
    } catch (error) {
      // Anything else is a defect.
      if (!isOwnError(error)) throw error
      errors.push(error)
    }
  }
  if (errors.length > 0) throw joined(errors)
  return new Map([...tools].sort(([a], [b]) => a < b ? -1 : 1))
}

function isOwnError (error: unknown): error is FastifyError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('MCP_FROM_ROUTES_')
}

/** One error as it is; several as one that lists them, so that all can be mended at once. */
function joined (errors: readonly FastifyError[]): Error {
  const [first] = errors
  if (first !== undefined && errors.length === 1) return first
  const lines = errors.map(({ code, message }) => `- ${message} (${code})`)
  return Object.assign(new MCP_FROM_ROUTES_BAD_ROUTES(errors.length, lines.join('\n')), { errors })
}

/** What is no mistake for sure, but looks like one. */
function warnOf ({ nearlyTagged, routes }: { readonly nearlyTagged: readonly string[], readonly routes: number }, app: FastifyInstance, { exposedTag }: Settings): void {
  if (nearlyTagged.length > 0) app.log.warn({ routes: nearlyTagged }, `no tools: their tag differs from "${exposedTag}" in upper and lower case`)
  if (routes === 0) app.log.warn(`the MCP endpoint has no tools: no route is tagged "${exposedTag}"`)
}

function isExposed ({ method, schema }: { readonly method: RouteOptions['method'], readonly schema?: FastifySchema }, { exposedTag }: Settings): boolean {
  return method !== 'HEAD' && method !== 'OPTIONS' && (schema?.tags?.includes(exposedTag) ?? false)
}

/** Whether a tag is the right one but for its case. */
function hasTagLike (route: RouteOptions, { exposedTag }: Settings): boolean {
  return route.method !== 'HEAD' && (route.schema?.tags?.some((tag) => tag.toLowerCase() === exposedTag.toLowerCase()) ?? false)
}

function exposedRoute ({ scope, url, route }: Candidate, probes: Probes, queryParser: QueryParser, settings: Settings): ExposedRoute {
  const { querystring, query } = (route.schema ?? {}) as { querystring?: unknown, query?: unknown }
  const validator = route.validatorCompiler ?? scope.validatorCompiler
  return {
    method: route.method,
    url,
    schema: route.schema as FastifySchema,
    config: (route.config ?? {}) as ExposedRoute['config'],
    constraints: route.constraints ?? {},
    websocket: Reflect.get(route, 'websocket') === true,
    shared: scope.getSchemas(),
    keepsToSchema: settings.trustSerializer || probes.keepsToSchema(route.serializerCompiler ?? scope.serializerCompiler, scope),
    fillsDefaults: probes.fillsDefaults(validator),
    queryParser,
    // With attachValidation the handler decides, whatever the validator says.
    ...route.attachValidation !== true && { accepts: probes.queryAcceptance(querystring ?? query, validator) }
  }
}

/** Reads query strings as the router does, which has the host's `querystringParser`. */
function queryParserOf (app: FastifyInstance, { path }: Settings): QueryParser {
  return queryParser((query) => {
    const found = Reflect.get(Object(app.findRoute({ method: 'POST', url: `${path}?${query}`, constraints: {} })), 'searchParams')
    if (typeof found !== 'object' || found === null) throw new MCP_FROM_ROUTES_UNSUPPORTED_VERSION('Fastify', 'findRoute does not return the searchParams')
    return found as Record<string, unknown>
  })
}

/**
 * An inner request has the id of its outer one, so that the host's logs show one call as one. Fastify generates none
 * where the header `requestIdHeader` is forwarded: then both have the id in it.
 */
function shareRequestIds (app: FastifyInstance): void {
  // Fastify has a getter for it, but no type.
  const generate: unknown = Reflect.get(app, 'genReqId')
  if (typeof generate !== 'function') throw new MCP_FROM_ROUTES_UNSUPPORTED_VERSION('Fastify', 'it has no genReqId')
  const set = app.setGenReqId
  // The host, or a plugin of its own, may set another one later.
  app.setGenReqId = function (generate) {
    return set.call(this, (raw) => parentOf(raw)?.id ?? generate(raw))
  }
  app.setGenReqId(generate as Parameters<typeof set>[0])
}

function labelOf ({ method, url }: Pick<RouteOptions, 'method' | 'url'>): string {
  return `${[method].flat().join(',')} ${url}`
}

function nameOf ({ method, url }: McpTool['route']): string {
  return `${method} ${url}`
}

/** One resolver for all routes that see the same shared schemas: reading those takes longer than one route does. */
function sharedResolvers (): (shared: Readonly<Record<string, unknown>>) => RefResolver {
  const known: Array<{ shared: Readonly<Record<string, unknown>>, resolver: RefResolver }> = []
  return (shared) => {
    const ids = Object.keys(shared)
    const same = known.find((entry) => ids.length === Object.keys(entry.shared).length && ids.every((id) => entry.shared[id] === shared[id]))
    if (same !== undefined) return same.resolver
    const resolver = refResolver(shared)
    known.push({ shared, resolver })
    return resolver
  }
}

export default fp(mcpFromRoutes, { fastify: '5.x', name: 'mcp-from-routes' })
export { mcpFromRoutes }
