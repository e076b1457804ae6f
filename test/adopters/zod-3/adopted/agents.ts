import type { FastifyInstance } from 'fastify'
import dualAuth, { memoryStore, scopesFromRoute } from 'dual-auth'
import management from 'dual-auth/management'
import mcpFromRoutes from 'mcp-from-routes'
import { z } from 'zod'
import { zodToJsonSchema } from 'zod-to-json-schema'

/** Keys of people, and the notes as tools. */
export async function addAgents (app: FastifyInstance) {
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
    canManage: async (request, person) => {
      const { sub } = await request.jwtVerify<{ sub: string }>()
      return sub === person && sub
    }
  })
  app.addHook('onRoute', ({ url, method, schema }) => {
    if (url === '/notes' && method !== 'HEAD' && schema) schema.tags = [...schema.tags ?? [], 'mcp']
  })
  await app.register(mcpFromRoutes, {
    serverInfo: { name: 'notes', version: '1.0.0' },
    toJsonSchema: (schema, { io }) =>
      schema instanceof z.ZodType
        ? zodToJsonSchema(schema, { pipeStrategy: io, effectStrategy: io === 'input' ? 'input' : 'any' })
        : undefined,
    trustSerializer: true,
    onRequest: async ({ identity }, reply) => {
      if (identity === null) {
        await reply.code(401).header('www-authenticate', 'Bearer').send({ message: 'An API key is required' })
      }
    }
  })
}
