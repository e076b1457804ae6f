import { type Static, Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { Amount, Currency, Defaulted, Name, Nullable, ShopRecord, UUID, Uuid } from '../http/schemas.ts'
import { bound, type Filter, having, orContains, searchBy } from '../lists/filters.ts'
import { listRules } from '../lists/list.ts'
import { ACCOUNT_TEXTS } from './account-schemas.ts'

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

const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** @returns the first and the last id that begins so, if any does */
function idsFrom (start: string): readonly [string, string] | undefined {
  const first = start.toLowerCase() + FIRST_ID.slice(start.length)
  return UUID.test(first) ? [first, start.toLowerCase() + LAST_ID.slice(start.length)] : undefined
}

/** The number of an order is how its id begins, so that no second one has to be stored. */
const q: Filter = searchBy('Searches the start of the id, and what the list of accounts searches', (any, word) => {
  const ids = idsFrom(word)
  if (ids !== undefined) any.orWhereBetween('id', ids)
  any.orWhereExists((accounts: Knex.QueryBuilder) =>
    accounts.from('accounts').whereRaw('accounts.shop_id = orders.shop_id and accounts.id = orders.account_id')
      .where((text) => orContains(text, ACCOUNT_TEXTS, word))
  )
})

export const list = listRules(Order, {
  sort: 'created_at',
  filters: {
    q,
    lines: having('orders', ['order_lines', 'order_id'], OrderLine),
    total_amount_gte: bound('total_amount', '>=', Amount('Minimum total')),
    total_amount_lte: bound('total_amount', '<=', Amount('Maximum total'))
  }
})
