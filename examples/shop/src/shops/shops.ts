import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { callerOf } from '../access/caller.ts'
import { conflictProblems, readProblems, refusals } from '../http/problem.ts'
import { Deleted, ShopParams } from '../http/schemas.ts'
import { changedMeanwhile, IfMatch, preconditionOf, readRecord, sendRecord } from '../http/if-match.ts'
import { IdempotencyKey } from '../idempotency/key.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { requireAdmin } from '../users/require-admin.ts'
import { ShopScope } from '../access/scope.ts'
import { shopDeletion } from './deletion.ts'
import { shopsRepository } from './shop-repository.ts'
import { list, Shop, ShopChanges, ShopInput } from './shop-schemas.ts'

/** The shops themselves: people see the shops that they have access to; admins create, archive and delete them. */
export const shops: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = shopsRepository(knex)
  const deletion = shopDeletion(app, knex)
  const inShop = ShopScope.authorize(knex)
  const adminOnly = requireAdmin(knex)

  app.get('/', {
    schema: {
      operationId: 'list_shops',
      summary: 'List shops',
      description: 'List the shops that you reach, a page at a time: those that you are a member of; all of them for ' +
        'admins and machines.',
      tags: ['shops'],
      querystring: listQuerySchema(list),
      response: { 200: Type.Array(Shop), ...refusals }
    }
  }, async (request, reply) => sendPage(reply, 'shops', request.query, await repository.list(request, request.query)))

  app.post('/', {
    preParsing: adminOnly,
    schema: {
      operationId: 'create_shop',
      summary: 'Create a shop',
      description: 'Create a shop. Admins only.',
      tags: ['shops'],
      headers: IdempotencyKey,
      body: ShopInput,
      response: { 201: Shop, ...conflictProblems }
    }
  }, async (request, reply) => {
    const shop = await repository.create(callerOf(request), request.body, request.on)
    return sendRecord(reply.code(201).header('location', `/shops/${shop.id}`), shop)
  })

  app.get('/:shop_id', {
    preParsing: inShop,
    schema: {
      operationId: 'get_shop',
      summary: 'Get a shop',
      description: 'Get one shop that you reach.',
      tags: ['shops'],
      params: ShopParams,
      response: { ...readRecord(Shop), ...readProblems }
    }
  }, async ({ shop }, reply) => sendRecord(reply, await repository.get(shop)))

  app.patch(
    '/:shop_id',
    {
      preParsing: [adminOnly, inShop],
      schema: {
        operationId: 'update_shop',
        summary: 'Update a shop',
        description: 'Change the name, slug or status of a shop; fields left out stay as they are. Admins only.',
        tags: ['shops'],
        params: ShopParams,
        headers: IfMatch,
        body: ShopChanges,
        response: { 200: Shop, ...changedMeanwhile(Shop), ...conflictProblems }
      }
    },
    async (request, reply) =>
      sendRecord(reply, await repository.update(request.shop, callerOf(request), request.body, preconditionOf(request)))
  )

  app.delete('/:shop_id', {
    preParsing: [adminOnly, inShop],
    schema: {
      operationId: 'delete_shop',
      summary: 'Delete a shop',
      description:
        'Delete a shop permanently, with its catalog, accounts, members and API keys. A shop with orders cannot ' +
        'be deleted: archive it. Admins only.',
      tags: ['shops'],
      params: ShopParams,
      headers: IfMatch,
      response: { 204: Deleted, ...changedMeanwhile(Shop), ...conflictProblems }
    }
  }, async (request, reply) => {
    await repository.remove(request.shop, callerOf(request), preconditionOf(request))
    await deletion.empty(request.shop.id)
    return await reply.code(204).send(null)
  })
}
