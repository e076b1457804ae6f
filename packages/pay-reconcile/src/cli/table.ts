import { printable } from '../printable.ts'

/** Characters that take two columns of a terminal, and those that take none. */
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u
const NARROW = /\p{M}/u

/** No column becomes narrower than this, unless its cells are. */
const MIN_WIDTH = 8

/**
 * A table with columns as wide as their widest cell; '' if there are no rows.
 *
 * @param width - of the terminal: the widest columns are cut until a line fits. Default: as wide as needed.
 */
export function table (head: readonly string[], rows: ReadonlyArray<readonly string[]>, width = Infinity): string {
  if (rows.length === 0) return ''
  const cells = rows.map((row) => row.map((text) => printable(text)))
  const widths = fitting(head.map((_, column) => [head, ...cells].reduce((most, row) => Math.max(most, widthOf(row[column] ?? '')), 0)), width)
  const line = (row: readonly string[]) => row.map((cell, column) => padded(cell, widths[column] ?? 0)).join('  ').trimEnd()
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n')
}

/** Takes from the widest column, again and again. The last one, which has the details, is cut when it is twice as wide. */
function fitting (natural: readonly number[], width: number): readonly number[] {
  const widths = [...natural]
  const last = widths.length - 1
  const share = (column: number): number => column === last ? (widths[column] ?? 0) / 2 : widths[column] ?? 0
  while (widths.reduce((sum, column) => sum + column + 2, -2) > width) {
    const widest = widths.reduce((most, _, column) => share(column) > share(most) ? column : most, 0)
    if ((widths[widest] ?? 0) <= MIN_WIDTH) break
    widths[widest]!--
  }
  return widths
}

function padded (cell: string, width: number): string {
  const has = widthOf(cell)
  if (has <= width) return cell + ' '.repeat(width - has)
  let start = ''
  let used = 0
  for (const character of cell) {
    used += widthOf(character)
    if (used >= width) break
    start += character
  }
  return `${start}…${' '.repeat(width - widthOf(start) - 1)}`
}

/** How many columns of a terminal a string takes. */
function widthOf (text: string): number {
  let width = 0
  for (const character of text) width += WIDE.test(character) ? 2 : NARROW.test(character) ? 0 : 1
  return width
}
