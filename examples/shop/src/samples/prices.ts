import { idOf } from './id.ts'

/** What a product of the demo costs by itself. */
interface DemoProductPrice {
  readonly id: string
  readonly shop_id: string
  readonly currency: string
  readonly price_amount: number
}

/** The second currency of a shop, and what one of its own is reckoned at. */
const ABROAD: Readonly<Record<string, { readonly currency: string, readonly rate: number }>> = {
  EUR: { currency: 'USD', rate: 1.1 },
  USD: { currency: 'EUR', rate: 0.9 },
  GBP: { currency: 'EUR', rate: 1.2 }
}

const DAY = 86_400_000

/** The sale that is coming: four days, two weeks after the demo begins. */
function comingSale (now: number): { readonly valid_from: string, readonly valid_to: string } {
  const from = Math.floor(now / DAY) * DAY + 14 * DAY
  return { valid_from: new Date(from).toISOString(), valid_to: new Date(from + 4 * DAY).toISOString() }
}

/** Up to this price a product is one that people buy ten of. */
const SMALL = 2000

/**
 * @returns for each product a price in a second currency, for small ones one from ten on, for every fourth one in a
 * sale
 */
export function pricesOf (
  products: readonly DemoProductPrice[],
  now: number
): ReadonlyArray<Readonly<Record<string, unknown>>> {
  const sale = comingSale(now)
  return products.flatMap(({ id, shop_id: shop, currency, price_amount: amount }, index) => {
    const other = ABROAD[currency]!
    const base = { shop_id: shop, product_id: id, currency, min_quantity: 1, valid_from: null, valid_to: null }
    return [
      { ...base, id: idOf(id, 'abroad'), currency: other.currency, amount: rounded(amount * other.rate) },
      ...(amount < SMALL ? [{ ...base, id: idOf(id, 'ten'), min_quantity: 10, amount: rounded(amount * 0.9) }] : []),
      ...(index % 4 === 0 ? [{ ...base, ...sale, id: idOf(id, 'sale'), amount: rounded(amount * 0.8) }] : [])
    ]
  })
}

/** To ten of the minor unit. */
function rounded (amount: number): number {
  return Math.round(amount / 10) * 10
}
