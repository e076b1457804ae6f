/** How much of a caller's input messages quote, in characters. */
const QUOTED = 200

/** Cuts a long string, and ends it with … */
export function excerpt (text: string): string {
  // Never cut a surrogate pair in half.
  return text.length <= QUOTED ? text : `${text.slice(0, QUOTED - 1).replace(/\p{Surrogate}$/u, '')}…`
}
