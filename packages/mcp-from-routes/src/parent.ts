import type { FastifyRequest } from 'fastify'

/**
 * The property of an inner request's raw request that holds the outer FastifyRequest. Hooks of the host read it to
 * see that both are one external call. Only this process can set it: a client has no way to send a symbol.
 */
export const PARENT_REQUEST = Symbol.for('fastify.parentRequest')

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
 * The outer request of an inner one.
 * @returns undefined for a request from outside
 */
export function parentOf (raw: object): FastifyRequest | undefined {
  return Reflect.get(raw, PARENT_REQUEST) as FastifyRequest | undefined
}
