import { excerpt } from '../http/excerpt.ts'
import { type Cell, COLUMNS, LEFT_OUT } from './columns.ts'
import { csvReader } from './csv-records.ts'
import { Fault, type Line, lineOfFault, MAX_CELLS, MAX_LINE, MAX_RECORDS, type ParseJson } from './line.ts'
import { toEnd } from './text.ts'

/**
 * Reads a CSV file (RFC 4180) of products. Its first line has the names of the columns, in any order; a semicolon or tab may
 * separate the cells. Fields without a column are left out.
 */
export async function * linesFromCsv (text: AsyncIterable<string>, parseJson: ParseJson): AsyncGenerator<Line> {
  let columns: readonly string[] | undefined
  let count = 0
  try {
    const { delimiter, whole } = await sniffed(text)
    const read = csvReader(delimiter, { size: MAX_LINE, cells: MAX_CELLS })
    for await (const piece of toEnd(whole)) {
      for (const { line, cells, size } of read(piece)) {
        if (columns === undefined) {
          const found = columnsFrom(cells)
          if ('field' in found) {
            yield { line, size, problem: { ...found, isFatal: true } }
            return
          }
          columns = found
        } else if (count++ === MAX_RECORDS) throw new Fault(line, `The file has more than ${MAX_RECORDS} lines`)
        else if (cells.some((cell) => cell !== null)) yield { line, size, ...productFrom(columns, cells, parseJson) }
      }
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    yield lineOfFault(error)
  }
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

function productFrom (columns: readonly string[], record: readonly Cell[], parseJson: ParseJson): Pick<Line, 'product' | 'problem'> {
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
    // Only what is new is searched.
    if (/[\r\n]/.test(next.value) || start.length > MAX_LINE) break
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
