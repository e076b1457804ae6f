import type { FastifyContextConfig, FastifyInstance } from 'fastify'
import { PREFLIGHT } from './schemas.ts'

/**
 * Lets pages of any origin read the routes of this scope: they are public and carry no credentials. It is not a CORS
 * plugin, because it must not change the host's own routes.
 */
export function cors (scope: FastifyInstance, config: FastifyContextConfig): void {
  scope.addHook('onRequest', async (_, reply) => {
    reply.header('access-control-allow-origin', '*')
  })

  scope.addHook('onRoute', function ({ method, routePath }) {
    if (method !== 'GET' && method !== 'POST') return
    this.options(routePath || '/', { config, schema: PREFLIGHT }, async (_, reply) =>
      reply
        .header('access-control-allow-methods', method === 'GET' ? 'GET, HEAD' : 'POST')
        .header('access-control-allow-headers', 'accept, authorization, content-type, mcp-protocol-version')
        .header('access-control-max-age', '86400')
        .code(204).send())
  })
}
