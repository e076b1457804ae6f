import { csvLine } from '#shared/csv-line'
import { printable } from '../printable.ts'

/** The columns of records in CSV. */
export interface CsvTable<Body> {
  readonly head: readonly string[]
  /** Lines of cells, at least one for each record. */
  readonly lines: (record: Body) => string[][]
}

/** Records as CSV, without the head. Control characters in cells are escaped, as for a terminal. */
export function csvText<Body> ({ lines }: CsvTable<Body>, records: readonly Body[]): string {
  return records.flatMap(lines).map((line) => csvLine(line.map((cell) => printable(cell, Infinity)))).join('')
}
