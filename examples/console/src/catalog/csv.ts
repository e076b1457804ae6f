/**
 * A CSV file (RFC 4180). A spreadsheet would compute a cell that starts like a formula, so such cells start with an
 * apostrophe.
 */
export function csvFrom (columns: readonly string[], rows: ReadonlyArray<Readonly<Record<string, unknown>>>): string {
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))].map((cells) => cells.map(cellFrom).join(',')).join('\r\n') + '\r\n'
}

const FORMULA = /^[\s\u200b\ufeff]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/

function cellFrom (value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
