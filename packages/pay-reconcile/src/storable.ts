/**
 * The same JSON value as PostgreSQL can store it: without NUL characters (22P05), and with lone surrogates replaced by
 * U+FFFD (22P02). Both are legal JSON, and a customer's name may contain either.
 */
export function storable (value: unknown): unknown {
  // In a /u expression a surrogate pair is one character, so this matches only lone ones.
  if (typeof value === 'string') return value.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\ufffd')
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map((entry) => entry.map(storable)))
}
