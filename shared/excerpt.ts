/**
 * Marks where a string was cut off. The log of the shop looks for it: what is left of a secret before it is still
 * secret.
 */
export const CUT = '…'

/**
 * Truncates a long string and ends it with {@link CUT}.
 *
 * @param length - in characters: how much of a caller's input messages quote
 */
export function excerpt (text: string, length = 200): string {
  // Never half of a surrogate pair.
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/\p{Surrogate}$/u, '')}${CUT}`
}
