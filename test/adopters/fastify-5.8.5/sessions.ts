import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyRequest {
    person: string | null
  }
  interface FastifyInstance {
    personOf(request: FastifyRequest): string | null
    signedIn(request: FastifyRequest, reply: FastifyReply): Promise<unknown>
  }
}

const passwords: Readonly<Record<string, string>> = { ada: 'enchantress', kim: 'fjord' }

/** People sign in for an opaque token, which the server remembers. */
export const sessions = fp(async (app) => {
  const people = new Map<string, string>()
  app.decorateRequest('person', null)
  app.decorate(
    'personOf',
    ({ headers: { authorization = '' } }: FastifyRequest) => people.get(authorization.replace('Bearer ', '')) ?? null
  )
  app.decorate('signedIn', async (request: FastifyRequest, reply: FastifyReply) => {
    request.person ??= app.personOf(request)
    if (request.person === null) return await reply.code(401).send({ message: 'Sign in first' })
  })
  app.post<{ Body: { name: string, password: string } }>('/session', {
    schema: {
      body: {
        type: 'object',
        required: ['name', 'password'],
        properties: { name: { type: 'string' }, password: { type: 'string' } }
      }
    }
  }, async ({ body: { name, password } }, reply) => {
    if (passwords[name] !== password) return reply.code(401).send({ message: 'Wrong name or password' })
    const token = randomBytes(16).toString('hex')
    people.set(token, name)
    return { token }
  })
})
