import type { Knex } from 'knex'
import type { RecordMapping } from './mapping.ts'

/** Columns to write. */
export type Values = Readonly<Record<string, unknown>>

/** What {@link stored} has to know of a table. */
type Columns = Pick<RecordMapping, 'table' | 'written' | 'jsonColumns' | 'instants'>

/**
 * Values as their columns take them: JSON as text, and instants in UTC, since PostgreSQL does not accept every offset
 * that RFC 3339 allows. They are in one order, so that the same fields are the same statement.
 */
export function stored (knex: Knex, columns: Columns, values: Values): Values {
  const sorted = Object.entries(values).sort(([a], [b]) => a < b ? -1 : 1)
  return Object.fromEntries(sorted.map(([name, value]) => [name, storedValue(knex, columns, name, value)]))
}

function storedValue (knex: Knex, columns: Columns, name: string, value: unknown): unknown {
  const { table, written, jsonColumns, instants } = columns
  if (jsonColumns.includes(name) && isPlain(value)) return JSON.stringify(value)
  if (instants.includes(name) && typeof value === 'string') return new Date(value).toISOString()
  if (written.includes(name)) return value
  // A column of a newer version, as the history has it: the database knows its type.
  return knex.raw('(jsonb_populate_record(null::??, ?::jsonb)).??', [table, JSON.stringify({ [name]: value }), name])
}

/** Unlike SQL, which goes into a statement as it is. */
function isPlain (value: unknown): value is object {
  return Array.isArray(value) ||
    (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
}
