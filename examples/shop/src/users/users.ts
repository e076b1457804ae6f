import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { callerOf } from '../access/caller.ts'
import { conflictProblems, readProblems, refusals } from '../http/problem.ts'
import { Deleted, Uuid } from '../http/schemas.ts'
import { OptionalDecision, PersonKeys } from './key-decision.ts'
import { changedMeanwhile, IfMatch, preconditionOf, readRecord, sendRecord } from '../http/if-match.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { userAdministration } from './administration.ts'
import { deletePerson, exportOf } from './personal-data.ts'
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

  app.patch(
    '/:user_id',
    {
      schema: {
        operationId: 'update_user',
        summary: 'Update a user',
        description:
          'Change the roles of a person, or make them inactive, from their next request on. A new name replaces ' +
          'the old one in the history too; their next sign-in stores the name in their token. API keys of inactive ' +
          'people are refused; keys says what becomes of them, see list_user_keys. The last active admin cannot ' +
          'be changed. Admins only.',
        tags: ['users'],
        params: UserParams,
        headers: IfMatch,
        body: UserChanges,
        response: { 200: User, ...changedMeanwhile(User), ...conflictProblems }
      }
    },
    async (request, reply) =>
      sendRecord(
        reply,
        await administration.update(callerOf(request), request.params.user_id, request.body, preconditionOf(request))
      )
  )

  app.get('/:user_id/api-keys', {
    schema: {
      operationId: 'list_user_keys',
      summary: 'List the API keys of a user',
      description: 'List the API keys that a person created or took over, in all shops, but for those that are ' +
        'revoked or expired. They are refused while the person is inactive. Admins only.',
      tags: ['users'],
      params: UserParams,
      response: { 200: PersonKeys, ...readProblems }
    }
  }, async ({ params }) => ({ keys: [...await administration.keys(params.user_id)] }))

  app.get('/:user_id/export', {
    schema: {
      operationId: 'export_user',
      summary: 'Export what is stored about a user',
      description:
        'Everything that is stored about a person, as lines of JSON, each with its table. What they changed is ' +
        'listed without the values, which belong to the shops. Admins only.',
      tags: ['users'],
      params: UserParams,
      response: {
        200: { description: 'Lines of JSON', content: { 'application/x-ndjson': { schema: Type.String() } } },
        ...readProblems
      }
    }
  }, async ({ params }, reply) => {
    const user = await administration.get(params.user_id)
    return await reply.type('application/x-ndjson').send(
      Readable.from(exportOf(knex, user), { objectMode: false }) as never
    )
  })

  app.delete('/:user_id', {
    schema: {
      operationId: 'delete_user',
      summary: 'Delete a user',
      description:
        'Delete a person for good: their name, their subject, their memberships and the sign-ins of their apps. ' +
        'What they did stays in the history under an id that leads to nobody. Their API keys are revoked, unless ' +
        'keys=hand_over. ' +
        'Remove them at the identity provider first: a token that is still valid makes a new person without any ' +
        'rights. The last active admin cannot be deleted. Admins only.',
      tags: ['users'],
      params: UserParams,
      querystring: OptionalDecision,
      headers: IfMatch,
      response: { 204: Deleted, ...changedMeanwhile(User), ...conflictProblems }
    }
  }, async (request, reply) => {
    await deletePerson(knex, request.params.user_id, callerOf(request), {
      ...request.query,
      grants: app.oauthGrants,
      log: request.log,
      precondition: preconditionOf(request)
    })
    return await reply.code(204).send(null)
  })
}
