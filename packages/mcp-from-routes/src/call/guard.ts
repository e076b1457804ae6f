import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { MCP_FROM_ROUTES_INVALID_OPTION } from '../errors.ts'
import type { Outcome, Running, Tool } from '../model.ts'
import { changedOnArrival } from './arrival.ts'

/** A route that is reached for itself, and not as the route of a tool. */
export interface RouteAt {
  readonly method: string
  /** As it was registered, with its prefix. */
  readonly url: string
}

/**
 * The status of the inner response of a call that an extension held.
 *
 * @see [RFC 6585 §3](https://www.rfc-editor.org/rfc/rfc6585#section-3)
 */
const HELD = 428

/**
 * Where an inner request has to arrive.
 *
 * All that is set later is there from the start: with 1,000 tools, V8 makes a hidden class for each object that gets
 * another property, and a call takes a tenth longer.
 */
export interface Target {
  readonly tool: Tool
  /** Set if the request is for this route, and not for the tool's own. */
  readonly at: RouteAt | undefined
  /** The path parameters that the router must find. */
  readonly params: ReadonlyMap<string, string>
  /** What extensions do with the call; undefined for a plain one. */
  readonly running: Running | undefined
  /** The body as it was sent; undefined if nothing can become of it on the way. */
  readonly sent: unknown
  /** Set when the request arrived elsewhere and was refused. */
  missed: 'another route' | 'no route' | undefined
  /**
   * Set when an argument would reach the handler as another one, and the request was refused: in words for the model.
   */
  changed: string | undefined
  /** Set when an extension has an outcome in place of the handler. */
  held: Outcome | undefined
}

/** The target of a request that starts now. */
export function targetOf (
  { tool, params, sent, running, at }:
    & Pick<Target, 'tool' | 'params'>
    & Partial<Pick<Target, 'sent' | 'running' | 'at'>>
): Target {
  return { tool, at, params, running, sent, missed: undefined, changed: undefined, held: undefined }
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
 * Wraps the handler of a published route. Calls whose arguments would reach it as others are refused; then extensions
 * may hold a call. All hooks of the route have run by then, including those that plugins add later, and so has its
 * validation: nobody is asked about a call that would be refused.
 */
export function watchArrivals (route: RouteOptions): void {
  const { handler } = route
  route.handler = function (request, reply) {
    const target = (request.raw as Aimed)[TARGET]
    if (target === undefined || target.at !== undefined) return handler.call(this, request, reply)
    const { body, params, query, raw: { url = '' } } = request
    target.changed = changedOnArrival({ tool: target.tool, sent: target.sent, body, params, query, url })
    if (target.changed !== undefined) {
      reply.hijack()
      reply.raw.writeHead(422).end()
      return undefined
    }
    if (target.running?.gate === undefined) return handler.call(this, request, reply)
    return target.running.gate(request).then((held) => {
      if (held !== undefined) {
        target.held = 'content' in held ? { ...held, statusCode: HELD } : held
        return reply.code(HELD).send()
      }
      const result: unknown = handler.call(this, request, reply)
      // A handler that returns nothing sends its response later.
      return result === undefined ? reply : result
    })
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
function isAt ({ method, url }: FastifyRequest['routeOptions'], route: RouteAt): boolean {
  return url === route.url && [method].flat().some((name) => name === route.method)
}
