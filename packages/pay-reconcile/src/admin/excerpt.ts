/** The beginning of a string that is longer, with … at its end. @param length - in characters. */
export function excerpt (text: string, length = 200): string {
  // A pair of surrogates stays one, or goes.
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/\p{Surrogate}$/u, '')}…`
}
