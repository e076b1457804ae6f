/** How much of a caller's input an error quotes, in characters. */
const QUOTED = 200

/** Truncates a long string and ends it with `…`. */
export function excerpt (text: string): string {
  // Never half of a surrogate pair.
  return text.length <= QUOTED ? text : `${text.slice(0, QUOTED - 1).replace(/\p{Surrogate}$/u, '')}…`
}
