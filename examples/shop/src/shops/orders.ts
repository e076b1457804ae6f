import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { conflictProblems, readProblems } from '../http/problem.ts'
import { ShopParams, Uuid } from '../http/schemas.ts'
import { changedMeanwhile, IfMatch, preconditionOf, readRecord, sendRecord } from '../http/if-match.ts'
import { IdempotencyKey } from '../idempotency/key.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { orderRepository } from './order-repository.ts'
import { list, Order, OrderChanges, OrderInput } from './order-schemas.ts'

const OrderParams = Type.Object({ ...ShopParams.properties, order_id: Uuid('The order') })

/** The orders of a shop. They are never deleted. */
export const orders: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = orderRepository(knex)

  app.get('/', {
    schema: {
      operationId: 'list_orders',
      summary: 'List orders',
      description: 'List the orders of a shop with their lines, a page at a time.',
      tags: ['orders'],
      params: ShopParams,
      querystring: listQuerySchema(list),
      response: { 200: Type.Array(Order), ...readProblems }
    }
  }, async ({ shop, query }, reply) => sendPage(reply, 'orders', query, await repository.list(shop, query)))

  app.post('/', {
    schema: {
      operationId: 'create_order',
      summary: 'Create an order',
      description:
        'Create a pending order of an account. Its lines keep the name, SKU and price that the products have now, ' +
        'in the currency of the shop by default. A price in force for the quantity overrides the price_amount ' +
        'of the product.',
      tags: ['orders'],
      params: ShopParams,
      headers: IdempotencyKey,
      body: OrderInput,
      response: { 201: Order, ...conflictProblems }
    }
  }, async ({ shop, body, on }, reply) => {
    const order = await repository.create(shop, body, on)
    return sendRecord(reply.code(201).header('location', `/shops/${shop.id}/orders/${order.id}`), order)
  })

  app.get('/:order_id', {
    schema: {
      operationId: 'get_order',
      summary: 'Get an order',
      description: 'Get one order of a shop with its lines.',
      tags: ['orders'],
      params: OrderParams,
      response: { ...readRecord(Order), ...readProblems }
    }
  }, async ({ shop, params }, reply) => sendRecord(reply, await repository.get(shop, params.order_id)))

  app.patch('/:order_id', {
    schema: {
      operationId: 'update_order_status',
      summary: 'Update the status of an order',
      description: 'Move an order on: pending to paid, paid to fulfilled, and either of the first two to cancelled. ' +
        'Nothing else changes.',
      tags: ['orders'],
      params: OrderParams,
      headers: IfMatch,
      body: OrderChanges,
      response: { 200: Order, ...changedMeanwhile(Order), ...conflictProblems }
    }
  }, async (request, reply) => {
    const { shop, params: { order_id: id }, body } = request
    return sendRecord(
      reply,
      await repository.ifUnchanged(
        shop,
        id,
        preconditionOf(request),
        async (on) => await repository.updateStatus(shop, id, body.status, on)
      )
    )
  })
}
