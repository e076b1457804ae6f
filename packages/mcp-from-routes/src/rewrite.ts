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
 * would lead to another route. Assignments are passed over, Fastify's and those the function makes itself, until
 * `releaseUrl`.
 */
export function keepUrl (req: IncomingMessage): void {
  const { url } = req
  Object.defineProperty(req, 'url', { configurable: true, enumerable: true, get: () => url, set: () => {} })
}

/** Lets the URL be assigned again, as a middleware does that takes a prefix off once the route is found. */
export function releaseUrl (req: { url?: string | undefined }): void {
  const { url } = req
  Object.defineProperty(req, 'url', { configurable: true, enumerable: true, value: url, writable: true })
}
