import type { Knex } from 'knex'
import { DUAL_AUTH_INVALID_OPTION } from '../errors.ts'
import { must } from '../option-checks.ts'
import type { TableNames } from './names.ts'
import type { ApiKeyRecord } from './store.ts'

/*
 * Rows as text. What a session is set to (`DateStyle`, `TimeZone`, `bytea_output`), and what type parsers the host gave
 * its driver, decide what becomes of a timestamp, a list or bytes; a value that the parser does not know may come as
 * null, and null means active. So each column is selected as text of one form, and read here: a value of any other form
 * is an error.
 */

type Kind = 'text' | 'instant' | 'end' | 'strings' | 'bytes'

/** Every column that is read, and what it contains. */
const KINDS = {
  id: 'text',
  owner_id: 'text',
  name: 'text',
  prefix: 'text',
  scopes: 'strings',
  created_at: 'instant',
  created_by: 'text',
  last_used_at: 'instant',
  last_used_network: 'text',
  expires_at: 'end',
  revoked_at: 'instant',
  replaces: 'text',
  replaced_by: 'text',
  networks: 'strings',
  fingerprint: 'bytes',
  pepper_id: 'text',
  hash: 'bytes'
} as const satisfies Readonly<Record<string, Kind>>

type Column = keyof typeof KINDS

/** The columns of a record. Never `*`: a list cannot leak what it does not read. */
export const RECORD = [
  'id',
  'owner_id',
  'name',
  'prefix',
  'scopes',
  'created_at',
  'created_by',
  'last_used_at',
  'last_used_network',
  'expires_at',
  'revoked_at',
  'replaces',
  'replaced_by'
] as const satisfies readonly Column[]

const AS_TEXT: Readonly<Record<Kind, (column: string) => string>> = {
  text: (column) => `${column}::text`,
  instant: milliseconds,
  // What ends at `infinity` has no end.
  end: (column) => `case when ${column} < 'infinity' then ${milliseconds(column)} end`,
  strings: (column) => `array_to_json(${column})::text`,
  bytes: (column) => `encode(${column}, 'hex')`
}

/** Since the epoch. Not `to_char`, which makes null of an infinite moment. */
function milliseconds (column: string): string {
  return `round(extract(epoch from date_trunc('milliseconds', ${column})) * 1000)::text`
}

/** A row as a driver returns it. */
export type Row = Readonly<Record<string, unknown>>

/**
 * What to select or return, to read it with the functions below.
 *
 * @param source - what the columns are of, such as `api_keys`
 */
export function selected (
  { ownerColumn }: Pick<TableNames, 'ownerColumn'>,
  columns: readonly Column[],
  source: string
): string {
  return columns.map((column) =>
    `${AS_TEXT[KINDS[column]](`${source}.${column === 'owner_id' ? ownerColumn : column}`)} as ${nameInRow(column)}`
  ).join(', ')
}

/** One word, because the host's knex may turn `snake_case` into `camelCase`. */
function nameInRow (column: string): string {
  return column.replaceAll('_', '')
}

/** The rows of a raw statement. The host's `postProcessResponse` may have taken them out. */
export function rowsOf (result: unknown): readonly Row[] {
  const rows: unknown = Array.isArray(result) ? result : (result as { readonly rows?: unknown } | undefined)?.rows
  if (!Array.isArray(rows)) throw new Error(`a statement on the API keys returned no rows: ${OTHER_KNEX}`)
  return rows
}

const OTHER_KNEX = 'pass knexStore a knex whose postProcessResponse and wrapIdentifier do not rename columns'

/** @throws {@link DUAL_AUTH_INVALID_OPTION} if the host's knex returns rows that cannot be read */
export async function demandReadable (knex: Knex): Promise<void> {
  const result: unknown = await knex.select(
    knex.raw("cast('x' as char) as id"),
    knex.raw("cast('x' as char) as ownerid")
  )
  try {
    const [row = {}] = rowsOf(result)
    must(text(row, 'id') === 'x' && text(row, 'owner_id') === 'x', `the driver changes text: ${OTHER_KNEX}`)
  } catch (error) {
    throw error instanceof DUAL_AUTH_INVALID_OPTION
      ? error
      : new DUAL_AUTH_INVALID_OPTION(`apiKeys.store: ${(error as Error).message}`)
  }
}

/** Null only if the database has null. */
export function textOrNull (row: Row, column: string): string | null {
  const value = row[nameInRow(column)]
  if (value === undefined) throw new Error(`a row of api_keys has no column ${column}: ${OTHER_KNEX}`)
  if (value !== null && typeof value !== 'string') {
    throw unreadable(
      row,
      column,
      `${typeof value} instead of text: pass knexStore a knex whose driver returns text as it is`
    )
  }
  return value
}

export function text (row: Row, column: string): string {
  const value = textOrNull(row, column)
  if (value === null) throw unreadable(row, column, 'null')
  return value
}

/**
 * The moments that RFC 3339 can write. PostgreSQL knows others, and two infinite ones: they are read as the first or
 * last of these.
 */
const [FIRST, LAST] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')]

export function instantOrNull (row: Row, column: string): Date | null {
  const value = textOrNull(row, column)
  if (value === null) return null
  if (!/^-?(?:\d{1,17}|Infinity)$/.test(value)) throw unreadable(row, column, `${value}, which is no date`)
  return new Date(Math.min(Math.max(Number(value), FIRST), LAST))
}

function instant (row: Row, column: string): Date {
  const date = instantOrNull(row, column)
  if (date === null) throw unreadable(row, column, 'null')
  return date
}

export function strings (row: Row, column: string): readonly string[] {
  const list: unknown = JSON.parse(text(row, column))
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string')) {
    throw unreadable(row, column, 'not a list of text')
  }
  return list
}

export function bytes (row: Row, column: string): Buffer {
  const value = text(row, column)
  if (!/^(?:[\da-f]{2})*$/.test(value)) throw unreadable(row, column, 'not bytes')
  return Buffer.from(value, 'hex')
}

/** Of a count, or another whole number. */
export function integer (row: Row | undefined, column: string): number {
  const value = text(row ?? {}, column)
  if (!/^\d{1,15}$/.test(value)) throw new Error(`${column} of the API keys is not a whole number`)
  return Number(value)
}

function unreadable (row: Row, column: string, found: string): Error {
  const { id } = row
  return new Error(`${column} of the API key ${typeof id === 'string' ? id : 'in a row without an id'} is ${found}`)
}

export function recordFromRow (row: Row): ApiKeyRecord {
  return {
    id: text(row, 'id'),
    ownerId: text(row, 'owner_id'),
    name: text(row, 'name'),
    prefix: text(row, 'prefix'),
    scopes: strings(row, 'scopes'),
    createdAt: instant(row, 'created_at'),
    createdBy: text(row, 'created_by'),
    lastUsedAt: instantOrNull(row, 'last_used_at'),
    lastUsedNetwork: textOrNull(row, 'last_used_network'),
    expiresAt: instantOrNull(row, 'expires_at'),
    revokedAt: instantOrNull(row, 'revoked_at'),
    replaces: textOrNull(row, 'replaces'),
    replacedBy: textOrNull(row, 'replaced_by')
  }
}
