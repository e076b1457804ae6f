import type { Cell } from '../catalog/product-file.ts'
import { Fault } from './line.ts'

/** A record of a CSV file. */
export interface CsvRecord {
  /** Of the file, from 1: where the record begins. */
  readonly line: number
  readonly cells: readonly Cell[]
  /** In characters. */
  readonly size: number
}

/** How much a record may have. */
interface RecordLimits {
  /** In characters. */
  readonly size: number
  readonly cells: number
}

const [LF, CR, QUOTE] = [10, 13, 34]

/**
 * Reads CSV (RFC 4180) piece by piece. Each line ends with LF, CRLF or CR; within quotes they belong to the cell. Lines
 * without a character are left out.
 *
 * It takes time in proportion to the piece, and keeps no more than one record. Libraries call back for each cell to
 * tell `""` from nothing, which takes fifty times as long, and do not limit the cells of a record.
 *
 * @param delimiter - one character
 * @returns reads the next piece, or the end of the file if it is null, and gives the records that end there
 * @throws {@link Fault}
 */
export function csvReader (delimiter: string, limits: RecordLimits): (piece: string | null) => readonly CsvRecord[] {
  const separator = delimiter.charCodeAt(0)
  /** Bare: in a cell without quotes; closed: behind a quote that ends the cell, or is the first of two. */
  let place: 'start' | 'bare' | 'quoted' | 'closed' = 'start'
  let cells: Cell[] = []
  /** Of the cell and the record, before the piece. */
  let [text, size] = ['', 0]
  let [line, recordLine, quoteLine] = [1, 1, 1]
  let afterCr = false

  function endCell (rest: string): void {
    const quoted = place === 'closed' ? text : null
    cells.push(place === 'bare' ? text + rest : quoted)
    if (cells.length > limits.cells) throw new Fault(recordLine, `The line has more than ${limits.cells} cells`)
    text = ''
    place = 'start'
  }

  function refuseBeyond (size: number): void {
    if (size <= limits.size) return
    if (place === 'quoted') {
      throw new Fault(quoteLine, `A quote is not closed, or the line is longer than ${limits.size} characters`)
    }
    throw new Fault(recordLine, `The line is longer than ${limits.size} characters`)
  }

  function read (piece: string): readonly CsvRecord[] {
    const records: CsvRecord[] = []
    /** Where the record, and what is to be taken of the cell, begin in the piece. */
    let [begun, from] = [0, 0]
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at)
      const endsCrLf = afterCr && code === LF
      afterCr = code === CR
      if (place === 'quoted') {
        if (code === QUOTE) {
          text += piece.slice(from, at)
          place = 'closed'
        } else if ((code === LF || code === CR) && !endsCrLf) line += 1
      } else if (endsCrLf) {
        begun = from = at + 1
      } else if (code === separator) {
        endCell(piece.slice(from, at))
        from = at + 1
      } else if (code === LF || code === CR) {
        refuseBeyond(size + at - begun)
        if (place !== 'start' || cells.length > 0) {
          endCell(piece.slice(from, at))
          records.push({ line: recordLine, cells, size: size + at - begun })
          cells = []
        }
        size = 0
        recordLine = line += 1
        begun = from = at + 1
      } else if (code === QUOTE) {
        if (place === 'bare') throw new Fault(line, 'A quote inside a cell must be doubled, and the cell in quotes')
        // The second of two is a quote of the cell.
        from = place === 'closed' ? at : at + 1
        if (place === 'start') quoteLine = line
        place = 'quoted'
      } else if (place === 'closed') {
        throw new Fault(line, 'A closing quote must be followed by a separator or the end of the line')
      } else place = 'bare'
    }
    if (place === 'bare' || place === 'quoted') text += piece.slice(from)
    size += piece.length - begun
    refuseBeyond(size)
    return records
  }

  return (piece) => {
    if (piece !== null) return read(piece)
    if (place === 'quoted') throw new Fault(quoteLine, 'A quote is not closed')
    return read('\n')
  }
}
