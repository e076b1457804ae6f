import type { FastifyContextConfig, FastifyInstance } from 'fastify'
import { preflight } from './schemas.ts'

/**
 * Lets pages of any origin read the routes of this scope: they are public and carry no credentials.
 * Only these routes: what the host says about its own is left alone, which is why this is not
 * a global CORS plugin.
 */
export function cors (scope: FastifyInstance, config: FastifyContextConfig): void {
  scope.addHook('onRequest', async (_, reply) => { reply.header('access-control-allow-origin', '*') })

  scope.addHook('onRoute', function ({ method, routePath }) {
    if (method !== 'GET' && method !== 'POST') return
    this.options(routePath || '/', { config, schema: preflight }, async (_, reply) => reply
      .header('access-control-allow-methods', method === 'GET' ? 'GET, HEAD' : 'POST')
      .header('access-control-allow-headers', 'accept, authorization, content-type, mcp-protocol-version')
      .header('access-control-max-age', '86400')
      .code(204).send())
  })
}
