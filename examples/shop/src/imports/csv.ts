import { pipeline, Readable } from 'node:stream'
import { type CsvError, parse } from 'csv-parse'
import { excerpt } from '../http/excerpt.ts'
import { type Cell, COLUMNS, LEFT_OUT } from './columns.ts'
import { type Line, MAX_LINE, type ParseJson } from './line.ts'

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
  let columns: readonly string[] | undefined
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

function columnsFrom (header: readonly Cell[]): readonly string[] | { readonly field: string, readonly message: string } {
  const names = header.map((cell) => cell?.trim() ?? '')
  for (const [index, name] of names.entries()) {
    const field = excerpt(name)
    if (!COLUMNS.has(name)) return { field, message: `${field === '' ? `Column ${index + 1}` : field} is not a known column. Known: ${[...COLUMNS.keys()].join(', ')}` }
    if (names.indexOf(name) !== index) return { field, message: `${field} is the name of two columns` }
  }
  return names
}

function productFrom (columns: readonly string[], record: readonly Cell[], parseJson: ParseJson): Omit<Line, 'line'> {
  if (record.length !== columns.length) return { problem: { field: '', message: `The line has ${record.length} cells, and the first one has ${columns.length}` } }
  const product: Record<string, unknown> = {}
  for (const [index, name] of columns.entries()) {
    try {
      const value = COLUMNS.get(name)!.read(record[index]!, parseJson)
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
