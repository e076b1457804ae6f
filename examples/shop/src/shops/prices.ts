import type { FastifyPluginAsync } from 'fastify'
import type { Knex } from 'knex'
import { Uuid } from '../http/schemas.ts'
import { priceRepository } from './price-repository.ts'
import { list, Price, PriceChanges, PriceInput } from './price-schemas.ts'
import { recordRoutes } from '../records/routes.ts'

/** Prices of products in other currencies, for larger quantities, or for a time. */
export const prices: FastifyPluginAsync<{ readonly knex: Knex }> = async (app, { knex }) =>
  recordRoutes(app, {
    one: 'price',
    several: 'prices',
    id: Uuid('The price'),
    schemas: { Input: PriceInput, Changes: PriceChanges, Record: Price },
    list,
    repository: priceRepository(knex),
    operations: {
      list: {
        operationId: 'list_prices',
        summary: 'List prices',
        description:
          'List the prices of the products of a shop, a page at a time. The default price of a product is its ' +
          'price_amount.'
      },
      create: {
        operationId: 'create_price',
        summary: 'Create a price',
        description: 'Create a price of a product, which overrides its price_amount while it is in force. ' +
          'Of several prices, the one with the largest quantity that is reached applies; of those, the one that ' +
          'started last.'
      },
      get: { operationId: 'get_price', summary: 'Get a price', description: 'Get one price of a product of a shop.' },
      update: {
        operationId: 'update_price',
        summary: 'Update a price',
        description:
          'Change some fields of a price; those left out stay as they are. Existing orders keep their prices.'
      },
      delete: {
        operationId: 'delete_price',
        summary: 'Delete a price',
        description: 'Delete a price. It can be restored from the history. To only end it, set its valid_to instead.'
      }
    },
    mayConflict: true
  })
