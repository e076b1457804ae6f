import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { conflictProblems, readProblems, writeProblems } from '../http/problem.ts'
import { Deleted, ShopParams, Uuid } from '../http/schemas.ts'
import { changedMeanwhile, IfMatch, preconditionOf, readRecord, sendRecord } from '../http/versions.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { priceRepository } from './price-repository.ts'
import { list, Price, PriceChanges, PriceInput } from './price-schemas.ts'

const PriceParams = Type.Object({ ...ShopParams.properties, price_id: Uuid('The price') })

/** Prices of products in other currencies, for larger quantities, or for a time. */
export const prices: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = priceRepository(knex)

  app.get('/', {
    schema: {
      operationId: 'list_prices',
      summary: 'List prices',
      description: 'List the prices of the products of a shop, a page at a time. The default price of a product is its price_amount.',
      tags: ['prices'],
      params: ShopParams,
      querystring: listQuerySchema(list),
      response: { 200: Type.Array(Price), ...readProblems }
    }
  }, async ({ shop, query }, reply) => sendPage(reply, 'prices', query, await repository.list(shop, query)))

  app.post('/', {
    schema: {
      operationId: 'create_price',
      summary: 'Create a price',
      description: 'Create a price of a product, which overrides its price_amount while it is in force. ' +
        'Of several prices, the one with the largest quantity that is reached applies; of those, the one that started last.',
      tags: ['prices'],
      params: ShopParams,
      body: PriceInput,
      response: { 201: Price, ...conflictProblems }
    }
  }, async ({ shop, body }, reply) => {
    const price = await repository.create(shop, body)
    return sendRecord(reply.code(201).header('location', `/shops/${shop.id}/prices/${price.id}`), price)
  })

  app.get('/:price_id', {
    schema: {
      operationId: 'get_price',
      summary: 'Get a price',
      description: 'Get one price of a product of a shop.',
      tags: ['prices'],
      params: PriceParams,
      response: { ...readRecord(Price), ...readProblems }
    }
  }, async ({ shop, params }, reply) => sendRecord(reply, await repository.get(shop, params.price_id)))

  app.patch('/:price_id', {
    schema: {
      operationId: 'update_price',
      summary: 'Update a price',
      description: 'Change some fields of a price; those left out stay as they are. Existing orders keep their prices.',
      tags: ['prices'],
      params: PriceParams,
      headers: IfMatch,
      body: PriceChanges,
      response: { 200: Price, ...changedMeanwhile(Price), ...conflictProblems }
    }
  }, async (request, reply) => {
    const { shop, params: { price_id: id }, body } = request
    return sendRecord(reply, await repository.ifUnchanged(shop, id, preconditionOf(request), async (on) => await repository.update(shop, id, body, on)))
  })

  app.delete('/:price_id', {
    schema: {
      operationId: 'delete_price',
      summary: 'Delete a price',
      description: 'Delete a price. It can be restored from the history. To only end it, set its valid_to instead.',
      tags: ['prices'],
      params: PriceParams,
      headers: IfMatch,
      response: { 204: Deleted, ...changedMeanwhile(Price), ...writeProblems }
    }
  }, async (request, reply) => {
    const { shop, params: { price_id: id } } = request
    await repository.ifUnchanged(shop, id, preconditionOf(request), async (on) => { await repository.remove(shop, id, on) })
    return await reply.code(204).send(null)
  })
}
