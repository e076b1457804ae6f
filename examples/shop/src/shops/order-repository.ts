import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { conflict, invalid } from '../errors.ts'
import { holdShop } from '../access/hold.ts'
import { list, Order, type OrderInput, type OrderStatus } from './order-schemas.ts'
import { pricesInForce, unitAmount } from './price-repository.ts'
import { recordRepository } from '../records/repository.ts'
import type { ShopScope } from '../access/scope.ts'

type OrderRow = Static<typeof Order>
type LineInput = Static<typeof OrderInput>['lines'][number]

/** The statuses that may follow a status. */
const NEXT: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  pending: ['paid', 'cancelled'],
  paid: ['fulfilled', 'cancelled'],
  fulfilled: [],
  cancelled: []
}

/** Orders with their lines, which never change. */
export function orderRepository (knex: Knex) {
  const rows = recordRepository(knex, {
    table: 'orders',
    noun: 'order',
    ...list,
    record: Order,
    others: ['accounts'],
    computed: {
      lines: `(select json_agg(json_build_object('product_id', product_id, 'name', name, 'sku', sku,
          'unit_amount', unit_amount, 'quantity', quantity) order by position)
        from order_lines where order_lines.shop_id = item.shop_id and order_lines.order_id = item.id)`
    }
  })

  return {
    ...rows,

    /** @throws {@link SHOP_INVALID} | {@link SHOP_GONE} */
    async create (
      shop: ShopScope,
      { account_id: accountId, lines, currency = shop.currency }: Static<typeof OrderInput>,
      on: Knex = knex
    ): Promise<OrderRow> {
      return await on.transaction(async (trx) => {
        await holdShop(trx, shop)
        const snapshots = await snapshotLines(trx, shop, lines, currency)
        const total = snapshots.reduce((sum, { unit_amount: amount, quantity }) => sum + amount * quantity, 0)
        if (!Number.isSafeInteger(total)) throw invalid('lines', 'the total of lines is too large')
        return await rows.insertWith(
          shop,
          { account_id: accountId, currency, total_amount: total },
          trx,
          async (id) => {
            await trx('order_lines').insert(
              snapshots.map((line, position) => ({ ...line, shop_id: shop.id, order_id: id, position }))
            )
          }
        )
      })
    },

    /**
     * @param status - if undefined, nothing changes
     * @throws {@link SHOP_NOT_FOUND} | {@link SHOP_CONFLICT}
     */
    async updateStatus (
      shop: ShopScope,
      id: string,
      status: OrderStatus | undefined,
      on: Knex = knex
    ): Promise<OrderRow> {
      return await on.transaction(async (trx) => {
        const order = await rows.update(shop, id, {}, trx) // locks it
        if (status === undefined || status === order.status) return order
        if (!NEXT[order.status].includes(status)) {
          throw conflict('status', `An order that is ${order.status} cannot become ${status}`)
        }
        return await rows.update(shop, id, { status }, trx)
      })
    }
  }
}

/** @throws {@link SHOP_INVALID} about the first line whose product cannot be bought */
async function snapshotLines (trx: Knex.Transaction, shop: ShopScope, lines: readonly LineInput[], currency: string) {
  const ids = lines.map((line) => line.product_id)
  const found = await trx('products').where({ shop_id: shop.id, status: 'active' }).whereIn('id', ids).orderBy('id')
    .forShare()
    .select<OrderedProduct[]>('id', 'name', 'sku', 'currency', 'price_amount')
  const byId = new Map(found.map((product) => [product.id, product]))
  const prices = await pricesInForce(trx, shop, ids, currency)
  return lines.map(({ product_id: id, quantity = 1 }, index) => {
    const product = byId.get(id.toLowerCase())
    const amount = product && unitAmount(product, prices, quantity, currency)
    if (product === undefined || amount === undefined) {
      const field = `lines/${index}/product_id`
      throw invalid(field, `${field} is not an active product of this shop with a price in ${currency}`)
    }
    return { product_id: product.id, name: product.name, sku: product.sku, unit_amount: amount, quantity }
  })
}

interface OrderedProduct {
  readonly id: string
  readonly name: string
  readonly sku: string | null
  readonly currency: string
  readonly price_amount: number | null
}
