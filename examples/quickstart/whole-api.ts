import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { review } from 'mcp-from-routes/review'

/** An API as it was: no tags, no operationIds, hardly a description. */
export default async function buildApp () {
  const app = Fastify()
  await app.register(mcpFromRoutes, {
    serverInfo: { name: 'shop', version: '1.0.0' },
    extensions: [review(new URL('./mcp-routes.json', import.meta.url))] // Decides which routes are tools.
  })

  const byId = { params: { type: 'object', properties: { id: { type: 'string' } } } }
  app.get('/api/v1/orders', {
    schema: { querystring: { type: 'object', properties: { status: { enum: ['open', 'paid'] } } } }
  }, async () => [])
  app.get('/api/v1/orders/:id', { schema: { ...byId, summary: 'One order with its lines.' } }, async () => ({}))
  app.delete('/api/v1/orders/:id', { schema: byId }, async () => ({}))
  app.post('/api/v1/orders/:id/refund', {
    schema: { ...byId, body: { type: 'object', properties: { reason: { type: 'string' } } } }
  }, async () => ({}))
  app.get('/assets/*', async () => '')
  return app
}
