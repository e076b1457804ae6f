import type { Static } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { slugFromName } from '../catalog/slug.ts'
import { refuseUnknownCurrency } from '../currency.ts'
import { conflict, notFound } from '../errors.ts'
import type { ListQuery } from '../list.ts'
import { type Page, pageOf, updatedAt } from '../repository.ts'
import { shopsReached } from './access.ts'
import type { ShopScope } from './scope.ts'
import { filters, type Shop, type ShopChanges, type ShopInput } from './shop-schemas.ts'

type ShopRow = Static<typeof Shop>

/** Never the payment key. */
const COLUMNS = ['id', 'slug', 'name', 'currency', 'status', 'created_at', 'updated_at'] as const

/** The shops themselves. */
export function shopsRepository (knex: Knex) {
  return {
    /** @returns a page of the shops that the caller of the request reaches */
    async list (request: FastifyRequest, query: ListQuery): Promise<Page<ShopRow>> {
      return await pageOf<ShopRow>(knex, shopsReached(knex, request), { filters }, query, COLUMNS)
    },

    async get (shop: ShopScope): Promise<ShopRow> {
      return required(await knex('shops').where({ id: shop.id }).select(COLUMNS), shop)
    },

    /** @throws {@link SHOP_CONFLICT} | {@link SHOP_INVALID} */
    async create ({ slug, ...columns }: Static<typeof ShopInput>): Promise<ShopRow> {
      refuseUnknownCurrency(columns)
      const [shop] = await knex('shops').insert({ ...columns, slug: slug ?? slugFromName(columns.name) }).returning(COLUMNS)
      return shop
    },

    /** @throws {@link SHOP_CONFLICT} */
    async update (shop: ShopScope, changes: Static<typeof ShopChanges>): Promise<ShopRow> {
      return required(await knex('shops').where({ id: shop.id }).update({ ...changes, updated_at: updatedAt(knex, changes) }).returning(COLUMNS), shop)
    },

    /**
     * Deletes the shop with all that is in it.
     *
     * @throws {@link SHOP_CONFLICT} when it has orders
     */
    async remove (shop: ShopScope): Promise<void> {
      await knex.transaction(async (trx) => {
        // Whoever places an order holds the row of the shop until that is done, and waits here from now on.
        required(await trx('shops').where({ id: shop.id }).forUpdate().select('id'), shop)
        const order = await trx('orders').where({ shop_id: shop.id }).first('id')
        if (order !== undefined) throw conflict('shop_id', 'The shop has orders, which are kept: archive it instead')
        await trx('shops').where({ id: shop.id }).delete()
      })
    }
  }
}

/** @throws {@link SHOP_NOT_FOUND} when the shop was deleted since the caller was let in */
function required<Row> ([row]: readonly Row[], { id }: ShopScope): Row {
  if (row === undefined) throw notFound('shop', id)
  return row
}
