/** Truncates a long string and ends it with `…`. @param length - in characters: how much of a caller's input messages quote */
export function excerpt (text: string, length = 200): string {
  // Never half of a surrogate pair.
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/\p{Surrogate}$/u, '')}…`
}
