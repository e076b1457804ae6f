import { texts } from '../texts.ts'

/**
 * What became of a write that did not end well:
 *
 * - `not sent`: it has not left the browser
 * - `refused`: the server has done nothing
 * - `open`: nobody knows whether it was done
 * - `late`: nobody knows whether it was done, and it may still be under way
 * - `done`: only what the server says of it has not arrived
 */
export type Outcome = 'not sent' | 'refused' | 'open' | 'late' | 'done'

/** Errors with a status of 500 and more that the server answers before it begins, or after it took all back. */
const REFUSALS: readonly unknown[] = ['SHOP_OVERLOADED', 'SHOP_REVERT_TOO_LONG']

/** What became of a write with such a response. One of success is asked about if somebody else has sent it. */
export function outcomeOf (status: number, code: unknown): Outcome {
  if (status < 300) return 'open'
  if (status < 500 || REFUSALS.includes(code)) return 'refused'
  return status === 504 ? 'late' : 'open'
}

/** The message of an error, with what to do next where that depends on what became of the write. */
export function withAdvice (message: string, outcome: Outcome): string {
  const advice = texts.errors.outcomes[outcome]
  return advice === undefined ? message : `${message.replace(/\.$/, '')}. ${advice}`
}
