import type { Static } from '@sinclair/typebox'
import { printable } from '../printable.ts'
import type { RunSchema, RunWithItemsSchema } from '../admin/run-schemas.ts'

/** The server's response about a run. */
export type RunBody = Static<typeof RunWithItemsSchema>

/** A run in a list, without its items. */
export type RunSummary = Static<typeof RunSchema>

/** `[#####-----]  50% 5000/10000 accounts, 2/3 shops, 1 failed` */
export function progressLine ({ processed, total, shops, outcomes }: RunBody, width = 30): string {
  const done = total === 0 ? 1 : Math.min(processed / total, 1)
  const filled = Math.floor(done * width)
  const percent = `${Math.floor(done * 100)}%`.padStart(4)
  return printable(
    `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}] ${percent} ${processed}/${total} accounts, ` +
      `${shops.finished}/${shops.total} shops, ${outcomes.failed ?? 0} failed`
  )
}

/** What a run found: counters, stopped shops and a table of items. */
export function reportText (run: RunBody, items = ''): string {
  const title =
    `${run.mode}${run.dry_run ? ' (dry run, nothing was changed)' : ''}: ${run.status}, ${run.processed} of ` +
    `${run.total} accounts`
  return [
    printable(title),
    table(['outcome', 'accounts'], entries(run.outcomes)),
    table(['differences', 'accounts'], entries(run.differences)),
    table(
      ['stopped shop', 'reason'],
      run.shops.stopped.map((
        { shop_id: shop, reason, missing_permission: missing }
      ) => [shop, missing === undefined ? reason : `${reason}  lacks ${missing}`])
    ),
    items
  ].filter((part) => part !== '').join('\n\n') + '\n'
}

/** One line for each run. */
export function listText (runs: readonly RunSummary[]): string {
  if (runs.length === 0) return 'no runs\n'
  return table(
    ['run', 'status', 'mode', 'shop', 'accounts', 'started', 'by'],
    runs.map((run) => [
      run.id,
      run.status,
      run.dry_run ? `${run.mode} (dry run)` : run.mode,
      run.shop_id ?? 'all',
      `${run.processed}/${run.total}`,
      run.started_at,
      run.actor
    ])
  ) + '\n'
}

function entries (counters: Readonly<Partial<Record<string, number>>>): string[][] {
  return Object.entries(counters).sort(([a], [b]) => a < b ? -1 : 1).map(([name, count]) => [name, String(count)])
}

/** Whether the run finished without failures. */
export function succeeded ({ status, outcomes, shops }: RunBody): boolean {
  return status === 'done' && (outcomes.failed ?? 0) === 0 && shops.stopped.length === 0
}

/** Characters that take two columns of a terminal, and those that take none. */
const WIDE = new RegExp(
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Emoji_Presentation}' +
    '\\u3000-\\u303f\\uff01-\\uff60\\uffe0-\\uffe6]',
  'u'
)
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
  const widths = fitting(
    head.map((_, column) => [head, ...cells].reduce((most, row) => Math.max(most, widthOf(row[column] ?? '')), 0)),
    width
  )
  const line = (row: readonly string[]) =>
    row.map((cell, column) => padded(cell, widths[column] ?? 0)).join('  ').trimEnd()
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n')
}

/**
 * Takes from the widest column, again and again. The last one, which has the details, is cut when it is twice as wide.
 */
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
  for (const character of text) {
    if (WIDE.test(character)) width += 2
    else if (!NARROW.test(character)) width++
  }
  return width
}
