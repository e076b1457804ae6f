import type { FastifyPluginAsync } from 'fastify'
import type { Knex } from 'knex'
import { accounts } from './accounts.ts'
import { config } from './config.ts'
import { members } from './members.ts'
import { orders } from './orders.ts'
import { prices } from './prices.ts'
import { ShopScope } from '../access/scope.ts'
import { summary } from './summary.ts'
import { waiting } from './waiting-keys.ts'

/** The records of a shop outside its catalog: for tokens only, and never tools. */
export const shopRecords: FastifyPluginAsync<{ readonly knex: Knex }> = async (app, { knex }) => {
  app.addHook('preParsing', ShopScope.authorize(knex))

  await app.register(config, { knex, prefix: '/shops/:shop_id/config' })
  await app.register(summary, { knex, prefix: '/shops/:shop_id/summary' })
  await app.register(members, { knex, prefix: '/shops/:shop_id/members' })
  await app.register(waiting, { knex, prefix: '/shops/:shop_id/waiting-keys' })
  await app.register(prices, { knex, prefix: '/shops/:shop_id/prices' })
  await app.register(accounts, { knex, prefix: '/shops/:shop_id/accounts' })
  await app.register(orders, { knex, prefix: '/shops/:shop_id/orders' })
}
