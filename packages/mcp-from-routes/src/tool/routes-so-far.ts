import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'

/** A route that was registered before the plugin. */
export interface SeenRoute {
  readonly method: RouteOptions['method']
  readonly url: string
  readonly schema: FastifySchema
  readonly constraints: NonNullable<RouteOptions['constraints']>
}

/** The routes of an application before the plugin; undefined if it was created before this module was loaded. */
export type EarlierRoutes = readonly SeenRoute[] | undefined

/** What Fastify prints of an application without routes. */
const NO_ROUTES = '(empty tree)'

/** The routes of every application since it was created. */
const routesOf = new WeakMap<FastifyInstance, SeenRoute[]>()

/*
 * A plugin sees only the routes that are registered after it. Fastify announces each application that it creates, so
 * a tagged route that was registered too early is found.
 * https://fastify.dev/docs/latest/Reference/Hooks/#diagnostics-channel-hooks
 */
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance }
  const routes: SeenRoute[] = []
  routesOf.set(fastify, routes)
  fastify.addHook('onRoute', ({ method, url, schema, constraints }) => {
    routes.push({ method, url, schema: schema ?? {}, constraints: constraints ?? {} })
  })
})

/** The routes of the application so far. Those of one that was created too early are known only if there are none. */
export function routesSoFar (app: FastifyInstance): EarlierRoutes {
  return routesOf.get(app)?.slice() ?? (app.printRoutes() === NO_ROUTES ? [] : undefined)
}
