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

/** Spreadsheets take a cell that starts like this for a formula; the wide forms too. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/u
const NUMBER = /^-?\d+(?:\.\d+)?$/

/**
 * A line of CSV, RFC 4180, every cell in quotes. A cell that a spreadsheet would take for a formula starts with an
 * apostrophe; negative numbers do not.
 *
 * @see [OWASP: CSV injection](https://owasp.org/www-community/attacks/CSV_Injection)
 */
export function csvLine (cells: readonly string[]): string {
  return `${
    cells.map((cell) => `"${(FORMULA.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell).replaceAll('"', '""')}"`)
      .join(',')
  }\r\n`
}
