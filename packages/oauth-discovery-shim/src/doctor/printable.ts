const LONGEST = 500

/**
 * Escapes a server's text, so that a terminal shows it and does not execute it: control characters (C0, C1, line ends)
 * and those that reorder or hide text become `\u001b`, as in JSON. Longer strings are truncated.
 */
export function printable (text: string): string {
  const start = text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
  return start.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`).join(''))
}
