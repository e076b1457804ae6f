import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { HELD, type Held } from '../extensions/confirm/held.ts'
import { MCP_FROM_ROUTES_INVALID_OPTION } from '../errors.ts'
import type { TaskRoute } from '../extensions/tasks/rule.ts'
import type { Tool } from '../tool/tool.ts'
import { changedOnArrival } from './arrival.ts'

/**
 * Where an inner request has to arrive.
 *
 * All that is set later is there from the start: with 1,000 tools, V8 makes a hidden class for each object that gets
 * another property, and a call takes a tenth longer.
 */
export interface Target {
  readonly tool: Tool
  /** The route of a task, if the request is for that one and not for the tool's own. */
  readonly at?: TaskRoute
  /** The path parameters that the router must find. */
  readonly params: ReadonlyMap<string, string>
  /** Set if a person has to confirm the call. */
  readonly held?: Held | undefined
  /** The body as it was sent; undefined if nothing can become of it on the way. */
  readonly sent?: unknown
  /** Set when the request arrived elsewhere and was refused. */
  missed: 'another route' | 'no route' | undefined
  /**
   * Set when an argument would reach the handler as another one, and the request was refused: in words for the model.
   */
  changed: string | undefined
}

/** Neither symbol leaves this file, so no client and no other code of the process can set them. */
const MARK = Symbol('mcp-from-routes.mark')
const TARGET = Symbol('mcp-from-routes.target')

interface Aimed {
  [TARGET]?: Target
}
interface Marked {
  readonly [MARK]?: { tool: Tool | undefined } | undefined
}

/** How to read and fill the mark of a route, after its registration. */
export interface RouteMark {
  /** False if an `onRoute` hook of the host replaced `config`. */
  readonly isMarked: () => boolean
  readonly setTool: (tool: Tool) => void
  /** For a route that is not a tool: the tool whose `config` an `onRoute` hook of the host gave it. */
  readonly ownerOfConfig: () => Tool | undefined
}

/**
 * Marks the route of a tool during registration. Another route that shares the tool's `config` object gets a copy
 * without the mark.
 */
export function markRoute (route: RouteOptions, isTool: boolean): RouteMark {
  const mark: Marked[typeof MARK] = isTool ? { tool: undefined } : undefined
  if (isTool || MARK in (route.config ?? {})) route.config = Object.assign({}, route.config, { [MARK]: mark })
  return {
    isMarked: () => (route.config as Marked | undefined)?.[MARK] === mark,
    setTool (tool) {
      if (mark !== undefined) mark.tool = tool
    },
    ownerOfConfig: () => isTool ? undefined : (route.config as Marked | undefined)?.[MARK]?.tool
  }
}

/** Tells the guard where the inner request `raw` has to arrive. */
export function setTarget (raw: object, target: Target): void {
  ;(raw as Aimed)[TARGET] = target
}

/**
 * Refuses every inner request that arrives at another route than its tool's: with `/users/me` beside `/users/:id`, the
 * id `me` would run a route that is not a tool. Fastify adds a hook of the root to all scopes, existing ones too.
 *
 * @throws {@link MCP_FROM_ROUTES_INVALID_OPTION} if requests can bypass the hook
 */
export function guardCalls (app: FastifyInstance): void {
  const { routerOptions } = app.initialConfig as { routerOptions?: { defaultRoute?: unknown } }
  if (typeof routerOptions?.defaultRoute === 'function') {
    throw new MCP_FROM_ROUTES_INVALID_OPTION(
      'routerOptions.defaultRoute of Fastify',
      'runs without hooks, so the plugin cannot keep tool calls from it. Use setNotFoundHandler'
    )
  }
  app.addHook('onRequest', (request, reply, done) => {
    const target = (request.raw as Aimed)[TARGET]
    if (target === undefined || hasArrived(request, target)) return done()
    target.missed = request.is404 ? 'no route' : 'another route'
    const { method, url } = request.routeOptions
    request.log.warn({
      tool: target.tool.public.name,
      url: request.raw.url,
      ...target.missed === 'another route' && { route: `${String(method)} ${url}` }
    }, `refused a tool call that the router sent to ${target.missed}`)
    // The caller never sees this 404: it gets a tool error. Hijacked, so the other route's onSend hooks and error
    // handler do not run.
    reply.hijack()
    reply.raw.writeHead(404).end()
  })
}

/**
 * Holds the calls of a route before its handler, until a person has confirmed them. All hooks of the route have run by
 * then, including those that plugins add later, and so has its validation: nobody is asked about a call that would be
 * refused.
 */
export function holdCalls (route: RouteOptions): void {
  const { handler } = route
  route.handler = function (request, reply) {
    const held = (request.raw as Aimed)[TARGET]?.held
    if (held === undefined) return handler.call(this, request, reply)
    return held.mayRun(request).then((mayRun) => {
      if (!mayRun) return reply.code(HELD).send()
      const result: unknown = handler.call(this, request, reply)
      // A handler that returns nothing sends its response later.
      return result === undefined ? reply : result
    })
  }
}

/** Refuses calls whose arguments would reach the handler as others, before anybody is asked about them. */
export function checkArrivals (route: RouteOptions): void {
  const { handler } = route
  route.handler = function (request, reply) {
    const target = (request.raw as Aimed)[TARGET]
    if (target === undefined || target.at !== undefined) return handler.call(this, request, reply)
    const { body, params, query, raw: { url = '' } } = request
    target.changed = changedOnArrival({ tool: target.tool, sent: target.sent, body, params, query, url })
    if (target.changed === undefined) return handler.call(this, request, reply)
    reply.hijack()
    reply.raw.writeHead(422).end()
    return undefined
  }
}

function hasArrived ({ routeOptions, params }: FastifyRequest, target: Target): boolean {
  if (
    target.at === undefined
      ? (routeOptions.config as Marked | undefined)?.[MARK]?.tool !== target.tool
      : !isAt(routeOptions, target.at)
  ) return false
  // With two parameters in one segment the router may split it elsewhere.
  let count = 0
  const found = params as Readonly<Record<string, string>>
  for (const name in found) {
    if (found[name] !== target.params.get(name)) return false
    count += 1
  }
  return count === target.params.size
}

/** Startup has checked that no other route has this method and path. */
function isAt ({ method, url }: FastifyRequest['routeOptions'], route: TaskRoute): boolean {
  return url === route.url && [method].flat().some((name) => name === route.method)
}
