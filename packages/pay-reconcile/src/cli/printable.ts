const maxLength = 500
/** Control characters (C0, C1, line ends), and characters that reorder or hide text. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A server's string, safe for a terminal: control characters are escaped as `\u001b`, long strings are cut. */
export function printable (text: string): string {
  return (text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text).replace(unsafe, escaped)
}

/** A server's value as JSON, safe for a terminal; JSON itself escapes C0 only. */
export function printableJson (value: unknown): string {
  return JSON.stringify(value, null, 2).replace(unsafe, character => character === '\n' ? character : escaped(character))
}

function escaped (character: string): string {
  return Array.from({ length: character.length }, (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`).join('')
}
