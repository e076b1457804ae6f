import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { sets } from 'mcp-from-routes/sets'

const app = Fastify()
await app.register(mcpFromRoutes, {
  serverInfo: { name: 'shop', version: '1.0.0' },
  extensions: [sets({ catalog: { path: '/mcp/catalog', tags: ['products', 'tags'] } })]
})

for (const name of ['products', 'tags', 'orders']) {
  app.get(
    `/${name}`,
    { schema: { operationId: `list_${name}`, description: `List ${name}.`, tags: ['mcp', name] } },
    async () => []
  )
}

const address = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`${app.mcpTools.length} tools at ${address}/mcp, and 2 of them at ${address}/mcp/catalog`)
