import type { Details } from './types.ts'

// The same rule in SQL is `payStringIn` in `lists/pay-string.ts`. Other writers store anything under these keys.

/** The customer id in `details`; null if it is missing, empty or no string. */
export function customerIdOf (details: Details): string | null {
  return stringOf(details.pay_customer_id)
}

/** When the snapshot was stored; null if it is missing, empty or no string. */
export function syncedAtOf (details: Details): string | null {
  return stringOf(details.pay_synced_at)
}

function stringOf (value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

export function isObject (value: unknown): value is Details {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The same JSON value as PostgreSQL can store it: without NUL characters (22P05), and with lone surrogates replaced by
 * U+FFFD (22P02). Both are legal JSON, and a customer's name may contain either.
 */
export function storable (value: unknown): unknown {
  // In a /u expression a surrogate pair is one character, so this matches only lone ones.
  if (typeof value === 'string') return value.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\ufffd')
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map((entry) => entry.map(storable)))
}
