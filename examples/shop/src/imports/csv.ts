import { excerpt } from '#shared/excerpt'
import { type Cell, COLUMNS, LEFT_OUT } from './columns.ts'
import { csvReader } from './csv-records.ts'
import { cellFrom, type Preset, presetOf } from './presets.ts'
import { Fault, type Line, lineOfFault, MAX_CELLS, MAX_LINE, MAX_RECORDS, type ParseJson } from './line.ts'
import { toEnd } from './text.ts'

/**
 * Reads a CSV file (RFC 4180) of products. Its first line has the names of the columns, in any order; a semicolon or
 * tab may separate the cells. Fields without a column are left out. The files of some other systems are known by their
 * headings.
 */
export async function* linesFromCsv (text: AsyncIterable<string>, parseJson: ParseJson): AsyncGenerator<Line> {
  let header: Header | undefined
  let count = 0
  try {
    const { delimiter, whole } = await sniffed(text)
    const read = csvReader(delimiter, { size: MAX_LINE, cells: MAX_CELLS })
    for await (const piece of toEnd(whole)) {
      for (const { line, cells, size } of read(piece)) {
        if (header === undefined) {
          const found = headerFrom(cells)
          if ('field' in found) {
            yield { line, size, problem: { ...found, isFatal: true } }
            return
          }
          header = found
          const warning = leftOut(found, cells)
          if (warning !== undefined) yield { line, size, warning }
        } else if (count++ === MAX_RECORDS) throw new Fault(line, `The file has more than ${MAX_RECORDS} lines`)
        else if (cells.some((cell) => cell !== null)) {
          const product = productFrom(header, cells, parseJson)
          if (product !== undefined) yield { line, size, isFromCells: true, ...product }
        }
      }
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    yield lineOfFault(error)
  }
}

/** What the first line of a file says of the others. */
interface Header {
  /** In lower case. */
  readonly headings: readonly string[]
  /** The field of each column; undefined where it is left out. */
  readonly fields: ReadonlyArray<string | undefined>
  readonly preset: Preset | undefined
}

function headerFrom (cells: readonly Cell[]): Header | { readonly field: string, readonly message: string } {
  const headings = cells.map((cell) => cell?.trim().toLowerCase() ?? '')
  const preset = presetOf(headings)
  const fields = preset === undefined
    ? headings
    : headings.map((heading) => Object.hasOwn(preset.columns, heading) ? preset.columns[heading] : undefined)
  for (const [index, name] of headings.entries()) {
    if (fields[index] === undefined) continue
    const field = excerpt(cells[index]?.trim() ?? '')
    if (preset === undefined && !COLUMNS.has(name)) {
      return {
        field,
        message: `${field === '' ? `Column ${index + 1}` : field} is not a known column. Known: ` +
          `${[...COLUMNS.keys()].join(', ')}`
      }
    }
    if (headings.indexOf(name) !== index) return { field, message: `${field} is the name of two columns` }
  }
  return { headings, fields, preset }
}

function leftOut ({ fields, preset }: Header, cells: readonly Cell[]): string | undefined {
  const names = cells.filter((_, index) => fields[index] === undefined).map((cell) => excerpt(cell?.trim() ?? ''))
  if (preset === undefined || names.length === 0) return undefined
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
  return `This file is from ${preset.system}. These columns are left out: ` +
    `${names.slice(0, MOST_NAMED).join(', ')}${more}`
}

const MOST_NAMED = 30

/** @returns undefined for a line that is no product of its own */
function productFrom (
  { headings, fields, preset }: Header,
  record: readonly Cell[],
  parseJson: ParseJson
): Pick<Line, 'product' | 'problem'> | undefined {
  if (record.length !== headings.length) {
    return {
      problem: { field: '', message: `The line has ${record.length} cells, and the first one has ${headings.length}` }
    }
  }
  const why = preset?.refusal((heading) => record[headings.indexOf(heading)]?.trim() ?? '')
  if (why === 'more') return undefined
  if (why !== undefined) {
    return { problem: { field: '', message: `The line of this ${preset!.system} file cannot be imported: ${why}` } }
  }
  const product: Record<string, unknown> = {}
  for (const [index, name] of fields.entries()) {
    if (name === undefined) continue
    const cell = record[index]!
    try {
      const value = COLUMNS.get(name)!.read(preset === undefined ? cell : cellFrom(preset, name, cell), parseJson)
      if (value !== LEFT_OUT) product[name] = value
    } catch {
      return { problem: { field: name, message: `${name} is not JSON` } }
    }
  }
  return { product }
}

/** The separator of a file is what the first line has most of; names of columns have none. */
async function sniffed (
  text: AsyncIterable<string>
): Promise<{ readonly delimiter: string, readonly whole: AsyncIterable<string> }> {
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
  const whole = async function* (): AsyncGenerator<string> {
    yield start
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  return { delimiter, whole: whole() }
}
