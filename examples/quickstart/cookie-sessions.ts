import { createHash, randomBytes } from 'node:crypto'
import cookie from '@fastify/cookie'
import Fastify from 'fastify'
import type { FastifyReply, FastifyRequest } from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'

declare module 'fastify' {
  interface FastifyRequest { person: string | undefined }
}

const app = Fastify()
const sessions = new Map<string, string>() // Session id to person.
const tokens = new Map<string, string>() // Hash of a token to person.
const notes = new Map([['ada', ['Water the plants']], ['kim', ['Buy milk']]])
const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url')

await app.register(cookie)

// One hook finds the person, whichever credential came. Everything else reads `request.person` alone.
app.decorateRequest('person', undefined)
app.addHook('onRequest', async (request) => {
  const { authorization } = request.headers
  const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
  // A request with a bad token is nobody's, even beside a good cookie.
  request.person = authorization === undefined ? sessions.get(request.cookies.session ?? '') : tokens.get(hashOf(token))
})

async function requirePerson ({ person }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (person === undefined) await reply.code(401).header('www-authenticate', 'Bearer').send({ message: 'Sign in first' })
}

// A browser adds its cookie to every request, so the endpoint takes tokens only.
async function requireToken (request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.headers.authorization === undefined) request.person = undefined
  await requirePerson(request, reply)
}

await app.register(mcpFromRoutes, { serverInfo: { name: 'notes', version: '1.0.0' }, onRequest: requireToken })

app.post<{ Body: { name: string } }>('/session', async ({ body }, reply) => {
  const id = randomBytes(32).toString('base64url')
  sessions.set(id, body.name) // Check a password before.
  return reply.setCookie('session', id, { httpOnly: true, sameSite: 'strict', path: '/' }).code(204).send()
})

// Shown to a person who is signed in, to paste into the configuration of an agent.
app.post('/agent-token', { onRequest: requirePerson }, async ({ person = '' }) => {
  const token = randomBytes(32).toString('base64url')
  tokens.set(hashOf(token), person)
  return { token }
})

app.get('/notes', {
  schema: { operationId: 'list_notes', description: 'List your notes.', tags: ['mcp'] },
  onRequest: requirePerson
}, async ({ person = '' }) => notes.get(person))

console.log(`Notes at ${await app.listen({ port: Number(process.env.PORT ?? 3000) })}`)
