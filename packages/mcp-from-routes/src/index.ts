import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { mountCard, type ServerCard } from './extensions/card/card.ts'
import { maxParamLengthOf, toolCaller } from './call/call.ts'
import { guardCalls } from './call/guard.ts'
import { check, withoutSlash } from './checks.ts'
import { checkLoopback } from './call/loopback.ts'
import { sealerFrom } from './extensions/confirm/seal.ts'
import { accessTo, type Shared } from './endpoint/access.ts'
import { mountEndpoint } from './endpoint/endpoint.ts'
import { MCP_FROM_ROUTES_INVALID_OPTION, MCP_FROM_ROUTES_REGISTERED_IN_SCOPE } from './errors.ts'
import { allExtensions } from './extensions.ts'
import type { McpFromRoutesOptions } from './options.ts'
import { NOTHING, settingsFromOptions, type Settings } from './settings.ts'
import { shareRequestIds } from './parent.ts'
import { follower } from './extensions/tasks/follow.ts'
import { readReviewed, NOT_REVIEWED, pathOf } from './extensions/review/reviewed.ts'
import { reviewOf, REVIEWS, type ReviewMessage } from './extensions/review/review.ts'
import { taskRules, type TaskRules } from './extensions/tasks/rule.ts'
import { resourceReader } from './extensions/resources/read.ts'
import type { Resource } from './extensions/resources/resources.ts'
import { taskSealer } from './extensions/tasks/seal.ts'
import { problemsOfCalls } from './extensions/skills/check.ts'
import { checkSkills, readFolders, skillFrom, type McpSkill } from './extensions/skills/skills.ts'
import { observerFrom } from './extensions/telemetry/observer.ts'
import { routesSoFar } from './tool/earlier.ts'
import { remarkOnRoutes, remarkOnTools, warnIfUnlimited } from './tool/remarks.ts'
import { checkEarlier, checkOthers, collectRoutes, isTagged } from './tool/routes.ts'
import { searchToolsOf, toolSets } from './extensions/sets/sets.ts'
import type { ListedTool, Tool } from './tool/tool.ts'
import { toolReader, type Candidate } from './tool/catalog.ts'
import type { ResourceDefinition } from './extensions/resources/config.ts'
import type { McpRouteConfig, McpTool, ToolDefinition } from './types.ts'

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
    /** The resources as clients see them, sorted by their URIs and frozen. Empty until the application is ready. */
    readonly mcpResources: readonly ResourceDefinition[]
    /** The skills, sorted by their URIs and frozen; empty without the option `skills`. */
    readonly mcpSkills: readonly McpSkill[]
    /**
     * The tools by which clients find those of sets with search, sorted by name and frozen; empty without such a set.
     */
    readonly mcpSearchTools: readonly ToolDefinition[]
    /** The server card as it is sent; undefined without the option `card`. */
    readonly mcpCard: ServerCard | undefined
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
  const { extensions: given, ...rest } = options
  const core = settingsFromOptions(rest)
  const extensions = allExtensions(given)
  const own = extensions.map((extension) => extension.settings(core))
  const settings: Settings = Object.assign({}, NOTHING, core, ...own, { sets: own.flatMap(({ sets = [] }) => sets) })
  checkPaths(settings)
  for (const { name, tag } of extensions) {
    check(tag !== core.exposedTag, 'exposedTag', `must not be ${tag}, the tag of ${name}`)
  }
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
  const isReview = REVIEWS.hasSubscribers
  const reviewed = settings.routes === undefined || isReview ? NOT_REVIEWED : await readReviewed(settings.routes)
  const skills = isReview ? [] : await readFolders(settings.skills.map(pathOf))
  const reader = toolReader(app, settings, earlier, extensions)
  let tools: ReadonlyMap<string, Tool> = new Map()
  let rules: TaskRules = new Map()
  const entries: readonly McpSkill[] = Object.freeze(skills.map(skillFrom))
  let resources: readonly Resource[] = []
  let definitions: readonly ResourceDefinition[] = Object.freeze([])
  let list: readonly McpTool[] = Object.freeze([])
  let searchTools: ReadonlyMap<string, ListedTool> = new Map()
  let searchList: readonly ToolDefinition[] = Object.freeze([])

  app.decorate('mcpTools', { getter: () => list })
  app.decorate('mcpResources', { getter: () => definitions })
  app.decorate('mcpSkills', { getter: () => entries })
  app.decorate('mcpSearchTools', { getter: () => searchList })
  app.decorate('mcpCard', settings.card?.sent)
  const routes = collectRoutes(app, settings, reviewed, isReview)
  guardCalls(app)
  shareRequestIds(app)
  warnIfUnlimited(app)
  const sealer = sealerFrom({ ...settings, secret: settings.confirmSecret })
  const { observed, refused, looked, message: observe } = observerFrom(settings.telemetry)
  const shared: Shared = {
    call: toolCaller(app, settings, sealer, () => rules, observed),
    read: resourceReader(app, settings, maxParamLengthOf(app)),
    refused,
    looked,
    observe,
    verifyState: sealer.verify,
    rules: () => rules,
    sealer: taskSealer({ ...settings, secret: settings.taskSecret }),
    follower: follower(app, settings, maxParamLengthOf(app))
  }
  mountEndpoint(app, accessTo(() => tools, () => resources, () => skills, settings, shared))
  if (settings.card !== undefined) mountCard(app, settings.path, settings.card.sent, settings.card.config)
  const sets = toolSets(settings)
  for (const { path, tools, resources, isSearched } of sets) {
    mountEndpoint(
      app,
      accessTo(
        tools,
        resources,
        () => [],
        { ...settings, path },
        shared,
        isSearched
          ? () => searchTools
          : undefined
      )
    )
  }

  app.addHook('onReady', async () => {
    if (isReview) return review()
    remarkOnRoutes(app.log, routes, settings)
    if (earlier === undefined) {
      app.log.info(
        'mcp-from-routes was imported after Fastify() ran: routes registered before the plugin are not tools, ' +
          'even if tagged'
      )
    } else checkEarlier(earlier, settings, reviewed)
    reviewed.check(routes.keys.splice(0))
    const read = reader.all(routes.candidates)
    tools = read.tools
    resources = read.resources
    definitions = Object.freeze(resources.map(({ resource }) => resource.definition))
    rules = taskRules(tools.values(), routes.known.splice(0), earlier ?? [])
    checkOthers(routes.others.splice(0))
    remarkOnTools(app.log, [...tools.values()], rules.size > 0, settings)
    checkSkills(await problemsOfCalls(skills, [...tools.values()].map((tool) => tool.public)))
    for (const set of sets) set.fill(tools, resources)
    searchTools = searchToolsOf(sets, tools)
    searchList = Object.freeze([...searchTools.values()].map((tool) => tool.public))
    list = Object.freeze([...tools.values()].map((tool) => tool.public))
  })

  function review (): void {
    const reviewable = {
      listed: routes.listed,
      earlier: earlier ?? [],
      isTagged: isTagged(settings),
      read: (candidate: Candidate) => reader.one(candidate, routes.listed)
    }
    const message: ReviewMessage = {
      app,
      file: settings.routes && pathOf(settings.routes),
      review: (entries) => reviewOf(reviewable, entries)
    }
    REVIEWS.publish(message)
  }
}

/** Two endpoints cannot have one path. @throws {@link MCP_FROM_ROUTES_INVALID_OPTION} */
function checkPaths ({ path, sets }: Settings): void {
  const taken = new Map([[path, 'the option path']])
  for (const { option, path } of sets) {
    const other = taken.get(withoutSlash(path))
    check(other === undefined, `${option}.path`, `is already used by ${other}: ${path}`)
    taken.set(withoutSlash(path), option)
  }
}

export default fp(mcpFromRoutes, { fastify: '^5.8.1', name: 'mcp-from-routes' })
export { mcpFromRoutes }
