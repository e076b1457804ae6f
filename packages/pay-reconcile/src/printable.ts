import { excerpt } from '#shared/excerpt'

/** Control characters (C0, C1, line ends), and characters that reorder or hide text. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/**
 * A server's string, safe for a terminal: control characters are escaped as `\u001b`, long strings are cut.
 *
 * @param maxLength - in characters. Default 500.
 */
export function printable (text: string, maxLength = 500): string {
  return excerpt(text, maxLength).replace(UNSAFE, escaped)
}

/** A server's value as JSON, safe for a terminal; JSON itself escapes C0 only. */
export function printableJson (value: unknown): string {
  return JSON.stringify(value, null, 2).replace(
    UNSAFE,
    (character) => character === '\n' ? character : escaped(character)
  )
}

function escaped (character: string): string {
  return Array.from(
    { length: character.length },
    (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`
  ).join('')
}
