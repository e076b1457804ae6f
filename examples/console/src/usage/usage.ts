import type { ShopUsage } from '../../../shop/src/usage/schemas.ts'

/** What is counted of each day. */
export const COUNTED = ['calls', 'writes', 'imports'] as const
export type Counts = Readonly<Record<typeof COUNTED[number], number>>

type OfShop = typeof ShopUsage['static']

/** How much a shop was used, or an API key, which has no keys, as the server reports it. */
export type Usage = Omit<OfShop, 'keys'> & Partial<Pick<OfShop, 'keys'>>

/** How many of each a day may have; null for any number. */
export type Limits = Usage['limits']

/** The days with calls and today, the newest first. */
export function daysOf ({ resets_at: end, days, today }: Usage): Usage['days'] {
  const day = new Date(Date.parse(end) - 1).toISOString().slice(0, 10)
  return [{ day, ...today }, ...days.filter((other) => other.day !== day).toReversed()]
}

/** What has reached its limit today. */
export function reachedOf ({ limits, today }: Usage): ReadonlyArray<keyof Counts> {
  return COUNTED.filter((name) => today[name] >= (limits[`${name}_per_day`] ?? Infinity))
}
