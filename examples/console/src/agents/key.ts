import { instantFrom, localFrom } from '../catalog/zoned.ts'

/** An API key as the server lists it. */
export interface ApiKey {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly status: 'active' | 'expired' | 'revoked'
  /** Empty: every operation that takes keys. */
  readonly scopes: readonly string[] | 'all'
  readonly created_at: string
  readonly expires_at: string | null
  /** Since when it is refused: it was revoked, or has expired. */
  readonly revoked_at: string | null
  readonly last_used_at: string | null
  readonly last_used_network: string | null
  readonly replaces: string | null
  readonly replaced_by: string | null
}

/** A key that was just created: its plaintext is not shown again. */
export interface NewKey extends ApiKey {
  readonly plaintext: string
  readonly warnings: readonly string[]
}

/** How and when a key has ended; undefined while it works. One that was replaced may have worked on for a while. */
export function endedOf (
  { status, replaced_by: successor, revoked_at: at }: Pick<ApiKey, 'status' | 'replaced_by' | 'revoked_at'>
): { readonly how: 'revoked' | 'expired' | 'replaced', readonly at: string } | undefined {
  if (status === 'active' || at === null) return undefined
  return { how: successor === null ? status : 'replaced', at }
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** How long before its end a key is said to expire soon, in milliseconds. */
export const SOON = 14 * DAY

/** Whether an active key ends within two weeks. */
export function endsSoon (
  { status, expires_at: end }: Pick<ApiKey, 'status' | 'expires_at'>,
  now = Date.now()
): boolean {
  return status === 'active' && end !== null && Date.parse(end) - now < SOON
}

/** The choices for the end of a new key, in days; undefined: never, or on a date. */
export const LIVES = { day: 1, week: 7, month: 30, quarter: 90, year: 365, date: undefined, never: undefined } as const

export type Life = keyof typeof LIVES

/**
 * When a key of that life ends.
 *
 * @param date - for the life `date`: `2026-12-31`, whose end is meant, in the zone of the shop
 * @returns null for never; undefined if the date is missing
 */
export function endOf (life: Life, date: string, timeZone: string, now = Date.now()): string | null | undefined {
  if (life === 'never') return null
  if (life !== 'date') return new Date(now + LIVES[life] * DAY).toISOString()
  return /^\d{4}-\d{2}-\d{2}$/.test(date) ? lastSecondOf(date, timeZone) : undefined
}

/** The last second of a day in a zone, also where a clock that changes at midnight shows that hour twice or never. */
function lastSecondOf (date: string, timeZone: string): string {
  const next = new Date(Date.parse(date) + DAY).toISOString().slice(0, 10)
  const last = Date.parse(instantFrom(`${next}T00:00`, timeZone)!) - 1000
  const ends = [last + HOUR, last, last - HOUR].map((at) => new Date(at).toISOString())
  return ends.find((end) => localFrom(end, timeZone).startsWith(date))!
}
