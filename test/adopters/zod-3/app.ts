import jwt from '@fastify/jwt'
import Fastify, { type FastifyRequest } from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { Note, NotesOf, NewNote } from './notes.ts'

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: { sub: string }
    user: { sub: string }
  }
}

const passwords: Readonly<Record<string, string>> = { ada: 'enchantress', kim: 'fjord' }

/** Lets signed-in people through: with a token of this application, signed with a secret. */
async function signedIn (request: FastifyRequest) {
  await request.jwtVerify()
}

export async function build () {
  const app = Fastify().withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  await app.register(jwt, { secret: 'a secret of an application for tests' })

  app.post('/session', {
    schema: {
      operationId: 'sign_in',
      body: z.object({ name: z.string(), password: z.string() }),
      response: { 200: z.object({ token: z.string() }), 401: z.object({ message: z.string() }) }
    }
  }, async ({ body: { name, password } }, reply) => {
    if (passwords[name] !== password) return reply.code(401).send({ message: 'Wrong name or password' })
    return { token: app.jwt.sign({ sub: name }, { expiresIn: '1h' }) }
  })

  const notes = new NotesOf()

  app.get(
    '/notes',
    {
      onRequest: signedIn,
      schema: {
        operationId: 'list_notes',
        description: 'List your notes.',
        tags: ['notes'],
        querystring: z.object({ limit: z.coerce.number().int().min(1).max(100).default(20), q: z.string().optional() }),
        response: { 200: z.array(Note) }
      }
    },
    async ({ query: { limit, q }, user }) =>
      notes.list(user.sub).filter(({ text }) => q === undefined || text.includes(q)).slice(0, limit)
  )

  app.post('/notes', {
    onRequest: signedIn,
    schema: {
      operationId: 'create_note',
      description: 'Write a note.',
      tags: ['notes'],
      body: NewNote,
      response: { 201: Note }
    }
  }, async ({ body, user }, reply) => reply.code(201).send(notes.add(user.sub, body)))

  return app
}
