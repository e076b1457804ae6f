/** How much of what a caller sent is quoted, in characters. */
const QUOTED = 200

/** Stands where something was cut off. The log reads it too: the rest of a secret before it is still one. */
export const CUT = '…'

/** @returns the beginning of a string that is longer than `most` characters, with {@link CUT} at its end */
export function excerpt (text: string, most = QUOTED): string {
  // A pair of surrogates stays one, or goes.
  return text.length <= most ? text : text.slice(0, most - 1).replace(/\p{Surrogate}$/u, '') + CUT
}
