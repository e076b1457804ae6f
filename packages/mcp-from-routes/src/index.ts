import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { maxParamLengthOf, toolCaller } from './call/call.ts'
import { guardCalls, holdCalls, markRoute } from './call/guard.ts'
import type { RouteMark } from './call/guard.ts'
import { checkLoopback } from './call/loopback.ts'
import { sealerFrom } from './confirm/seal.ts'
import { accessTo } from './endpoint/access.ts'
import type { Shared } from './endpoint/access.ts'
import { mountEndpoint } from './endpoint/endpoint.ts'
import { MCP_FROM_ROUTES_REGISTERED_IN_SCOPE, MCP_FROM_ROUTES_REGISTERED_LATE, MCP_FROM_ROUTES_UNSUPPORTED_ROUTE } from './errors.ts'
import { settingsFromOptions } from './options.ts'
import type { McpFromRoutesOptions, Settings } from './options.ts'
import { shareRequestIds } from './parent.ts'
import { follower } from './task/follow.ts'
import { taskRules } from './task/rule.ts'
import type { KnownRoute, TaskRules } from './task/rule.ts'
import { taskSealer } from './task/seal.ts'
import { routesSoFar } from './tool/earlier.ts'
import { policyRemark } from './tool/key-policy.ts'
import { toolSets } from './tool/sets.ts'
import type { Tool } from './tool/tool.ts'
import { toolReader } from './tool/tools.ts'
import type { Candidate } from './tool/tools.ts'
import type { McpRouteConfig, McpTool } from './types.ts'

