import { csvLine } from '../../../../shared/csv-line.ts'

/** A CSV file, written as the server writes its own. */
export function csvFrom (columns: readonly string[], rows: ReadonlyArray<Readonly<Record<string, unknown>>>): string {
  return [csvLine(columns), ...rows.map((row) => csvLine(columns.map((column) => cellFrom(row[column]))))].join('')
}

function cellFrom (value: unknown): string | number | boolean | null {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? JSON.stringify(value) : value as string | number | boolean
}
