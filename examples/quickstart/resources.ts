import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { resources } from 'mcp-from-routes/resources'

const policies = new Map([
  ['returns', '# Returns\n\nWithin 30 days, unused.\n'],
  ['shipping', '# Shipping\n\nIn two days, within the EU.\n']
])

const app = Fastify()
await app.register(mcpFromRoutes, { serverInfo: { name: 'shop', version: '1.0.0' }, extensions: [resources()] })

app.get('/policies', {
  schema: { operationId: 'list_policies', description: 'The names of the policies.', tags: ['mcp-resource'] },
  config: { mcp: { resource: { uri: 'shop://policies', name: 'policies', mimeType: 'application/json' } } }
}, async () => [...policies.keys()])

app.get<{ Params: { id: string } }>('/policies/:id', {
  schema: { operationId: 'read_policy', description: 'One policy of the shop.', tags: ['mcp-resource'] },
  config: { mcp: { resource: { uri: 'shop://policies/{id}', name: 'policy', mimeType: 'text/markdown' } } }
}, async ({ params: { id } }, reply) => {
  const policy = policies.get(id)
  return policy === undefined
    ? reply.callNotFound()
    : reply.type('text/markdown').header('cache-control', 'max-age=60').send(policy)
})

const address = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`${app.mcpResources.map(({ uri }) => uri).join(' and ')} at ${address}/mcp`)