export * from './errors.ts'
export { PARENT_REQUEST } from './parent.ts'
export { CONFIRMATION } from './confirm/confirmation.ts'
export { quoted } from './confirm/question.ts'
export type { Confirmation } from './confirm/confirmation.ts'
export type { ConfirmStore } from './confirm/store.ts'
export type { McpRouteTask, WorkStatus } from './task/config.ts'
export type { McpFromRoutesOptions, ServerInfo, ToolAccess, ToolSet } from './options.ts'
export type { ImpliedArgument, ImpliedArguments } from './tool/implied.ts'
export type { ArgumentOverride, ArgumentOverrides } from './tool/overrides.ts'
export type { JsonSchema } from './tool/json-schema.ts'
export type { OutputDetail, ToolOutputDetail } from './tool/trim.ts'
export type { Confirm, ConfirmFallback, ConfirmQuestion, McpRouteConfig, McpTool, ToolAnnotations, ToolCallEvent, ToolDefinition } from './types.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The tools, sorted by name and frozen. Empty until the application is ready. */
    readonly mcpTools: readonly McpTool[]
  }
  interface FastifyContextConfig {
    /** What the tool says beyond the route's schema. */
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
  // The instance of a scope inherits from its parent instance; the root instance has no parent.
  if (Object.getPrototypeOf(app) !== Object.prototype) throw new MCP_FROM_ROUTES_REGISTERED_IN_SCOPE()
  checkLoopback()
  const earlier = routesSoFar(app)
  const readTools = toolReader(app, settings)
  const candidates: Candidate[] = []
  const others: Array<Pick<RouteMark, 'ownerOfConfig'> & { readonly label: string }> = []
  const nearlyTagged: string[] = []
  let endpoint: RouteOptions | undefined
  const routes: KnownRoute[] = []
  let tools: ReadonlyMap<string, Tool> = new Map()
  let rules: TaskRules = new Map()
  let list: readonly McpTool[] = Object.freeze([])

  app.decorate('mcpTools', { getter: () => list })
  app.addHook('onRoute', function (route) {
    // Read now: Fastify changes `url` of this object when it registers the same route with a slash at the end.
    const { url } = route
    if (url === settings.path && [route.method].flat().includes('POST')) endpoint = route
    routes.push({ method: route.method, url, get schema () { return route.schema ?? {} }, constraints: route.constraints ?? {} })
    const isTool = isExposed(route, settings)
    const mark = markRoute(route, isTool)
    const isHeld = isTool && route.config?.mcp?.confirm !== undefined
    if (isHeld) holdCalls(route)
    if (isTool) candidates.push({ scope: this, label: labelOf(route), url, route, isHeld, ...mark })
    else if (hasTagLike(route, settings)) nearlyTagged.push(labelOf(route))
    // The HEAD twin of a tool's route has the same handler.
    if (!isTool && route.method !== 'HEAD') others.push({ label: labelOf(route), ...mark })
  })
  guardCalls(app)
  shareRequestIds(app)
  const sealer = sealerFrom(settings)
  const shared: Shared = {
    call: toolCaller(app, settings, sealer, () => rules),
    verifyState: sealer.verify,
    rules: () => rules,
    sealer: taskSealer(settings),
    follower: follower(app, settings, maxParamLengthOf(app))
  }
  mountEndpoint(app, accessTo(() => tools, settings, shared))
  const sets = toolSets(settings)
  for (const { path, tools } of sets) mountEndpoint(app, accessTo(tools, { ...settings, path }, shared))
  app.addHook('onReady', async () => {
    const { exposedTag, canUse, impliedArguments } = settings
    if (nearlyTagged.length > 0) app.log.warn({ routes: nearlyTagged }, `these routes are not tools: their tag differs from "${exposedTag}" in case`)
    if (candidates.length === 0) app.log.warn(`the MCP endpoint has no tools: no route is tagged "${exposedTag}"`)
    const remark = policyRemark(endpoint, candidates, canUse !== undefined)
    if (remark !== undefined) app.log[remark.level]({ tools: remark.tools }, remark.message)
    const late = earlier?.filter((route) => isExposed(route, settings)).map(labelOf) ?? []
    if (late.length > 0) throw new MCP_FROM_ROUTES_REGISTERED_LATE(late.join(', '))
    if (earlier === undefined) app.log.info('mcp-from-routes was imported after Fastify() ran: routes registered before the plugin are not tools, even if tagged')
    tools = readTools(candidates)
    rules = taskRules(tools.values(), routes.splice(0), earlier ?? [])
    for (const { label, ownerOfConfig } of others.splice(0)) {
      const owner = ownerOfConfig()?.public.route
      if (owner !== undefined) throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(labelOf(owner), `an onRoute hook gave its config to ${label} as well. Create a new object for each route: route.config = { ...route.config, … }`)
    }
    const unused = Object.keys(impliedArguments).filter((name) => ![...tools.values()].some((tool) => tool.public.implied?.includes(name)))
    if (unused.length > 0) app.log.warn({ arguments: unused }, 'no tool requires these impliedArguments in its path or query string')
    if (settings.confirmSecret === undefined && [...tools.values()].some(({ confirm }) => confirm !== undefined)) app.log.info('without confirmSecret, only this process accepts its confirmations, and only until it ends')
    if (settings.confirmSecret === undefined && rules.size > 0) app.log.info('without confirmSecret, only this process knows its tasks, and only until it ends')
    for (const set of sets) set.fill(tools)
    list = Object.freeze([...tools.values()].map((tool) => tool.public))
  })
}

function isExposed ({ method, schema }: { readonly method: RouteOptions['method'], readonly schema?: FastifySchema }, { exposedTag }: Settings): boolean {
  return method !== 'HEAD' && method !== 'OPTIONS' && (schema?.tags?.includes(exposedTag) ?? false)
}

/** Whether a tag differs from the right one only in case. */
function hasTagLike (route: RouteOptions, { exposedTag }: Settings): boolean {
  return route.method !== 'HEAD' && (route.schema?.tags?.some((tag) => tag.toLowerCase() === exposedTag.toLowerCase()) ?? false)
}

function labelOf ({ method, url }: { readonly method: string | string[], readonly url: string }): string {
  return `${[method].flat().join(',')} ${url}`
}

export default fp(mcpFromRoutes, { fastify: '5.x', name: 'mcp-from-routes' })
export { mcpFromRoutes }
