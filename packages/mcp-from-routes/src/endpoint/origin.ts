import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Settings } from '../options.ts'
import { rpcError } from './answer.ts'

/**
 * Keeps pages of other sites from calling the endpoint through a visitor's browser.
 * @param onAllowed - gets all other requests: a hook of its own would cost each of them more
 */
export function originCheck ({ isAllowedOrigin }: Settings, onAllowed: (request: FastifyRequest) => void) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { origin } = request.headers
    if (origin === undefined || isAllowedOrigin(origin)) {
      onAllowed(request)
      return done()
    }
    reply.code(403).send(rpcError(-32000, 'Origin not allowed'))
  }
}
