import type { FastifyInstance, FastifyRequest } from 'fastify'
import { MCP_FROM_ROUTES_UNSUPPORTED_VERSION } from './errors.ts'

/**
 * The property of an inner request's raw request that holds the outer FastifyRequest. Hooks of the host read it to
 * see that both are one external call. Only this process can set it: a client has no way to send a symbol.
 */
export const PARENT_REQUEST = Symbol.for('mcp-from-routes.parentRequest')

declare module 'http' {
  interface IncomingMessage {
    /** The outer request of an inner one; absent for a request from outside. */
    readonly [PARENT_REQUEST]?: FastifyRequest
  }
}
declare module 'http2' {
  interface Http2ServerRequest {
    /** The outer request of an inner one; absent for a request from outside. */
    readonly [PARENT_REQUEST]?: FastifyRequest
  }
}

/**
 * Gives an inner request the id of its outer one, so that the host's logs show both as one call. If the header
 * `requestIdHeader` is forwarded, Fastify takes both ids from it and generates none.
 */
export function shareRequestIds (app: FastifyInstance): void {
  // Fastify has a getter for it, but no type.
  const generate: unknown = Reflect.get(app, 'genReqId')
  if (typeof generate !== 'function') throw new MCP_FROM_ROUTES_UNSUPPORTED_VERSION('Fastify', 'it has no genReqId')
  const set = app.setGenReqId
  // The host, or a plugin of its own, may set another one later.
  app.setGenReqId = function (generate) {
    return set.call(this, (raw) => (raw as { [PARENT_REQUEST]?: FastifyRequest })[PARENT_REQUEST]?.id ?? generate(raw))
  }
  app.setGenReqId(generate as Parameters<typeof set>[0])
}
