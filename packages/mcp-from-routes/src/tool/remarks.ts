import type { FastifyBaseLogger, FastifyInstance, RouteOptions } from 'fastify'
import type { Settings } from '../settings.ts'
import { isObject } from '../schema/json-schema.ts'
import { otherPatterns } from '../schema/portable.ts'
import { declaresStream } from './output.ts'
import type { Routes } from './routes.ts'
import type { Tool } from '../model.ts'

/** Logs what may be a mistake in the routes. */
export function remarkOnRoutes (
  log: FastifyBaseLogger,
  { nearlyTagged, candidates, endpoint }: Routes,
  { exposedTag, canUse }: Settings
): void {
  if (nearlyTagged.length > 0) {
    log.warn({ routes: nearlyTagged }, `these routes are not tools: their tag differs from "${exposedTag}" in case`)
  }
  if (!candidates.some(({ isTool }) => isTool)) {
    log.warn(
      `the MCP endpoint has no tools: no route registered after the plugin is tagged "${exposedTag}". Register ` +
        'the plugin before the routes, with await'
    )
  }
  const unstreamed = candidates.filter(({ route }) =>
    isStrictSse(Reflect.get(route, 'sse')) && !declaresStream(route.schema?.response)
  ).map(({ label }) => label)
  if (unstreamed.length > 0) {
    log.warn(
      { routes: unstreamed },
      'these routes have the option sse of @fastify/sse, and declare no response of text/event-stream: their ' +
        'tools are called without that media type, so reply.sse is undefined. Declare it in schema.response, or ' +
        'answer without reply.sse'
    )
  }
  const remark = policyRemark(endpoint, candidates, canUse !== undefined)
  if (remark !== undefined) log[remark.level]({ tools: remark.tools }, remark.message)
}

/** Logs that earlier routes are not known. */
export function remarkOnEarlier (log: FastifyBaseLogger): void {
  log.info(
    'mcp-from-routes was imported after Fastify() ran: routes registered before the plugin are not tools, ' +
      'even if tagged'
  )
}

/** Logs what the options leave open for these tools. */
export function remarkOnTools (
  log: FastifyBaseLogger,
  tools: readonly Tool[],
  { impliedArguments, resultHeaders }: Settings
): void {
  for (const [length, level] of [[2048, 'warn'], [1024, 'info']] as const) {
    const long = tools.filter(({ public: { description } }) =>
      description.length > length && (level === 'warn' || description.length <= 2048)
    ).map(({ public: { name } }) => name)
    if (long.length > 0) {
      log[level](
        { tools: long },
        `some clients cut the descriptions of these tools, which are longer than ${length} characters. Say the ` +
          'most important first, or set config.mcp.description'
      )
    }
  }
  const bodiless = tools.filter(({ request: { input }, public: { route } }) =>
    TAKES_BODY.has(route.method) && input.body === 'none'
  )
  for (const level of ['warn', 'info'] as const) {
    const routes = bodiless.filter((tool) => isLikelyForgotten(tool) === (level === 'warn')).map((
      { public: { route } }
    ) => `${route.method} ${route.url}`)
    if (routes.length > 0) {
      log[level](
        { routes },
        'the tools of these routes send no body, because schema.body is missing. If a route reads a body, ' +
          'describe it there'
      )
    }
  }
  const patterns = tools.flatMap(({ public: { name }, request: { input } }) =>
    otherPatterns(input.schema).map((pattern) => `${name}: ${pattern}`)
  )
  if (patterns.length > 0) {
    log.info(
      { patterns },
      'these patterns are not published, since some providers of models refuse all tools because of one: they cannot ' +
        'read look-arounds, \\p{…}, backreferences or a bare [ in a class. The routes still check them'
    )
  }
  const spelledAsUrls = tools.flatMap(({ public: { name, inputSchema } }) =>
    Object.entries(inputSchema.properties ?? {})
      .filter(([argument, schema]) => isObject(schema) && isAboutUrls(argument, schema.description)).map(([argument]) =>
        `${name}: ${argument}`
      )
  )
  if (spelledAsUrls.length > 0) {
    log.info(
      { arguments: spelledAsUrls },
      'the descriptions of these arguments show query strings, which models then send as values. Describe them ' +
        'in config.mcp.arguments'
    )
  }
  // A description for models says which field of the record has it.
  const conditional = tools.filter(({ request: { input } }) =>
    input.inputs.some(({ place, name, description }) =>
      place === 'header' && (name === 'if-match' || name === 'if-none-match') && description === undefined
    )
  ).map(({ public: { name } }) => name)
  if (conditional.length > 0 && !resultHeaders.includes('etag')) {
    log.info(
      { tools: conditional },
      'these tools take the ETag of a record, and results do not show it: add etag to resultHeaders, or say in ' +
        'config.mcp.arguments which field of the record has it'
    )
  }
  const unused = Object.keys(impliedArguments).filter((name) =>
    !tools.some((tool) => tool.public.implied?.includes(name))
  )
  if (unused.length > 0) {
    log.warn({ arguments: unused }, 'no tool requires these impliedArguments in its path, query string or headers')
  }
}

