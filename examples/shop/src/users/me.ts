import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { notFound } from '../errors.ts'
import { readProblems } from '../http/problem.ts'
import { Me } from './user-schemas.ts'

/** The calling person, as in the database. */
export const me: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/me', {
    schema: {
      operationId: 'get_me',
      summary: 'Get yourself',
      description: 'Get the person whose token it is, with the id that shops use. Machines get 404.',
      tags: ['users'],
      response: { 200: Me, ...readProblems }
    }
  }, async ({ currentUser }) => {
    if (currentUser === null) throw notFound('user', 'behind this token')
    return { ...currentUser, roles: [...currentUser.roles] }
  })
}
