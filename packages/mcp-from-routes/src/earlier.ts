import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'

/** A route, and the instance that it was registered on. */
export interface SeenRoute {
  readonly scope: FastifyInstance
  readonly method: RouteOptions['method']
  readonly url: string
  readonly schema: FastifySchema
}

/** The routes of every application since it was created. */
const routesOf = new WeakMap<FastifyInstance, SeenRoute[]>()

/*
 * A plugin is shown only the routes that are registered after it. Fastify announces each application when it is
 * created, which is how a tagged route that comes too early is found.
 * https://fastify.dev/docs/latest/Reference/Hooks/#diagnostics-channel-hooks
 */
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance }
  const routes: SeenRoute[] = []
  routesOf.set(fastify, routes)
  fastify.addHook('onRoute', function ({ method, url, schema }) {
    routes.push({ scope: this, method, url, schema: schema ?? {} })
  })
})

/**
 * The routes of an instance and of the scopes in it so far.
 * @returns undefined when the application was created before this module was loaded, so that nothing was seen
 */
export function routesSoFar (app: FastifyInstance): readonly SeenRoute[] | undefined {
  // An instance of a scope inherits from the one around it.
  for (let root: unknown = app; root !== null; root = Object.getPrototypeOf(root)) {
    const routes = routesOf.get(root as FastifyInstance)
    if (routes !== undefined) return routes.filter(({ scope }) => scope === app || Object.prototype.isPrototypeOf.call(app, scope))
  }
  return undefined
}
