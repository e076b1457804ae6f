import type { Knex } from 'knex'
import type { ShopScope } from '../access/scope.ts'
import type { ProductItem } from '../catalog/product-batch.ts'
import { roundedPrice } from '../http/money.ts'
import { becomes, type Note } from './notes.ts'

/**
 * Prices of other systems may have decimals that no currency has, as those without tax: `16.517500`.
 *
 * @param isForeign - whether an item is of such a file
 * @param note - called for each that is rounded, with its index
 * @returns the items with prices of their currencies
 */
export async function roundedPrices (
  on: Knex,
  shop: Pick<ShopScope, 'id' | 'currency'>,
  items: readonly ProductItem[],
  isForeign: (index: number) => boolean,
  note: (index: number, price: string, note: Note) => void
): Promise<readonly ProductItem[]> {
  const mayRound = ({ price }: ProductItem, index: number): boolean =>
    typeof price === 'string' && /[.,]\d{4}/.test(price) && isForeign(index)
  const ids = items.filter((item, index) => mayRound(item, index)).flatMap(({ id }) => id ?? [])
  const rows: ReadonlyArray<{ readonly id: string, readonly currency: string }> = ids.length === 0
    ? []
    : await on('products').where({ shop_id: shop.id }).whereRaw('id = any(?::uuid[])', [ids]).select('id', 'currency')
  const currencies = new Map(rows.map(({ id, currency }) => [id, currency]))
  return items.map((item, index) => {
    if (!mayRound(item, index)) return item
    const price = roundedPrice(String(item.price), item.currency ?? currencies.get(item.id ?? '') ?? shop.currency)
    if (price === undefined) return item
    note(index, price, { kind: 'rounded', example: becomes(String(item.price), price) })
    return { ...item, price }
  })
}
