import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { callerOf } from '../history/caller.ts'
import { conflictProblems, readProblems, refusals } from '../http/problem.ts'
import { Uuid } from '../http/schemas.ts'
import { changedMeanwhile, IfMatch, preconditionOf, readRecord, sendRecord } from '../http/versions.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { userAdministration } from './administration.ts'
import { requireAdmin } from './require-admin.ts'
import { list, User, UserChanges } from './user-schemas.ts'

const UserParams = Type.Object({ user_id: Uuid('The person') })

/** The users, for admins. */
export const users: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const administration = userAdministration(knex)
  app.addHook('preParsing', requireAdmin(knex))

  app.get('/', {
    schema: {
      operationId: 'list_users',
      summary: 'List users',
      description: 'List the people who have signed in, a page at a time. Admins only.',
      tags: ['users'],
      querystring: listQuerySchema(list),
      response: { 200: Type.Array(User), ...refusals }
    }
  }, async ({ query }, reply) => sendPage(reply, 'users', query, await administration.list(query)))

  app.get('/:user_id', {
    schema: {
      operationId: 'get_user',
      summary: 'Get a user',
      description: 'Get one person. Admins only.',
      tags: ['users'],
      params: UserParams,
      response: { ...readRecord(User), ...readProblems }
    }
  }, async ({ params }, reply) => sendRecord(reply, await administration.get(params.user_id)))

  app.patch('/:user_id', {
    schema: {
      operationId: 'update_user',
      summary: 'Update a user',
      description: 'Change the roles of a person, or make them inactive, from their next request on. The last active admin cannot be changed. Admins only.',
      tags: ['users'],
      params: UserParams,
      headers: IfMatch,
      body: UserChanges,
      response: { 200: User, ...changedMeanwhile(User), ...conflictProblems }
    }
  }, async (request, reply) => sendRecord(reply, await administration.update(callerOf(request), request.params.user_id, request.body, preconditionOf(request))))
}
