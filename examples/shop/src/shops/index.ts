import type { FastifyPluginAsync } from 'fastify'
import type { Knex } from 'knex'
import { accounts } from './accounts.ts'
import { orders } from './orders.ts'
import { ShopScope } from './scope.ts'

/** What a shop keeps besides its catalog: for tokens only, and never tools. */
export const shopRecords: FastifyPluginAsync<{ readonly knex: Knex }> = async (app, { knex }) => {
  app.addHook('preParsing', ShopScope.authorize(knex))

  await app.register(accounts, { knex, prefix: '/shops/:shop_id/accounts' })
  await app.register(orders, { knex, prefix: '/shops/:shop_id/orders' })
}
