import { unescaped } from '#shared/csv-line'
import { excerpt } from '#shared/excerpt'
import { type Cell, COLUMNS, LEFT_OUT } from '../catalog/product-file.ts'
import { csvReader } from './csv-records.ts'
import type { Note } from './notes.ts'
import { slugFromSku } from './foreign-cells.ts'
import { type Preset, presetOf, readingOf } from './presets.ts'
import { ERROR, Fault, type Line, lineOfFault, MAX_CELLS, MAX_LINE, MAX_RECORDS } from './line.ts'
import type { ParseJson } from '../http/json-bodies.ts'
import { toEnd } from './text.ts'
import { problemOfColumns } from './unknown-columns.ts'
import { counted, listed, quoted } from './words.ts'

/**
 * Reads a CSV file (RFC 4180) of products. Its first line has the names of the columns, in any order; a semicolon or
 * tab may separate the cells. Fields without a column are left out. The files of some other systems are known by their
 * headings.
 */
export async function* linesFromCsv (text: AsyncIterable<string>, parseJson: ParseJson): AsyncGenerator<Line> {
  let header: Header | undefined
  let count = 0
  try {
    const { delimiter, isNamed, whole } = await sniffed(text)
    let isHint = isNamed
    const read = csvReader(delimiter, { size: MAX_LINE, cells: MAX_CELLS })
    let readable = asItIs
    for await (const piece of toEnd(whole)) {
      for (const { line, cells: all, size } of read(piece)) {
        if (isHint) {
          isHint = false
          continue
        }
        if (header === undefined) readable = withoutErrors(all)
        const cells = readable(all)
        if (header === undefined) {
          const found = headerFrom(cells)
          if ('field' in found) {
            yield { line, size, problem: { ...found, isFatal: true } }
            return
          }
          header = found
          const unknown = unknownColumns(found, cells)
          if (unknown.length > 0) {
            const isFatal = !found.fields.some((field) => field !== undefined)
            yield isFatal
              ? { line, size, problem: { ...problemOfColumns(unknown), isFatal } }
              : { line, size, unknown }
            if (isFatal) return
          }
          yield { line, size, headings: found.kept(cells) }
          const warning = leftOut(found)
          if (warning !== undefined) yield { line, size, warning }
        } else if (count++ === MAX_RECORDS) throw new Fault(line, `The file has more than ${MAX_RECORDS} lines`)
        else if (cells.some((cell) => cell !== null)) {
          const product = productFrom(header, cells, parseJson)
          if (product === 'more') yield { line, size, notes: [{ kind: 'more' }] }
          else {
            const source = header.kept(cells)
            yield {
              line,
              size,
              isFromCells: true,
              source,
              ...header.columns && { columns: header.columns },
              ...product
            }
          }
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
  /** As the file spells them. */
  readonly names: readonly string[]
  /** The same in lower case. */
  readonly headings: readonly string[]
  /** The field of each column; undefined where it is left out. */
  readonly fields: ReadonlyArray<string | undefined>
  readonly preset: Preset | undefined
  /** Of another system: its names of the columns that are read, by their fields. */
  readonly columns: Line['columns']
  /** The cells of a line that are kept if it fails: without those of columns that no product has. */
  readonly kept: Cells
}

type Cells = (cells: readonly Cell[]) => readonly Cell[]

const asItIs: Cells = (cells) => cells

/** What says why the lines of an earlier import have failed is no part of them. */
function withoutErrors (first: readonly Cell[]): Cells {
  const places = new Set(first.flatMap((cell, index) => cell?.trim().toLowerCase() === ERROR ? [index] : []))
  return places.size === 0 ? asItIs : (cells) => cells.filter((_, index) => !places.has(index))
}

function headerFrom (cells: readonly Cell[]): Header | { readonly field: string, readonly message: string } {
  const names = cells.map((cell) => cell?.trim() ?? '')
  const headings = names.map((name) => name.toLowerCase())
  const preset = presetOf(headings)
  const fields = headings.map((heading) => {
    if (preset === undefined) return COLUMNS.has(heading) ? heading : undefined
    return Object.hasOwn(preset.columns, heading) ? preset.columns[heading] : undefined
  })
  for (const [index, heading] of headings.entries()) {
    const field = excerpt(names[index]!)
    // Of two that would be left out, both are.
    const isRead = fields[index] !== undefined || (preset === undefined && heading !== '')
    if (isRead && headings.indexOf(heading) !== index) return { field, message: `${field} is the name of two columns` }
  }
  const kept: Cells = (cells) =>
    cells.filter((_, index) => preset !== undefined || fields[index] !== undefined || !(headings[index] ?? ''))
  const columns = Object.fromEntries(
    fields.flatMap((field, index) => field === undefined ? [] : [[field, names[index]!] as const])
  )
  return { names, headings, fields, preset, columns: preset && columns, kept }
}

/** @returns the names of the columns that no product has, in a file of nobody else */
function unknownColumns ({ headings, fields, preset }: Header, cells: readonly Cell[]): readonly string[] {
  if (preset !== undefined) return []
  return cells.flatMap((cell, index) =>
    headings[index] !== '' && fields[index] === undefined ? excerpt(cell!.trim().replaceAll('\0', ''), 100) : []
  )
}

/** @returns what people should know of the file of another system, if there is anything */
function leftOut ({ names, headings, fields, preset }: Header): string | undefined {
  if (preset === undefined) return undefined
  const columns = headings.map((heading, index) => ({ heading, name: excerpt(names[index]!, 60) }))
    .filter(({ heading }, index) => heading !== '' && fields[index] === undefined)
  const [missed, others] = [columns.filter(isMissed), columns.filter((column) => !isMissed(column))]
  const shown = listed([...missed, ...others].slice(0, MOST_NAMED).map(({ name }) => name))
  const count = counted(columns.length, 'of its columns is', 'of its columns are')
  const said = [...preset.says ?? [], ...columns.length === 0 ? [] : [`${count} left out, such as ${shown}`]]
  return said.length === 0 ? undefined : [`This file is from ${preset.system}`, ...said].join('. ')
}

const MOST_NAMED = 3

/** Whether somebody would look for the column in the shop. */
const isMissed = ({ heading }: { readonly heading: string }): boolean =>
  /image|picture|photo|categor|tags|stock|quantity/.test(heading)

/** @returns `'more'` for a line that is no product of its own */
function productFrom (
  { names, headings, fields, preset }: Header,
  record: readonly Cell[],
  parseJson: ParseJson
): Pick<Line, 'product' | 'problem' | 'notes'> | 'more' {
  const spare = record.slice(headings.length)
  if (record.length < headings.length || spare.some((cell) => !isEmpty(cell))) {
    return {
      problem: { field: '', message: `The line has ${record.length} cells, and the first one has ${headings.length}` }
    }
  }
  const nameless = preset === undefined
    ? headings.findIndex((heading, index) => heading === '' && !isEmpty(record[index]!))
    : -1
  if (nameless !== -1) {
    return {
      problem: {
        field: '',
        message: `Column ${nameless + 1} has no name in the first line, and ${quoted(record[nameless]!)} in this one`
      }
    }
  }
  const why = preset?.refusal(
    (heading) => record[headings.indexOf(heading)]?.trim() ?? '',
    (heading) => names[headings.indexOf(heading)] ?? heading
  )
  if (why === 'more') return 'more'
  if (why !== undefined) {
    return { problem: { field: '', message: `The line of this ${preset!.system} file cannot be imported: ${why}` } }
  }
  const product: Record<string, unknown> = {}
  const notes: Note[] = []
  for (const [index, name] of fields.entries()) {
    if (name === undefined) continue
    const written = record[index]!
    const { cell, note } = readingOf(preset, name, written === null ? null : unescaped(written))
    if (note !== undefined) notes.push(note)
    try {
      const value = COLUMNS.get(name)!.read(cell, parseJson)
      if (value !== LEFT_OUT) product[name] = value
    } catch {
      return { problem: { field: name, message: `${name} is not JSON` } }
    }
  }
  Object.assign(product, preset?.finish?.(product))
  if (notes.some(({ kind }) => kind === 'noSlug')) Object.assign(product, slugFromSku(product))
  return { product, ...notes.length > 0 && { notes } }
}

const isEmpty = (cell: Cell): boolean => cell === null || cell.trim() === ''

/** What some spreadsheets write before the names of columns: `sep=;`. */
const HINT = /^"?sep=([,;\t|])"?$/i

/** The separator of a file is what the first line names, or has most of; names of columns have none. */
async function sniffed (
  text: AsyncIterable<string>
): Promise<{ readonly delimiter: string, readonly isNamed: boolean, readonly whole: AsyncIterable<string> }> {
  const chunks = text[Symbol.asyncIterator]()
  let start = ''
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    start += next.value
    // Only what is new is searched.
    if (/[\r\n]/.test(next.value) || start.length > MAX_LINE) break
  }
  const [header = ''] = start.split(/[\r\n]/, 1)
  const [, named] = HINT.exec(header) ?? []
  const counts = [',', ';', '\t'].map((delimiter) => ({ delimiter, count: header.split(delimiter).length }))
  const { delimiter } = counts.reduce((most, one) => one.count > most.count ? one : most)
  const whole = async function* (): AsyncGenerator<string> {
    yield start
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  return { delimiter: named ?? delimiter, isNamed: named !== undefined, whole: whole() }
}