const TAKES_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/**
 * Whether a route without a body schema probably reads one. Many need no more than their path:
 * `POST /orders/:id/cancel`.
 */
function isLikelyForgotten ({ request: { input: { places } }, public: { route } }: Tool): boolean {
  return route.method === 'PATCH' || places.size === 0
}

/** Whether a description spells an argument as in a URL: `sortBy=email:DESC`, `?page=2`. */
function isAboutUrls (argument: string, description: unknown): boolean {
  return typeof description === 'string' &&
    (description.includes(`${argument}=`) || /[?&][\w.[\]-]+=/.test(description))
}

/**
 * The values of the route option for which @fastify/sse wants the media type by name, and nothing says that the handler
 * can do without.
 */
function isStrictSse (sse: unknown): boolean {
  return sse === true || (isObject(sse) && sse.kind === undefined)
}

const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const

/**
 * Warns if @fastify/rate-limit limits routes, but not the endpoint. It adds its hooks to routes while they are
 * registered, so those that came before it have none: callers would list tools and guess credentials without a limit.
 */
export function warnIfUnlimited (app: FastifyInstance): void {
  if (app.hasDecorator('rateLimit')) return
  const seen: Array<{ readonly route: RouteOptions, readonly before: number }> = []
  app.addHook('onRoute', (route) => {
    seen.push({ route, before: hooksOf(route) })
  })
  app.addHook('onReady', async () => {
    const grown = seen.splice(0).some(({ route, before }) => hooksOf(route) > before)
    if (grown && app.hasDecorator('rateLimit')) {
      app.log.warn(
        '@fastify/rate-limit was registered after mcp-from-routes, so it limits routes but not the MCP ' +
          'endpoint. Register it before mcp-from-routes'
      )
    }
  })
}

function hooksOf (route: RouteOptions): number {
  return HOOKS.reduce((count, name) => count + [route[name] ?? []].flat().length, 0)
}

/** What to log, with the tools that it is about. */
interface PolicyRemark {
  readonly level: 'info' | 'warn'
  readonly tools: readonly string[]
  readonly message: string
}

/**
 * Compares the endpoint with the routes of its tools where an authentication writes its policy into `config.auth` of
 * every route, as dual-auth does: `dual` accepts API keys and tokens, `jwt` tokens only. Other values say nothing.
 *
 * @param endpoint - the route of the endpoint
 * @param tools - their routes, by what messages call them
 * @param isFiltered - whether the host decides who may use which tool
 * @returns undefined where both accept the same
 */
function policyRemark (
  endpoint: RouteOptions | undefined,
  tools: ReadonlyArray<{ readonly label: string, readonly route: RouteOptions }>,
  isFiltered: boolean
): PolicyRemark | undefined {
  const labelled = (policy: string): readonly string[] =>
    tools.filter(({ route }) => authOf(route) === policy).map(({ label }) => label)
  const [tokensOnly, withKeys] = [labelled('jwt'), labelled('dual')]
  const accepts = authOf(endpoint)
  if (accepts === 'dual' && tokensOnly.length > 0) {
    const message = 'API keys can call the MCP endpoint but not these tools, which accept tokens only'
    return isFiltered
      ? { level: 'info', tools: tokensOnly, message }
      : {
        level: 'warn',
        tools: tokensOnly,
        message: `${message}: set config.auth of their routes to "dual", or hide them from API keys with canUse`
      }
  }
  if (accepts === 'jwt' && withKeys.length > 0) {
    return {
      level: 'warn',
      tools: withKeys,
      message: 'API keys can call the routes of these tools but not the MCP endpoint, which accepts no keys: set its ' +
        'policy to "any-key", and return null for it in the option scopes'
    }
  }
  return undefined
}

function authOf (route: RouteOptions | undefined): unknown {
  return (route?.config as { readonly auth?: unknown } | undefined)?.auth
}
