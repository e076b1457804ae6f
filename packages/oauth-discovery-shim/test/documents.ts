import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'

/**
 * Tries HEAD and OPTIONS of every document of a plugin, where the host exposes no HEAD routes.
 *
 * @returns the URLs of the documents
 */
export async function documentsWithHead (
  t: Test,
  register: (app: FastifyInstance) => Promise<unknown>
): Promise<readonly string[]> {
  const app = Fastify({ exposeHeadRoutes: false })
  t.teardown(() => app.close())
  const served = new Set<string>()
  app.addHook('onRoute', ({ method, url }) => {
    if (method === 'GET' && /well-known|jwks/.test(url)) served.add(url)
  })
  await register(app)
  await app.ready()
  // The same route, which the hook does not name.
  if (served.has('/.well-known/oauth-protected-resource/mcp')) {
    served.add('/.well-known/oauth-protected-resource/mcp/')
  }
  for (const url of served) {
    const head = await app.inject({ method: 'HEAD', url })
    t.strictSame([head.statusCode, head.body, (await app.inject({ method: 'OPTIONS', url })).statusCode], [
      200,
      '',
      204
    ], url)
  }
  return [...served]
}
