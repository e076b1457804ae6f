import { createHash } from 'node:crypto'
import type { FastifyContextConfig, FastifyInstance, FastifyReply } from 'fastify'
import type { ServerCard } from './card.ts'

/** The path of the card of an endpoint. */
export function cardPath (path: string): string {
  return path === '/' ? '/server-card' : `${path}/server-card`
}

/**
 * Serves a card beside its endpoint, to pages of any origin.
 * @see [SEP-2127](https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2127), a draft
 */
export function mountCard (app: FastifyInstance, path: string, card: ServerCard, config: FastifyContextConfig = {}): void {
  const body = Buffer.from(JSON.stringify(card))
  const tag = `"${createHash('sha256').update(body).digest('hex')}"`
  const open = (reply: FastifyReply): FastifyReply => reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', 'ETag')
  const common = { url: cardPath(path), schema: { hide: true }, config }
  app.route({
    ...common,
    method: 'GET',
    exposeHeadRoute: true,
    handler: async ({ headers }, reply) => {
      open(reply).header('cache-control', 'public, max-age=3600').header('etag', tag)
      if (isKnown(headers['if-none-match'], tag)) return reply.code(304).send()
      return reply.type('application/mcp-server-card+json').send(body)
    }
  })
  app.route({
    ...common,
    method: 'OPTIONS',
    handler: async (_request, reply) => open(reply).header('access-control-allow-methods', 'GET').header('access-control-allow-headers', 'Content-Type, If-None-Match').code(204).send()
  })
}

/** @see [RFC 9110 §13.1.2](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2) */
function isKnown (header: string | undefined, tag: string): boolean {
  return header !== undefined && header.split(',').some((known) => known.trim() === '*' || known.trim().replace(/^W\//, '') === tag)
}
