import { createHash } from 'node:crypto'

/** A UUID (version 8, RFC 9562 §5.8) that depends on nothing but the words. */
export function idOf (...words: readonly string[]): string {
  const hex = createHash('sha256').update(words.join('\n')).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
