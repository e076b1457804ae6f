/** Scripts in which a joiner or non-joiner changes how letters look: Persian and most of India's. */
const JOINING = [
  'Arabic',
  'Syriac',
  'Mongolian',
  'Nko',
  'Devanagari',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Oriya',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Khmer',
  'Myanmar',
  'Tibetan'
].map((script) => `\\p{Script=${script}}`).join('')

/** Characters that show nothing, or change the order of others. */
const UNSEEN = '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]'

const PICTURE = '\\p{Extended_Pictographic}\\p{Emoji_Modifier}?\\ufe0f?'

/** Where such a character belongs to what is seen. */
const SEEN = [
  // The flags of England, Scotland and Wales are spelled in tag characters.
  '\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|' +
  '\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}',
  // Families, professions, coloured hearts.
  `${PICTURE}(?:\\u200d${PICTURE})*`,
  '[0-9#*]\\ufe0f\\u20e3',
  `(?<=[${JOINING}])[\\u200c\\u200d](?!${UNSEEN})`,
  // A form of an ideograph.
  '\\p{Script=Han}[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]'
].join('|')

/** What is named in text of one line. */
export const IN_LINE = new RegExp(`(?:${SEEN})|(${UNSEEN}+)`, 'gu')
/** The same in text whose lines stay. */
export const IN_LINES = new RegExp(`(?:${SEEN})|((?:(?![\\n\\t])${UNSEEN})+)`, 'gu')

/** How many characters of one run are named. */
const NAMED = 4

/**
 * A text as a person has to see it who decides about it: what shows nothing or changes the order of letters is named in
 * brackets, such as `[U+202E]`. Joiners that a script needs, flags and families stay.
 *
 * @param text - from somebody else
 * @param lines - whether line breaks and tabs stay
 * @see [Unicode Technical Standard 39](https://www.unicode.org/reports/tr39/)
 */
export function visible (text: string, { lines = false }: { readonly lines?: boolean } = {}): string {
  return text.replace(
    lines ? IN_LINES : IN_LINE,
    (all: string, run: string | undefined) => run === undefined ? all : named(run)
  )
}

/** Whether a text has nothing that can be seen. */
export function isUnseen (text: string): boolean {
  return text.replace(new RegExp(`[\\s]|${UNSEEN}`, 'gu'), '') === ''
}

function named (run: string): string {
  const characters = Array.from(run)
  const names = characters.slice(0, NAMED).map((character) =>
    `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
  )
  const left = characters.length - names.length
  return `[${names.join(' ')}${left > 0 ? ` and ${left} more` : ''}]`
}
