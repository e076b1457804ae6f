/** The result of one check. */
export interface Finding {
  /** `warn`: the plugin starts, but look at it; `note`: what a rejected token has; `hint`: what may mend it. */
  readonly level: 'ok' | 'warn' | 'fail' | 'note' | 'hint'
  /** What was checked: `issuer`, `keys`, `endpoint`, `audience`, `token` or the name of a claim. */
  readonly what: string
  /** In a line. */
  readonly found: string
  /** The issuer that it is about, as in the options; undefined: all of them, or a token. */
  readonly issuer?: string
}

/** In characters: what others write may have any length. */
const LONGEST = 300

/**
 * Escapes text of others, so that a terminal shows it and does not execute it: control characters and those that
 * reorder or hide text become `\u001b`, as in JSON. Longer strings are truncated.
 */
export function printable (text: string): string {
  const start = text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
  return start.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) =>
      Array.from(
        { length: character.length },
        (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`
      ).join('')
  )
}

/** The message of an error, without the name of the package in front. */
export function messageOf (error: unknown): string {
  return printable((error instanceof Error ? error.message : String(error)).replace(/^dual-auth: /, ''))
}
