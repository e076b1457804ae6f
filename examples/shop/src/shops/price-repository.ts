import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { refuseUnknownCurrency } from '../http/values.ts'
import { list, type Price, type PriceChanges, type PriceInput, whereInForce } from './price-schemas.ts'
import { recordRepository } from './record-repository.ts'
import type { ShopScope } from './scope.ts'

type PriceRow = Static<typeof Price>

/** Prices of products in other currencies, for larger quantities, or for a time. */
export function priceRepository (knex: Knex) {
  const rows = recordRepository<PriceRow>(knex, {
    table: 'prices',
    noun: 'price',
    ...list,
    columns: ['product_id', 'currency', 'amount', 'min_quantity', 'valid_from', 'valid_to'],
    shown: Object.fromEntries(['valid_from', 'valid_to'].map((name) => [name, (row) => `json_instant(${row}.${name})`]))
  })

  return {
    list: rows.list,
    get: rows.get,
    hold: rows.hold,
    remove: rows.remove,
    restore: rows.restore,

    /** @throws {@link SHOP_CONFLICT} | {@link SHOP_INVALID} */
    async create (shop: ShopScope, input: Static<typeof PriceInput>): Promise<PriceRow> {
      return await rows.insert(shop, { currency: shop.currency, ...columnsOf(input) })
    },

    /** @throws {@link SHOP_NOT_FOUND} | {@link SHOP_CONFLICT} | {@link SHOP_INVALID} */
    async update (shop: ShopScope, id: string, changes: Static<typeof PriceChanges>, on: Knex = knex): Promise<PriceRow> {
      return await rows.update(shop, id, columnsOf(changes), on)
    }
  }
}

/** Instants in UTC, since PostgreSQL does not accept every offset that RFC 3339 allows. */
function columnsOf ({ valid_from: from, valid_to: to, ...columns }: Static<typeof PriceChanges>): object {
  refuseUnknownCurrency(columns)
  return { ...columns, ...(from !== undefined && { valid_from: utc(from) }), ...(to !== undefined && { valid_to: utc(to) }) }
}

function utc (instant: string | null): string | null {
  return instant === null ? null : new Date(instant).toISOString()
}

type Tier = Pick<PriceRow, 'product_id' | 'amount' | 'min_quantity'>

/** @returns the prices of the products that are in force now, by priority */
export async function pricesInForce (on: Knex, shop: ShopScope, productIds: readonly string[], currency: string): Promise<readonly Tier[]> {
  return await on('prices').where({ shop_id: shop.id, currency }).whereIn('product_id', productIds)
    .modify(whereInForce, on.fn.now())
    .orderBy('min_quantity', 'desc').orderBy('valid_from', 'desc', 'last')
    .select('product_id', 'amount', 'min_quantity')
}

/**
 * The price of one unit: that of the largest quantity that is reached, and of several the one that started last; else the
 * product's own price.
 *
 * @param prices - from {@link pricesInForce}
 * @returns undefined if there is no price in that currency
 */
export function unitAmount (
  product: { readonly id: string, readonly currency: string, readonly price_amount: number | null },
  prices: readonly Tier[], quantity: number, currency: string
): number | undefined {
  const tier = prices.find((price) => price.product_id === product.id && price.min_quantity <= quantity)
  if (tier !== undefined) return tier.amount
  return product.currency === currency ? product.price_amount ?? undefined : undefined
}
