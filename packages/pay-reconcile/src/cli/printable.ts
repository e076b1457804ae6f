const longest = 500
/** Control characters (C0, C1, line ends), and those that reorder or hide text. */
const commands = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** What a server said, so that a terminal shows it and does not obey it: such characters as `\u001b`, long strings cut. */
export function printable (text: string): string {
  return (text.length > longest ? `${text.slice(0, longest - 1)}…` : text).replace(commands, escaped)
}

/** JSON of what a server said, on several lines, for a program or a terminal: JSON itself escapes C0 only. */
export function printableJson (value: unknown): string {
  return JSON.stringify(value, null, 2).replace(commands, character => character === '\n' ? character : escaped(character))
}

function escaped (character: string): string {
  return Array.from({ length: character.length }, (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`).join('')
}
