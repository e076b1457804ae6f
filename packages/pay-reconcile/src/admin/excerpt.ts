/** The beginning of a string that is longer, with … at its end. @param length - in characters. */
export function excerpt (text: string, length = 200): string {
  // A pair of surrogates stays one, or goes.
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/\p{Surrogate}$/u, '')}…`
}

/** The beginning of a string of the provider; null if it is empty or no string. */
export function excerptOf (value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? excerpt(value) : null
}
