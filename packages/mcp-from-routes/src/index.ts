import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { toolCaller } from './call/call.ts'
import { guardCalls } from './call/guard.ts'
import { checkLoopback } from './call/loopback.ts'
import { PUBLISHED } from './published.ts'
import { MCP_FROM_ROUTES_INVALID_OPTION, MCP_FROM_ROUTES_REGISTERED_IN_SCOPE } from './errors.ts'
import { allExtensions, checkIsRead } from './extensions.ts'
import { claimsOf, contracted, install, mount, partsOf, pathsOf } from './install.ts'
import type { Published } from './model.ts'
import type { McpFromRoutesOptions } from './options.ts'
import { shareRequestIds } from './parent.ts'
import { settingsFromOptions } from './settings.ts'
import { toolReader } from './tool/catalog.ts'
import { routesSoFar } from './tool/routes-so-far.ts'
import { LISTINGS, type Listing } from './tool/listing.ts'
import { remarkOnEarlier, remarkOnRoutes, remarkOnTools, warnIfUnlimited } from './tool/remarks.ts'
import { checkEarlier, checkOthers, collectRoutes, isTagged } from './tool/routes.ts'
import type { McpRouteConfig, McpTool } from './types.ts'

export * from './errors.ts'
export type * from './types.ts'
export { PARENT_REQUEST } from './parent.ts'
export type { Extension } from './extension.ts'
export type { McpFromRoutesOptions } from './options.ts'
export type { ServerInfo, ToolAccess } from './settings.ts'
export type { ImpliedArgument, ImpliedArguments } from './tool/implied.ts'
export type { ArgumentOverride, ArgumentOverrides } from './tool/overrides.ts'
export type { JsonSchema } from './schema/json-schema.ts'
export type { ToJsonSchema } from './schema/reader.ts'
export type { OutputDetail, ToolOutputDetail } from './tool/trim.ts'

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
    deprecated?: boolean
    tags?: readonly string[]
    description?: string
    summary?: string
    consumes?: readonly string[]
    operationId?: string
  }
}

async function mcpFromRoutes (
  app: FastifyInstance,
  { extensions: given, ...options }: McpFromRoutesOptions
): Promise<void> {
  const settings = settingsFromOptions(options)
  const extensions = allExtensions(given)
  // The instance of a scope inherits from its parent instance; the root instance has no parent.
  if (Object.getPrototypeOf(app) !== Object.prototype) throw new MCP_FROM_ROUTES_REGISTERED_IN_SCOPE()
  if (app.hasDecorator('mcpTools')) {
    throw new MCP_FROM_ROUTES_INVALID_OPTION(
      'a second registration',
      'is not possible. Serve some of the tools at another path by sets() of mcp-from-routes/sets'
    )
  }
  checkLoopback()
  const earlier = routesSoFar(app)
  const isListing = LISTINGS.hasSubscribers
  const published: Published = { tools: new Map(), former: new Map(), callable: [] }
  let list: readonly McpTool[] = Object.freeze([])
  app.decorate('mcpTools', { getter: () => list })

  const installed = await install(app, settings, extensions, published, { earlier, isListing })
  const { hooks } = installed
  const claimOf = claimsOf(hooks)
  const reader = toolReader(app, settings, earlier, extensions, partsOf(hooks))
  const routes = collectRoutes(app, settings, claimOf, pathsOf(installed), isListing)
  guardCalls(app)
  shareRequestIds(app)
  warnIfUnlimited(app)
  mount(app, settings, installed, toolCaller(app, settings))
  app.decorate(PUBLISHED, { getter: () => contracted(list, published, installed) })

  app.addHook('onReady', async () => {
    if (isListing) return announce()
    remarkOnRoutes(app.log, routes, settings)
    if (earlier === undefined) remarkOnEarlier(app.log)
    else checkEarlier(earlier, settings, claimOf)
    for (const { label, route: { config, schema } } of routes.unread.splice(0)) {
      checkIsRead(label, config?.mcp ?? {}, schema?.tags ?? [], extensions)
    }
    const keys = routes.keys.splice(0)
    for (const { listed } of hooks) listed?.(keys)
    Object.assign(published, reader.all(routes.candidates))
    list = Object.freeze([...published.tools.values()].map((tool) => tool.public))
    for (const { ready } of hooks) await ready?.({ ...published, log: app.log })
    checkOthers(routes.others.splice(0))
    remarkOnTools(app.log, [...published.tools.values()], settings)
  })

  function announce (): void {
    const listing: Listing = {
      app,
      extensions,
      listed: routes.listed,
      earlier: earlier ?? [],
      isTagged: isTagged(settings),
      read: (candidate) => reader.one(candidate, routes.listed)
    }
    LISTINGS.publish(listing)
  }
}

export default fp(mcpFromRoutes, { fastify: '^5.8.1', name: 'mcp-from-routes' })
export { mcpFromRoutes }
