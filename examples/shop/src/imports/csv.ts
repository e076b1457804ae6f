import { pipeline, Readable } from 'node:stream'
import { type CsvError, parse } from 'csv-parse'
import { excerpt } from '../http/excerpt.ts'
import { type Line, MAX_LINE, type ParseJson } from './line.ts'

/** What a cell says; null if it is empty and not in quotes. */
type Cell = string | null

/** How the cells of a column are read. */
type Read = (cell: Cell, parseJson: ParseJson) => unknown

const LEFT_OUT = undefined

const text: Read = (cell) => cell === null ? LEFT_OUT : unescaped(cell)
const nullableText: Read = (cell) => cell === null ? null : unescaped(cell)
const word: Read = (cell) => cell?.trim() || LEFT_OUT
const integer: Read = (cell) => {
  const digits = cell?.trim() ?? ''
  return digits === '' ? null : /^-?\d{1,17}$/.test(digits) ? Number(digits) : digits
}
const ids: Read = (cell) => cell?.trim().split(/\s+/).filter((id) => id !== '') ?? []
const json = (empty: unknown): Read => (cell, parseJson) => cell === null || cell.trim() === '' ? empty : parseJson(cell)

/** The columns of a file of products, in the order of exports. */
export const COLUMNS = {
  id: word,
  sku: nullableText,
  name: text,
  slug: word,
  description: nullableText,
  status: word,
  price_amount: integer,
  currency: word,
  category_ids: ids,
  tag_ids: ids,
  attributes: json([]),
  metadata: json({})
} as const satisfies Readonly<Record<string, Read>>

type Column = keyof typeof COLUMNS

/**
 * Reads a CSV file (RFC 4180) of products. Its first line has the names of the columns, in any order; a semicolon or tab may
 * separate the cells. Fields without a column are left out.
 */
export async function * linesFromCsv (text: AsyncIterable<string>, parseJson: ParseJson): AsyncGenerator<Line> {
  const { delimiter, whole } = await sniffed(text)
  const parser = parse({
    delimiter,
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_LINE,
    cast: (cell, { quoting }) => cell === '' && !quoting ? null : cell
  })
  // The parser ends with the error of its source.
  pipeline(Readable.from(whole), parser, () => {})
  let columns: readonly Column[] | undefined
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: readonly Cell[], info: { lines: number } }>) {
      const line = info.lines - lineBreaks(record)
      if (columns === undefined) {
        const found = columnsFrom(record)
        if ('field' in found) {
          yield { line, problem: { ...found, isFatal: true } }
          return
        }
        columns = found
      } else if (record.some((cell) => cell !== null)) yield { line, ...productFrom(columns, record, parseJson) }
    }
  } catch (error) {
    const { code, lines } = error as Partial<CsvError> & { lines?: number }
    if (typeof code !== 'string' || !/^(?:CSV|INVALID)_/.test(code)) throw error
    yield { line: lines ?? 1, problem: { field: '', message: FAULTS[code] ?? `This is not CSV: ${code}`, isFatal: true } }
  }
}

/** What the parser rejects, after which nothing of the file can be read. */
const FAULTS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'A quote is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'A closing quote must be followed by a separator or the end of the line',
  INVALID_OPENING_QUOTE: 'A quote inside a cell must be doubled, and the cell in quotes',
  CSV_MAX_RECORD_SIZE: `The line is longer than ${MAX_LINE} characters`
}

function lineBreaks (record: readonly Cell[]): number {
  return record.reduce((sum, cell) => sum + (cell?.match(/\r\n|\n|\r/g)?.length ?? 0), 0)
}

function columnsFrom (header: readonly Cell[]): readonly Column[] | { readonly field: string, readonly message: string } {
  const names = header.map((cell) => cell?.trim() ?? '')
  for (const [index, name] of names.entries()) {
    const field = excerpt(name)
    if (!Object.hasOwn(COLUMNS, name)) return { field, message: `${field === '' ? `Column ${index + 1}` : field} is not a known column. Known: ${Object.keys(COLUMNS).join(', ')}` }
    if (names.indexOf(name) !== index) return { field, message: `${field} is the name of two columns` }
  }
  return names as readonly Column[]
}

function productFrom (columns: readonly Column[], record: readonly Cell[], parseJson: ParseJson): Omit<Line, 'line'> {
  if (record.length !== columns.length) return { problem: { field: '', message: `The line has ${record.length} cells, and the first one has ${columns.length}` } }
  const product: Record<string, unknown> = {}
  for (const [index, name] of columns.entries()) {
    try {
      const value = COLUMNS[name](record[index]!, parseJson)
      if (value !== LEFT_OUT) product[name] = value
    } catch {
      return { problem: { field: name, message: `${name} is not JSON` } }
    }
  }
  return { product }
}

/** The separator of a file is what the first line has most of; names of columns have none. */
async function sniffed (text: AsyncIterable<string>): Promise<{ readonly delimiter: string, readonly whole: AsyncIterable<string> }> {
  const chunks = text[Symbol.asyncIterator]()
  let start = ''
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    start += next.value
    if (/[\r\n]/.test(start) || start.length > MAX_LINE) break
  }
  const [header = ''] = start.split(/[\r\n]/, 1)
  const counts = [',', ';', '\t'].map((delimiter) => ({ delimiter, count: header.split(delimiter).length }))
  const { delimiter } = counts.reduce((most, one) => one.count > most.count ? one : most)
  const whole = async function * (): AsyncGenerator<string> {
    yield start
    yield * { [Symbol.asyncIterator]: () => chunks }
  }
  return { delimiter, whole: whole() }
}

/** Cells that a spreadsheet would take for a formula, behind any apostrophes; the wide forms too. */
const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/u
const ESCAPED = /^'+[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/u
const NUMBER = /^-?\d+(?:\.\d+)?$/

/** The reverse of what {@link csvLine} puts before formulas. */
function unescaped (cell: string): string {
  return ESCAPED.test(cell) ? cell.slice(1) : cell
}

/**
 * A line of CSV, RFC 4180. A cell that a spreadsheet would take for a formula starts with an apostrophe, also if it starts
 * with apostrophes itself; negative numbers do not. Strings are in quotes, so that an empty one differs from null.
 *
 * @see [OWASP: CSV injection](https://owasp.org/www-community/attacks/CSV_Injection)
 */
export function csvLine (cells: ReadonlyArray<string | number | null>): string {
  return `${cells.map((cell) => {
    if (cell === null) return ''
    const text = String(cell)
    return `"${(FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
  }).join(',')}\r\n`
}
