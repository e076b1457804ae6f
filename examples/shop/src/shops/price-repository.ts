import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { refuseOtherDecimals, refuseUnknownCurrency } from '../http/values.ts'
import { list, Price, type PriceChanges, type PriceInput, whereInForce } from './price-schemas.ts'
import { recordRepository } from '../records/repository.ts'
import type { ShopScope } from '../access/scope.ts'

type PriceRow = Static<typeof Price>

/** Prices of products in other currencies, for larger quantities, or for a time. */
export function priceRepository (knex: Knex) {
  const rows = recordRepository(knex, {
    table: 'prices',
    noun: 'price',
    ...list,
    record: Price
  })

  return {
    ...rows,

    /** @throws {@link SHOP_CONFLICT} | {@link SHOP_INVALID} */
    async create (shop: ShopScope, input: Static<typeof PriceInput>, on: Knex = knex): Promise<PriceRow> {
      refuseUnknownCurrency(input)
      return await rows.insert(shop, { currency: shop.currency, ...input }, on)
    },

    /** @throws {@link SHOP_NOT_FOUND} | {@link SHOP_CONFLICT} | {@link SHOP_INVALID} */
    async update (
      shop: ShopScope,
      id: string,
      changes: Static<typeof PriceChanges>,
      on: Knex = knex
    ): Promise<PriceRow> {
      refuseUnknownCurrency(changes)
      const isAnotherCurrency = changes.currency !== undefined && changes.amount === undefined
      if (!isAnotherCurrency) return await rows.update(shop, id, changes, on)
      return await on.transaction(async (trx) => {
        // Locked, since others may change both meanwhile.
        refuseOtherDecimals('amount', await rows.update(shop, id, {}, trx), changes)
        return await rows.update(shop, id, changes, trx)
      })
    }
  }
}

type Tier = Pick<PriceRow, 'product_id' | 'amount' | 'min_quantity'>

/** @returns the prices of the products that are in force now, by priority */
export async function pricesInForce (
  on: Knex,
  shop: ShopScope,
  productIds: readonly string[],
  currency: string
): Promise<readonly Tier[]> {
  return await on('prices').where({ shop_id: shop.id, currency }).whereIn('product_id', productIds)
    .modify(whereInForce, on.fn.now())
    .orderBy('min_quantity', 'desc').orderBy('valid_from', 'desc', 'last')
    .select('product_id', 'amount', 'min_quantity')
}

/**
 * The price of one unit: that of the largest quantity that is reached, and of several the one that started last; else
 * the product's own price.
 *
 * @param prices - from {@link pricesInForce}
 * @returns undefined if there is no price in that currency
 */
export function unitAmount (
  product: { readonly id: string, readonly currency: string, readonly price_amount: number | null },
  prices: readonly Tier[],
  quantity: number,
  currency: string
): number | undefined {
  const tier = prices.find((price) => price.product_id === product.id && price.min_quantity <= quantity)
  if (tier !== undefined) return tier.amount
  return product.currency === currency ? product.price_amount ?? undefined : undefined
}
