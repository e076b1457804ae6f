import { createHash } from 'node:crypto'

/**
 * A digest of what a call says. JSON is the same whatever the order of its fields: agents write the same arguments in
 * another order.
 */
export function fingerprintOf (...said: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(said, inOrder)).digest('base64url')
}

function inOrder (_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
}
