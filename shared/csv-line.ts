/*
 * The one rule for cells that a spreadsheet would compute: every file follows it, and imports take it back. A cell gets
 * an apostrophe if, behind apostrophes of its own, it starts with
 *
 * - a tab, a line feed or a carriage return, or
 * - any blanks and then `=`, `+`, `-` or `@`, also in their wide forms,
 *
 * unless all of it is a number such as `-1.5`.
 */

/** Starts a file, so that spreadsheets take it for UTF-8. Imports leave it out. */
export const BYTE_ORDER_MARK = '\ufeff'

/**
 * What a formula starts with, also in its wide form; with blanks before it, as a spreadsheet may leave them out. A cell
 * that starts with a tab or an end of line may be split there.
 */
const FORMULA = /^'*(?:[\t\n\r]|[\s\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20])/u
const ESCAPED = /^'+(?:[\t\n\r]|[\s\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20])/u
const NUMBER = /^-?\d+(?:\.\d+)?$/

/** The reverse of what {@link csvLine} puts before formulas. */
export function unescaped (cell: string): string {
  return ESCAPED.test(cell) ? cell.slice(1) : cell
}

/**
 * A line of CSV, RFC 4180. A cell that a spreadsheet would take for a formula starts with an apostrophe. Strings are in
 * quotes, so that an empty one differs from null.
 *
 * @see [OWASP: CSV injection](https://owasp.org/www-community/attacks/CSV_Injection)
 */
export function csvLine (cells: ReadonlyArray<string | number | boolean | null>): string {
  return `${
    cells.map((cell) => {
      if (cell === null) return ''
      const text = String(cell)
      return `"${(FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
    }).join(',')
  }\r\n`
}
