import type { FastifyInstance } from 'fastify'

const DOCUMENT = '/.well-known/oauth-protected-resource'

/**
 * Requests a document without credentials, as a client does, and warns if the app's own authentication responds
 * instead: then no client finds the sign-in page.
 */
export async function warnIfClosed (app: FastifyInstance): Promise<void> {
  const { statusCode } = await app.inject(DOCUMENT)
  if (statusCode !== 401 && statusCode !== 403 && !(statusCode >= 300 && statusCode < 400)) return
  app.log.warn(
    `GET ${DOCUMENT} without credentials returns ${statusCode}: MCP clients cannot find the sign-in page. ` +
      'Exempt the routes of oauth-discovery-shim from your authentication, through the route config that its ' +
      'option config sets'
  )
}
