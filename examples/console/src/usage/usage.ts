/** What is counted of each day. */
export const COUNTED = ['calls', 'writes', 'imports'] as const
export type Counts = Readonly<Record<typeof COUNTED[number], number>>

/** How many of each a day may have; null for any number. */
export interface Limits extends Readonly<Record<`${typeof COUNTED[number]}_per_day`, number | null>> { readonly updated_at: string }

/** How much a shop or an API key was used, as the server reports it. */
export interface Usage {
  readonly resets_at: string
  readonly limits: Limits
  readonly today: Counts
  /** The oldest first, and only those with calls; `day` is `2026-11-23`, in UTC. */
  readonly days: ReadonlyArray<Counts & { readonly day: string }>
  /** Of a shop: the keys that were used today or have limits, the one with the most calls first. */
  readonly keys?: ReadonlyArray<{ readonly key_id: string, readonly name: string, readonly today: Counts }>
}

/** The days with calls and today, the newest first. */
export function daysOf ({ resets_at: end, days, today }: Usage): Usage['days'] {
  const day = new Date(Date.parse(end) - 1).toISOString().slice(0, 10)
  return [{ day, ...today }, ...days.filter((other) => other.day !== day).toReversed()]
}

/** What has reached its limit today. */
export function reachedOf ({ limits, today }: Usage): ReadonlyArray<keyof Counts> {
  return COUNTED.filter((name) => today[name] >= (limits[`${name}_per_day`] ?? Infinity))
}
