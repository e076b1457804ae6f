import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { callerOf } from '../access/caller.ts'
import { conflictProblems, readProblems } from '../http/problem.ts'
import { Deleted, ShopParams, Uuid } from '../http/schemas.ts'
import { decision, OptionalDecision, PersonKeys } from '../users/key-decision.ts'
import { changedMeanwhile, IfMatch, preconditionOf, readRecord, sendRecord } from '../http/if-match.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { memberRepository } from './member-repository.ts'
import { list, Member, MemberChanges, MemberInput } from './member-schemas.ts'

const MemberParams = Type.Object({ ...ShopParams.properties, user_id: Uuid('The person') })

const KeyDecision = Type.Object({ keys: decision.keys, keys_to: Type.Optional(decision.keys_to) }, {
  additionalProperties: false
})

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

  app.get('/:user_id/api-keys', {
    schema: {
      operationId: 'list_member_keys',
      summary: 'List the API keys of a person',
      description:
        'List the API keys of a shop that a person created or took over, but for those that are revoked or ' +
        'expired. Those of people who are inactive, or no members any more, are refused until somebody decides.',
      tags: ['members'],
      params: MemberParams,
      response: { 200: PersonKeys, ...readProblems }
    }
  }, async ({ shop, params }) => ({ keys: [...await repository.keys(shop, params.user_id)] }))

  app.put('/:user_id/api-keys', {
    schema: {
      operationId: 'decide_member_keys',
      summary: 'Decide what becomes of the API keys of a person',
      description:
        'Revoke the keys that list_member_keys lists, or hand them over to somebody else. Whoever made a key knows ' +
        'it: rotate those that are handed over. For owners of the shop, admins and machines.',
      tags: ['members'],
      params: MemberParams,
      body: KeyDecision,
      response: { 200: PersonKeys, ...conflictProblems }
    }
  }, async (request) => ({
    keys: [...await repository.decide(request.shop, callerOf(request), request.params.user_id, request.body)]
  }))

  app.delete('/:user_id', {
    schema: {
      operationId: 'remove_member',
      summary: 'Remove a member',
      description:
        'Remove a person from a shop: their next request to it is rejected. keys says what becomes of the API keys ' +
        'that list_member_keys lists; left out, they are refused until decide_member_keys. The last active owner ' +
        'cannot be removed. For owners of the shop, admins, machines, and the member who leaves, who decides about ' +
        'no keys.',
      tags: ['members'],
      params: MemberParams,
      querystring: OptionalDecision,
      headers: IfMatch,
      response: { 204: Deleted, ...changedMeanwhile(Member), ...conflictProblems }
    }
  }, async (request, reply) => {
    await repository.remove(request.shop, callerOf(request), request.params.user_id, {
      ...request.query,
      precondition: preconditionOf(request)
    })
    return await reply.code(204).send(null)
  })
}
