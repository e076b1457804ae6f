/** How much of a caller's input is quoted, in characters. */
const QUOTED = 200

/** Marks where a string was cut off. The log looks for it: what is left of a secret before it is still secret. */
export const CUT = '…'

/** @returns the string, cut to `most` characters that end in {@link CUT} if it is longer */
export function excerpt (text: string, most = QUOTED): string {
  // Never half of a surrogate pair.
  return text.length <= most ? text : text.slice(0, most - 1).replace(/\p{Surrogate}$/u, '') + CUT
}
