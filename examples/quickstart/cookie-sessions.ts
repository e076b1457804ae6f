import { randomBytes } from 'node:crypto'
import cookie from '@fastify/cookie'
import dualAuth, { memoryStore, scopesFromRoute } from 'dual-auth'
import management from 'dual-auth/management'
import Fastify, { type FastifyRequest } from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'

declare module 'fastify' {
  interface FastifyRequest {
    person: string | undefined
  }
}

const app = Fastify()
const sessions = new Map<string, string>() // Session id to person.
const notes = new Map([['ada', ['Water the plants']], ['kim', ['Buy milk']]])

// The sign-in that the application has: a hook that finds the person.
await app.register(cookie)
app.decorateRequest('person', undefined)
app.addHook('onRequest', async (request) => {
  request.person = sessions.get(request.cookies.session ?? '')
})

// Keys for agents beside it. Each belongs to a person, who makes it and revokes it.
await app.register(dualAuth, {
  apiKeys: {
    marker: 'notes',
    peppers: [{ id: '1', secret: process.env.PEPPER ?? randomBytes(32) }],
    store: memoryStore(),
    ownerParam: 'person',
    ownerIdFromParam: 'slug'
  },
  jwt: 'host', // Whoever has no key is left to the hooks of the application.
  policy: ({ url }) => ['/mcp', '/notes'].includes(url) ? 'any-key' : 'public',
  scopes: (route) => route.url === '/mcp' ? null : scopesFromRoute(route)
})
await app.register(management, {
  path: '/people/:person/api-keys',
  canManage: ({ person }, owner) => person === owner && person
})

/** A key decides alone, also beside a cookie. */
const personOf = ({ identity, person }: FastifyRequest) => identity?.kind === 'api-key' ? identity.ownerId : person

// A browser adds its cookie to every request, so the endpoint takes keys only.
await app.register(mcpFromRoutes, {
  serverInfo: { name: 'notes', version: '1.0.0' },
  onRequest: async ({ identity }, reply) => {
    if (identity === null) {
      await reply.code(401).header('www-authenticate', 'Bearer').send({ message: 'An API key is required' })
    }
  }
})

app.post<{ Body: { name: string } }>('/session', async ({ body }, reply) => {
  const id = randomBytes(32).toString('base64url')
  sessions.set(id, body.name) // Check a password before.
  return reply.setCookie('session', id, { httpOnly: true, sameSite: 'strict', path: '/' }).code(204).send()
})

app.get('/notes', {
  schema: { operationId: 'list_notes', description: 'List your notes.', tags: ['mcp'] },
  onRequest: async (request, reply) => {
    if (personOf(request) === undefined) await reply.code(401).send({ message: 'Sign in first' })
  }
}, async (request) => notes.get(personOf(request) ?? ''))

console.log(`Notes at ${await app.listen({ port: Number(process.env.PORT ?? 3000) })}`)
