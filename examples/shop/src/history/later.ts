import { isDeepStrictEqual } from 'node:util'
import type { Facts } from '../shops/record-repository.ts'
import { Obstacle } from './conflict.ts'
import type { StoredChange } from './revertible.ts'

/**
 * What the change set has to be as it left it.
 *
 * @throws {@link Obstacle}
 */
export function refuseLaterChanges (facts: Facts, changes: StoredChange['changes'], fields: readonly string[]): void {
  const field = fields.find((name) => !isSame(facts[name] ?? null, changes[name]?.after ?? null))
  if (field !== undefined) throw new Obstacle(`${field} was changed again`, field)
}

/** A created record has no links and null fields that the history does not mention. */
function isSame (now: unknown, then: unknown): boolean {
  const [one, other] = [now, then].map((value) => Array.isArray(value) && value.length === 0 ? null : value)
  return isDeepStrictEqual(one, other)
}
