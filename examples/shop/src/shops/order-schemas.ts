import { type Static, Type } from '@sinclair/typebox'
import { Amount, Currency, Defaulted, Name, Nullable, ShopRecord, Uuid } from '../http/schemas.ts'
import { bound, having } from '../lists/filters.ts'
import { listRules } from '../lists/list.ts'

const Status = Type.Unsafe<'pending' | 'paid' | 'fulfilled' | 'cancelled'>({
  type: 'string',
  enum: ['pending', 'paid', 'fulfilled', 'cancelled'],
  description: 'Progress of the order'
})

/** Of one product. */
export const Quantity = Type.Integer({ minimum: 1, maximum: 100_000 })

export type OrderStatus = Static<typeof Status>

export const OrderInput = Type.Object({
  account_id: Uuid('The account that orders'),
  lines: Type.Array(
    Type.Object({
      product_id: Uuid('An active product with a price in that currency'),
      quantity: Type.Optional(Quantity)
    }, { additionalProperties: false }),
    { minItems: 1, maxItems: 100, description: 'Products and quantities' }
  ),
  currency: Defaulted(Currency, 'The currency of the shop')
}, { additionalProperties: false })

export const OrderChanges = Type.Object({ status: Type.Optional(Status) }, { additionalProperties: false })

const OrderLine = Type.Object({
  product_id: Nullable(Uuid('The product; null if it was deleted')),
  name: Name,
  sku: Nullable(Type.String()),
  unit_amount: Amount('Price of one'),
  quantity: Quantity
})

export const Order = ShopRecord({
  account_id: Nullable(Uuid('The account that ordered; null if it was deleted')),
  status: Status,
  currency: Type.String({ description: 'ISO 4217' }),
  total_amount: Amount('Sum of the lines'),
  lines: Type.Array(OrderLine, { description: 'The products as they were when the order was placed' })
})

export const list = listRules(Order, {
  sort: 'created_at',
  filters: {
    lines: having('orders', ['order_lines', 'order_id'], OrderLine),
    total_amount_gte: bound('total_amount', '>=', Amount('Minimum total')),
    total_amount_lte: bound('total_amount', '<=', Amount('Maximum total'))
  }
})
