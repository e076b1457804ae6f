import { randomBytes } from 'node:crypto'
import type { Rule } from '#shared/option-table'

/** A key, or several, newest first: the first one seals, all of them open. */
export type Secret = string | readonly [string, ...string[]]

/** @internal */
export const SECRET: Rule = {
  holds: (secret) => isSecret(secret) || (Array.isArray(secret) && secret.length > 0 && secret.every(isSecret)),
  rule: 'must be a string of at least 32 bytes, or several',
  secret: true
}

function isSecret (value: unknown): boolean {
  return typeof value === 'string' && Buffer.byteLength(value) >= 32
}

/** The keys as bytes. Without any, a random one. */
export function secretsFrom (secret: Secret | undefined): readonly [Buffer, ...Buffer[]] {
  if (secret === undefined) return [randomBytes(32)]
  const [newest, ...older] = typeof secret === 'string' ? [secret] : secret
  return [Buffer.from(newest), ...older.map((key) => Buffer.from(key))]
}
