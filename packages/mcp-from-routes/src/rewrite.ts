import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

/**
 * Whether the application was given `rewriteUrl`. Fastify tells nobody, and `initialConfig` leaves it out, so it is
 * read from the options that every instance inherits.
 */
export function rewritesUrls (app: FastifyInstance): boolean {
  for (let scope: unknown = app; scope !== null; scope = Object.getPrototypeOf(scope)) {
    const key = Object.getOwnPropertySymbols(scope).find(({ description }) => description === 'fastify.options')
    if (key !== undefined) return typeof Reflect.get(Object(Reflect.get(app, key)), 'rewriteUrl') === 'function'
  }
  return false
}

/**
 * Makes `rewriteUrl` change nothing of a request: the URL of an inner one is that of the route already, and another
 * would lead to another route. Only the first assignment is passed over, which is Fastify's, made before it asks
 * the router; a middleware that takes a prefix off later goes on doing so.
 */
export function keepUrl (req: IncomingMessage): void {
  const { url } = req
  const property = { configurable: true, enumerable: true }
  Object.defineProperty(req, 'url', {
    ...property,
    get: () => url,
    set: () => Object.defineProperty(req, 'url', { ...property, value: url, writable: true })
  })
}
