import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { serverOptions } from './inherited.ts'

/** Whether the application was given `rewriteUrl`. */
export function rewritesUrls (app: FastifyInstance): boolean {
  return typeof serverOptions(app).rewriteUrl === 'function'
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
