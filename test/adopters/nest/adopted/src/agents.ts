import type { NestFastifyApplication } from '@nestjs/platform-fastify'
import { Sessions } from './notes'

/** Keys of people, and the notes as tools. Called before Nest registers its routes. */
export async function addAgents (nest: NestFastifyApplication) {
  // The packages are ES modules.
  const { default: dualAuth, memoryStore, scopesFromRoute } = await import('dual-auth')
  const { default: management } = await import('dual-auth/management')
  const { default: mcpFromRoutes } = await import('mcp-from-routes')
  const app = nest.getHttpAdapter().getInstance()
  const sessions = nest.get(Sessions)
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
    canManage: (request, person) => sessions.personOf(request) === person && person
  })
  app.addHook('onRequest', async (request) => {
    if (request.identity?.kind === 'api-key') Object.assign(request, { person: request.identity.ownerId })
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
}
