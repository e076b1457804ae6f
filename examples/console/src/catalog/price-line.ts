import type { Price as PriceSchema } from '../../../shop/src/shops/price-schemas.ts'

/** A price of a product, beside its own. */
export type Price = Omit<typeof PriceSchema['static'], 'shop_id' | 'product_id' | 'created_at'>

/** From `at` on, in milliseconds, one piece costs `amount`; null: it has no price. */
export interface Step {
  readonly at: number
  readonly amount: number | null
}

/** When a price starts and ends, in milliseconds. */
function periodOf ({ valid_from: start, valid_to: end }: Price): { readonly start: number, readonly end: number } {
  return {
    start: start === null ? -Infinity : Date.parse(start),
    end: end === null ? Infinity : Date.parse(end)
  }
}

/**
 * The prices that orders get at an instant: of those of one currency and quantity that have started and not ended, the
 * one that started last. The others wait until it ends.
 */
export function inForceAt (prices: readonly Price[], at: number): readonly Price[] {
  const started = prices.filter((price) => {
    const { start, end } = periodOf(price)
    return start <= at && at < end
  })
  return started.filter((price) =>
    !started.some((other) =>
      other.currency === price.currency && other.min_quantity === price.min_quantity &&
      periodOf(other).start > periodOf(price).start
    )
  )
}

/** When a price next starts or ends after an instant; undefined: never. */
export function nextChange (prices: readonly Price[], now: number): number | undefined {
  const times = prices.map(periodOf).flatMap(({ start, end }) => [start, end]).filter((at) => at > now && at < Infinity)
  return times.length === 0 ? undefined : Math.min(...times)
}

/**
 * What one piece costs over a span of time: the price in force, or else the product's own.
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
  const usable = prices.filter((price) => price.currency === currency && price.min_quantity <= 1)
  const times = [
    ...new Set([
      from,
      ...usable.map(periodOf).flatMap(({ start, end }) => [start, end]).filter((at) => at > from && at < to)
    ])
  ].sort((one, other) => one - other)
  const steps = times.map((at): Step => ({ at, amount: inForceAt(usable, at)[0]?.amount ?? own }))
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
