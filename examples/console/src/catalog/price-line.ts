import type { Price as PriceSchema } from '../../../shop/src/shops/price-schemas.ts'

/** A price of a product, beside its own. */
export type Price = Omit<typeof PriceSchema['static'], 'shop_id' | 'product_id' | 'created_at'>

/** From `at` on, in milliseconds, one piece costs `amount`; null: it has no price. */
export interface Step {
  readonly at: number
  readonly amount: number | null
}

/**
 * What one piece costs over a span of time: the price in force that started last, or else the product's own.
 *
 * @param own - the price of the product itself
 * @param prices - all prices of the product; those in other currencies and for larger quantities do not count
 */
export function stepsOf (
  own: number | null,
  currency: string,
  prices: readonly Price[],
  from: number,
  to: number
): readonly Step[] {
  const usable = prices.filter((price) => price.currency === currency && price.min_quantity <= 1).map((
    { amount, valid_from: start, valid_to: end }
  ) => ({
    amount,
    start: start === null ? -Infinity : Date.parse(start),
    end: end === null ? Infinity : Date.parse(end)
  }))
  const times = [
    ...new Set([from, ...usable.flatMap(({ start, end }) => [start, end]).filter((at) => at > from && at < to)])
  ].sort((one, other) => one - other)
  const steps = times.map((at): Step => {
    const inForce = usable.filter(({ start, end }) => start <= at && at < end)
    const last = inForce.toSorted((one, other) => other.start === one.start ? 0 : other.start - one.start)[0]
    return { at, amount: last?.amount ?? own }
  })
  return steps.filter(({ amount }, index) => index === 0 || amount !== steps[index - 1]!.amount)
}

/** The span that shows all prices that start or end, with a quarter of a year around today at least. */
export function spanOf (prices: readonly Price[], now: number): readonly [from: number, to: number] {
  const times = prices.flatMap(({ valid_from: start, valid_to: end }) => [start, end]).filter((at) => at !== null).map((
    at
  ) => Date.parse(at))
  const MONTH = 30 * 86_400_000
  return [
    Math.min(now - 2 * MONTH, ...times.map((at) => at - MONTH / 4)),
    Math.max(now + MONTH, ...times.map((at) => at + MONTH / 4))
  ]
}
