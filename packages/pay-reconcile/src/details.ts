import type { Details } from './types.ts'

// The same rule in SQL is `payStringIn` in `lists/accounts.ts`. Other writers store anything under these keys.

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
