import type { FastifyError, FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { queryAcceptance } from './accepts.ts'
import { toolCaller } from './call.ts'
import { routesSoFar } from './earlier.ts'
import { mountEndpoint } from './endpoint.ts'
import { MCP_FROM_ROUTES_BAD_ROUTES, MCP_FROM_ROUTES_DUPLICATE_NAME, MCP_FROM_ROUTES_REGISTERED_LATE } from './errors.ts'
import { settingsFromOptions } from './options.ts'
import type { McpFromRoutesOptions, Settings } from './options.ts'
import { parentOf } from './parent.ts'
import { policyWarning } from './key-policy.ts'
import { printedRoutes, unseenRoutes } from './printed.ts'
import type { PrintedRoute } from './printed.ts'
import { queryParser } from './query.ts'
import type { QueryParser } from './query.ts'
import { refResolver } from './refs.ts'
import type { RefResolver } from './refs.ts'
import { releaseUrl, rewritesUrls } from './rewrite.ts'
import { ownConstraint, routerOf } from './router.ts'
import type { Router } from './router.ts'
import { serializerCheck, writesWithoutSchema } from './serializer.ts'
import { served } from './served.ts'
import { toolFromRoute } from './tool.ts'
import type { ExposedRoute, McpRouteConfig, McpTool, Tool } from './tool.ts'
import { twinErrors } from './twins.ts'
import type { RouteAddress } from './twins.ts'
import { defaultsCheck } from './validator.ts'

export * from './errors.ts'
export type { ToolCallEvent } from './call.ts'
export { PARENT_REQUEST } from './parent.ts'
export type { McpFromRoutesOptions, ServerInfo } from './options.ts'
export type { ArgumentOverride, ArgumentOverrides } from './overrides.ts'
export type { McpRouteConfig, McpTool, ToolAnnotations, ToolDefinition } from './tool.ts'
export type { JsonSchema } from './json-schema.ts'

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
  const seen = routesSoFar(app)
  const earlier = printedRoutes(app)
  const routes: Array<(router: Router, parser: QueryParser) => ExposedRoute> = []
  const nearlyTagged: string[] = []
  const exposed: Array<readonly [label: string, route: RouteOptions]> = []
  let endpoint: RouteOptions | undefined
  const addresses: RouteAddress[] = []
  const writesAsFastify = serializerCheck()
  const acceptanceOf = queryAcceptance()
  const fillsDefaults = defaultsCheck()
  let known: Router | undefined
  // Asked for at ready and not before: only then is every strategy there, which the host may add as well.
  const routerAtReady = (): Router => (known ??= routerOf(app))
  let tools: ReadonlyMap<string, Tool> = new Map()
  let list: readonly McpTool[] = Object.freeze([])

  app.decorate('mcpTools', { getter: () => list })
  app.addHook('onRoute', function (route) {
    // The URL is read now, because Fastify goes on to use the same object for the twin with a slash at the end;
    // the schemas at ready, because they may be added or completed after the route.
    const { url } = route
    addresses.push({ method: [route.method].flat(), url, constraints: route.constraints ?? {} })
    if (url === app.prefix + settings.path && [route.method].flat().includes('POST')) endpoint = route
    if (isExposed(route, settings)) {
      exposed.push([labelOf(route), route])
      routes.push((router, parser) => {
        const { querystring, query } = (route.schema ?? {}) as { querystring?: unknown, query?: unknown }
        const compiler = route.validatorCompiler ?? this.validatorCompiler
        return {
          ...exposedRoute({ ...route, url }, router, this.getSchemas()),
          keepsToSchema: settings.trustSerializer || (!writesWithoutSchema(this) && writesAsFastify(route.serializerCompiler ?? this.serializerCompiler)),
          fillsDefaults: fillsDefaults(compiler),
          queryParser: parser,
          // With attachValidation the handler decides, whatever the validator says.
          ...route.attachValidation !== true && { accepts: acceptanceOf(querystring ?? query, compiler) }
        }
      })
    } else if (hasTagLike(route, settings)) {
      nearlyTagged.push(labelOf(route))
    }
  })
  carryOver(app)
  mountEndpoint(app, served(settings, () => tools, toolCaller(app, settings, routerAtReady)))
  app.addHook('onReady', async () => {
    warnOf({ nearlyTagged, routes: routes.length }, app, settings)
    const mismatch = settings.canUse === undefined ? policyWarning(endpoint, exposed) : undefined
    if (mismatch !== undefined) app.log.warn({ tools: mismatch.tools }, mismatch.message)
    const tooEarly = seen?.filter((route) => isExposed(route, settings)).map(labelOf)
    if (tooEarly !== undefined && tooEarly.length > 0) throw new MCP_FROM_ROUTES_REGISTERED_LATE(tooEarly.join(', '))
    if (seen === undefined) {
      const late = earlier.filter((route) => isMissed(app.prefix, route)).map(({ label }) => label)
      if (routes.length === 0 && late.length > 0) throw new MCP_FROM_ROUTES_REGISTERED_LATE(late.join(', '))
      // Nothing tells whether they are tagged.
      if (late.length > 0) app.log.info({ routes: late }, 'registered before mcp-from-routes, so not tools even if tagged')
    }
    const router = routerAtReady()
    const parser = queryParser((query) => Object(app.findRoute({ method: 'POST', url: `${app.prefix}${settings.path}?${query}`, constraints: {} })?.searchParams) as Record<string, unknown>)
    const { errors, ...read } = toolsFromRoutes(routes.map((route) => route(router, parser)), settings)
    // A call is routed by all routes there are, and the hook was shown none of those before it, nor of those outside of
    // the plugin's scope. Those it was shown are better known from it: the tree mixes up the names of parameters.
    const printed = isRoot(app) ? earlier : printedRoutes(app)
    errors.push(...twinErrors(read.tools.values(), [...unseenRoutes(printed, addresses, router), ...addresses], router))
    if (errors.length > 0) throw joined(errors)
    tools = read.tools
    list = Object.freeze([...tools.values()].map((tool) => tool.public))
  })
}

