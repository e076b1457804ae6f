import type { FastifyInstance, FastifyServerOptions } from 'fastify'

/** What Fastify keeps of an instance and tells nobody: it is read from the instance, or the one it inherits from. */
export function inherited (app: FastifyInstance, description: string): unknown {
  for (let scope: unknown = app; scope !== null; scope = Object.getPrototypeOf(scope)) {
    const key = Object.getOwnPropertySymbols(scope).find((symbol) => symbol.description === description)
    if (key !== undefined) return Reflect.get(Object(scope), key)
  }
  return undefined
}

/** The options the application was made with; `initialConfig` leaves out those that are functions. */
export function serverOptions (app: FastifyInstance): FastifyServerOptions {
  return Object(inherited(app, 'fastify.options')) as FastifyServerOptions
}
