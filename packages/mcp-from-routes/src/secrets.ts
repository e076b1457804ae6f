import { randomBytes } from 'node:crypto'
import type { Settings } from './options.ts'

/** The secrets of questions and tasks: the first one seals, all of them open. Without the option, a random one. */
export function secretsFrom ({ confirmSecret }: Pick<Settings, 'confirmSecret'>): readonly [Buffer, ...Buffer[]] {
  if (confirmSecret === undefined) return [randomBytes(32)]
  const [newest, ...older] = typeof confirmSecret === 'string' ? [confirmSecret] : confirmSecret
  return [Buffer.from(newest), ...older.map((secret) => Buffer.from(secret))]
}