/** The tools by name, in the order of their names, and what is wrong with the other routes. */
function toolsFromRoutes (routes: readonly ExposedRoute[], settings: Settings): { tools: ReadonlyMap<string, Tool>, errors: FastifyError[] } {
  const resolverOf = sharedResolvers()
  const tools = new Map<string, Tool>()
  const errors: FastifyError[] = []
  for (const route of routes) {
    try {
      const tool = toolFromRoute(route, settings, resolverOf(route.shared))
      const { name } = tool.public
      const other = tools.get(name)
      if (other !== undefined) throw new MCP_FROM_ROUTES_DUPLICATE_NAME(nameOf(other.public.route), nameOf(tool.public.route), name)
      tools.set(name, tool)
    } catch (error) {
      // Anything else is a defect.
      if (!isOwnError(error)) throw error
      errors.push(error)
    }
  }
  return { tools: new Map([...tools].sort(([a], [b]) => a < b ? -1 : 1)), errors }
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

function exposedRoute (route: RouteOptions, router: Router, shared: Record<string, unknown>): Omit<ExposedRoute, 'keepsToSchema'> {
  return {
    method: route.method,
    url: route.url,
    schema: route.schema as FastifySchema,
    config: (route.config ?? {}) as ExposedRoute['config'],
    constraints: route.constraints ?? {},
    ownConstraint: ownConstraint(router, route.constraints ?? {}),
    websocket: Reflect.get(route, 'websocket') === true,
    shared
  }
}

/**
 * An inner request has the id of its outer one, so that the host's logs show one call as one. Fastify asks for it
 * when the route is found and before any hook, which is when the request's URL need no longer be kept. It does not
 * ask where the header `requestIdHeader` is forwarded and has an id: hooks from before the plugin then still cannot
 * assign the URL, as the plugin's own, which lets it go, comes after them.
 */
function carryOver (app: FastifyInstance): void {
  const set = app.setGenReqId
  const rewrites = rewritesUrls(app)
  // The host, or a plugin of its own, may set another one later.
  app.setGenReqId = function (generate) {
    return set.call(this, (raw) => {
      const parent = parentOf(raw)
      if (rewrites && parent !== undefined) releaseUrl(raw)
      return parent?.id ?? generate(raw)
    })
  }
  // Has a getter, but no type.
  app.setGenReqId(Reflect.get(app, 'genReqId') as Parameters<typeof set>[0])
  // Nobody is asked for an id that came in the header `requestIdHeader`.
  if (rewrites && app.initialConfig.requestIdHeader) {
    app.addHook('onRequest', (request, _reply, done) => {
      if (parentOf(request.raw) !== undefined) releaseUrl(request.raw)
      done()
    })
  }
}

/** Whether nothing is outside of the plugin's scope. Fastify makes an instance for a scope from the one around it. */
function isRoot (app: FastifyInstance): boolean {
  return Object.getPrototypeOf(app) === Object.prototype
}

/** Whether the plugin would have seen a route, had it been there earlier. */
function isMissed (prefix: string, { urls }: PrintedRoute): boolean {
  return urls.some((url) => prefix === '' || url === prefix || url.startsWith(`${prefix}/`))
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
