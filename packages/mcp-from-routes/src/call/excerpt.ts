/** How much of what a caller sent is quoted, in characters. */
const QUOTED = 200

/** The beginning of a string that is longer, with … at its end. */
export function excerpt (text: string): string {
  // A pair of surrogates stays one, or goes.
  return text.length <= QUOTED ? text : `${text.slice(0, QUOTED - 1).replace(/\p{Surrogate}$/u, '')}…`
}
