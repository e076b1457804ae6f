import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { Tool } from '../tool/tool.ts'

/** Stands in the `config` of a tool's route. */
export interface Mark {
  /** Known once the application is ready. */
  tool?: Tool
}

/** Where an inner request has to arrive. */
export interface Target {
  readonly tool: Tool
  /** The path parameters that the router must find. */
  readonly params: ReadonlyMap<string, string>
  /** Set when the request arrived elsewhere and was refused. */
  missed?: 'another route' | 'no route'
}

/** Neither symbol leaves this file, so no client and no other code of the process can set them. */
const MARK = Symbol('mcp-from-routes.mark')
const TARGET = Symbol('mcp-from-routes.target')

interface Aimed { [TARGET]?: Target }
interface Marked { readonly [MARK]?: Mark | undefined }

/**
 * Marks a route while it is registered, or takes away the mark of another route whose `config` it was given.
 * @returns whether the mark is still there, which an `onRoute` hook of the host that replaces `config` undoes
 */
export function markRoute (route: RouteOptions, mark: Mark | undefined): () => boolean {
  if (mark !== undefined || MARK in (route.config ?? {})) route.config = Object.assign({}, route.config, { [MARK]: mark })
  return () => (route.config as Marked | undefined)?.[MARK] === mark
}

/** Tells the guard where the inner request `raw` has to arrive. */
export function setTarget (raw: object, target: Target): void {
  (raw as Aimed)[TARGET] = target
}

/**
 * Refuses every inner request that the router led to another route than that of its tool: with `/users/me` beside
 * `/users/:id`, the id `me` would run a route that is not a tool. Fastify adds the hook to all scopes, those that exist
 * already too.
 */
export function guardCalls (app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const target = (request.raw as Aimed)[TARGET]
    if (target === undefined || hasArrived(request, target)) return done()
    target.missed = request.is404 ? 'no route' : 'another route'
    const { method, url } = request.routeOptions
    request.log.warn({ tool: target.tool.public.name, url: request.raw.url, ...target.missed === 'another route' && { route: `${String(method)} ${url}` } }, `refused a tool call that the router led to ${target.missed}`)
    // The caller is told by the result of the call; nobody reads this.
    reply.code(404).send()
  })
}

function hasArrived ({ routeOptions: { config }, params }: FastifyRequest, target: Target): boolean {
  if ((config as Marked | undefined)?.[MARK]?.tool !== target.tool) return false
  // With two parameters in one segment the router may split it elsewhere.
  let count = 0
  const found = params as Readonly<Record<string, string>>
  for (const name in found) {
    if (found[name] !== target.params.get(name)) return false
    count += 1
  }
  return count === target.params.size
}
