import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'

const Note = Type.Object({ id: Type.Integer(), text: Type.String(), created_at: Type.String({ format: 'date-time' }) })

/** Whose notes they are. */
const personOf = ({ session }: FastifyRequest) => session.person

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.addHook('preHandler', async (request, reply) => {
    if (personOf(request) === undefined) await reply.code(401).send({ message: 'Sign in first' })
  })

  app.get(
    '/notes',
    {
      schema: {
        operationId: 'list_notes',
        description: 'List your notes.',
        tags: ['notes'],
        querystring: Type.Object({ limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }) }),
        response: { 200: Type.Array(Note) }
      }
    },
    async (request) =>
      await app.knex('notes').where({ person: personOf(request) }).orderBy('id').limit(request.query.limit).select(
        'id',
        'text',
        'created_at'
      )
  )

  app.post('/notes', {
    schema: {
      operationId: 'create_note',
      description: 'Write a note.',
      tags: ['notes'],
      body: Type.Object({ text: Type.String({ minLength: 1, maxLength: 500 }) }),
      response: { 201: Note }
    }
  }, async (request, reply) => {
    const [id] = await app.knex('notes').insert({ person: personOf(request), text: request.body.text })
    return reply.code(201).send(await app.knex('notes').where({ id }).first('id', 'text', 'created_at'))
  })
}

export default routes
