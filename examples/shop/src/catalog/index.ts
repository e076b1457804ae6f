import type { FastifyPluginAsync } from 'fastify'
import type { Knex } from 'knex'
import { ShopScope } from '../access/scope.ts'
import { attributes } from './attributes.ts'
import { categories } from './categories.ts'
import { products } from './products.ts'
import { tags } from './tags.ts'

/** The catalog of each shop: 20 of its routes are tools. */
export const catalog: FastifyPluginAsync<{ readonly knex: Knex, readonly hasViews: boolean }> = async (
  app,
  { knex, hasViews }
) => {
  app.addHook('preParsing', ShopScope.authorize(knex))

  await app.register(products, { knex, hasViews, prefix: '/shops/:shop_id/products' })
  await app.register(categories, { knex, prefix: '/shops/:shop_id/categories' })
  await app.register(tags, { knex, prefix: '/shops/:shop_id/tags' })
  await app.register(attributes, { knex, prefix: '/shops/:shop_id/attributes' })
}
