/**
 * The same JSON value as PostgreSQL can store it: without NUL characters (22P05) and with lone
 * surrogates replaced by U+FFFD (22P02). Both are legal JSON, and a customer may type either into a name.
 */
export function storable (value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storableText(key), storable(item)]))
}

function storableText (text: string): string {
  // In a /u expression a surrogate pair is one character, so this matches the lone ones only.
  return text.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\ufffd')
}
