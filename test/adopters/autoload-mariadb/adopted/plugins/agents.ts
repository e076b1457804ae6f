import dualAuth, { memoryStore, scopesFromRoute } from 'dual-auth'
import management from 'dual-auth/management'
import fp from 'fastify-plugin'
import mcpFromRoutes from 'mcp-from-routes'

/** Keys of people, and the notes as tools. Loaded after the sign-in, and before the routes. */
export default fp(async (app) => {
  await app.register(dualAuth, {
    apiKeys: {
      marker: 'notes',
      peppers: [{ id: '1', secret: 'a pepper of an application for tests' }],
      store: memoryStore(),
      ownerParam: 'person',
      ownerIdFromParam: 'slug'
    },
    jwt: 'host',
    policy: ({ url }) => ['/mcp', '/notes'].includes(url) ? 'any-key' : 'public',
    scopes: (route) => route.url === '/mcp' ? null : scopesFromRoute(route)
  })
  await app.register(management, {
    path: '/people/:person/api-keys',
    canManage: ({ session }, person) => session.person === person && person
  })
  app.addHook('onRoute', ({ url, method, schema }) => {
    if (url === '/notes' && method !== 'HEAD' && schema) schema.tags = [...schema.tags ?? [], 'mcp']
  })
  await app.register(mcpFromRoutes, {
    serverInfo: { name: 'notes', version: '1.0.0' },
    onRequest: async ({ identity }, reply) => {
      if (identity === null) {
        await reply.code(401).header('www-authenticate', 'Bearer').send({ message: 'An API key is required' })
      }
    }
  })
}, { name: 'agents', dependencies: ['sign-in'] })
