import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { recordSchemas } from '../records/schemas.ts'
import { Amount, Currency, Instant, Nullable, Uuid } from '../http/schemas.ts'
import type { Filter } from '../lists/filters.ts'
import { listRules } from '../lists/list.ts'
import { Quantity } from './order-schemas.ts'

const ProductId = Uuid('The product')
const MinQuantity = Type.Integer({ ...Quantity, description: 'Minimum quantity of an order line for this price' })
const ValidFrom = Nullable(Instant('Start; null for no start'))
const ValidTo = Nullable(Instant('End; null for no end'))

export const { Input: PriceInput, Changes: PriceChanges, Record: Price } = recordSchemas({
  product_id: ProductId,
  amount: Amount('Price of one'),
  currency: Currency,
  min_quantity: MinQuantity,
  valid_from: ValidFrom,
  valid_to: ValidTo
}, {
  required: ['product_id', 'amount'],
  otherwise: { currency: 'The currency of the shop', min_quantity: '1' },
  fixed: ['product_id']
})

const inForceAt: Filter = {
  schema: Instant('Only prices in force at this time'),
  apply: (query, instant: string) => {
    query.modify(whereInForce, new Date(instant).toISOString())
  }
}

export const list = listRules(Price, { sort: 'created_at', filters: { in_force_at: inForceAt } })

/** Selects the prices in force at an instant: from their start, and before their end. */
export function whereInForce (query: Knex.QueryBuilder, instant: Knex.Value | Knex.Raw): void {
  query.where((started) => {
    started.whereNull('valid_from').orWhere('valid_from', '<=', instant)
  })
    .where((lasting) => {
      lasting.whereNull('valid_to').orWhere('valid_to', '>', instant)
    })
}
