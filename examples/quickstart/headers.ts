import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'

const app = Fastify()
await app.register(mcpFromRoutes, { serverInfo: { name: 'shops', version: '1.0.0' } })

app.get('/shops/:shop_id/products', {
  schema: { operationId: 'list_products', description: 'List the products of a shop.', tags: ['mcp'] },
  // Clients repeat it as Mcp-Param-Shop-Id.
  config: { mcp: { arguments: { params: { shop_id: { header: 'Shop-Id' } } } } }
}, async ({ params }) => [params])

const address = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`list_products at ${address}/mcp`)
