import type { FastifyContextConfig, FastifyInstance } from 'fastify'
import { PREFLIGHT } from './schemas.ts'

/**
 * Makes a scope independent of the host's compilers, which may accept only schemas of another language, such as zod's.
 * The schemas of this scope document it: its input is ignored, and what it sends was built by this package or checked
 * when it was read.
 */
export function compileNothing (scope: FastifyInstance): void {
  scope.setValidatorCompiler(() => () => true)
  scope.setSerializerCompiler(() => (data) => JSON.stringify(data instanceof Error ? problemFromError(data) : data))
}

/** Fastify passes the error itself, with the status text under `error`; most of its members are not enumerable. */
function problemFromError (problem: Error & { statusCode?: number, code?: string, error?: string }): object {
  const { statusCode, code, error, message } = problem
  return { statusCode, code, error, message }
}

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
