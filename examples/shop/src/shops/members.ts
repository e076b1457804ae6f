import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { callerOf } from '../history/caller.ts'
import { conflictProblems, readProblems } from '../http/problem.ts'
import { Deleted, ShopParams, Uuid } from '../http/schemas.ts'
import { changedMeanwhile, IfMatch, preconditionOf, readRecord, sendRecord } from '../http/versions.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { memberRepository } from './member-repository.ts'
import { list, Member, MemberChanges, MemberInput } from './member-schemas.ts'

const MemberParams = Type.Object({ ...ShopParams.properties, user_id: Uuid('The person') })

/** The people who work for a shop. */
export const members: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = memberRepository(knex)

  app.get('/', {
    schema: {
      operationId: 'list_members',
      summary: 'List members',
      description: 'List the people who work for a shop, a page at a time.',
      tags: ['members'],
      params: ShopParams,
      querystring: listQuerySchema(list),
      response: { 200: Type.Array(Member), ...readProblems }
    }
  }, async ({ shop, query }, reply) => sendPage(reply, 'members', query, await repository.list(shop, query)))

  app.post('/', {
    schema: {
      operationId: 'add_member',
      summary: 'Add a member',
      description: 'Let a person work for a shop. For owners of the shop, admins and machines.',
      tags: ['members'],
      params: ShopParams,
      body: MemberInput,
      response: { 201: Member, ...conflictProblems }
    }
  }, async (request, reply) => {
    const { shop, body } = request
    const member = await repository.add(shop, callerOf(request), body)
    return sendRecord(reply.code(201).header('location', `/shops/${shop.id}/members/${member.user_id}`), member)
  })

  app.get('/:user_id', {
    schema: {
      operationId: 'get_member',
      summary: 'Get a member',
      description: 'Get one of the people who work for a shop.',
      tags: ['members'],
      params: MemberParams,
      response: { ...readRecord(Member), ...readProblems }
    }
  }, async ({ shop, params }, reply) => sendRecord(reply, await repository.get(shop, params.user_id)))

  app.patch(
    '/:user_id',
    {
      schema: {
        operationId: 'update_member',
        summary: 'Update a member',
        description:
          'Change the role of a member. The last active owner cannot be changed. For owners of the shop, admins ' +
          'and machines.',
        tags: ['members'],
        params: MemberParams,
        headers: IfMatch,
        body: MemberChanges,
        response: { 200: Member, ...changedMeanwhile(Member), ...conflictProblems }
      }
    },
    async (request, reply) =>
      sendRecord(
        reply,
        await repository.update(
          request.shop,
          callerOf(request),
          request.params.user_id,
          request.body,
          preconditionOf(request)
        )
      )
  )

  app.delete('/:user_id', {
    schema: {
      operationId: 'remove_member',
      summary: 'Remove a member',
      description:
        'Remove a person from a shop: their next request to it is rejected. API keys that they created keep working. ' +
        'The last active owner cannot be removed. For owners of the shop, admins, machines, and the member who leaves.',
      tags: ['members'],
      params: MemberParams,
      headers: IfMatch,
      response: { 204: Deleted, ...changedMeanwhile(Member), ...conflictProblems }
    }
  }, async (request, reply) => {
    await repository.remove(request.shop, callerOf(request), request.params.user_id, preconditionOf(request))
    return await reply.code(204).send(null)
  })
}
