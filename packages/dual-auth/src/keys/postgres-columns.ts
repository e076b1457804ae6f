import type { KeyColumn, KeyRow } from './key-row.ts'
import { columnName, nameInRow } from './knex-rows.ts'

/*
 * Values as text of one form. What a session is set to (`DateStyle`, `TimeZone`, `bytea_output`), and what type parsers
 * the host gave its driver, decide what becomes of a timestamp, a list or bytes; a value that the parser does not know
 * may come as null, and null means active.
 */

/** Every column of a table that `createApiKeysTable` made. */
export type PostgresColumn = Exclude<KeyColumn, 'noticeAt'>

/** The definition of each, which begins with its type. Hosts may change the type of the owner. */
const DEFINITIONS: { readonly [column in PostgresColumn]: string } = {
  id: 'uuid primary key',
  ownerId: 'text not null',
  name: 'text not null',
  prefix: 'text not null unique',
  scopes: "text[] not null default '{}'",
  fingerprint: 'bytea not null unique check (octet_length(fingerprint) = 32)',
  pepperId: 'text not null',
  hash: 'bytea not null',
  createdAt: 'timestamptz not null',
  createdBy: 'text not null',
  lastUsedAt: 'timestamptz',
  lastUsedNetwork: 'text',
  networks: "text[] not null default '{}'",
  expiresAt: 'timestamptz',
  revokedAt: 'timestamptz',
  revokedBy: 'text',
  replaces: 'uuid',
  replacedBy: 'uuid',
  expiryNotice: 'smallint',
  unusedNoticeAt: 'timestamptz'
}

export const POSTGRES_COLUMNS = Object.keys(DEFINITIONS) as PostgresColumn[]

/** For `create table`. */
export function definition (column: PostgresColumn, ownerColumn: string): string {
  return `"${columnName(column, ownerColumn)}" ${DEFINITIONS[column]}`
}

export function typeOf (column: PostgresColumn): string {
  return DEFINITIONS[column].split(' ', 1)[0]!
}

/** A column of `api_keys` as {@link KeyRow} has it: text, or the digits of a number. */
export function asText (column: PostgresColumn, ownerColumn: string, source = 'api_keys'): string {
  const name = `${source}.${columnName(column, ownerColumn)}`
  // What ends at `infinity` has no end.
  if (column === 'expiresAt') return `case when ${name} < 'infinity' then ${milliseconds(name)} end`
  switch (typeOf(column)) {
    case 'timestamptz':
      return milliseconds(name)
    case 'text[]':
      return `array_to_json(${name})::text`
    case 'bytea':
      return `encode(${name}, 'hex')`
    default:
      return `${name}::text`
  }
}

/**
 * Since the epoch. PostgreSQL knows moments that RFC 3339 cannot write, and two infinite ones: they are read as the
 * first or last that it can. Not by `to_char`, which makes null of an infinite moment.
 */
function milliseconds (name: string): string {
  return `case when ${name} > '9999-12-31T23:59:59.999Z' then '${Date.parse('9999-12-31T23:59:59.999Z')}' ` +
    `when ${name} < '0001-01-01T00:00:00Z' then '${Date.parse('0001-01-01T00:00:00Z')}' ` +
    `else round(extract(epoch from date_trunc('milliseconds', ${name})) * 1000)::text end`
}

/** What to select to read these columns. Never `*`: a list cannot leak what it does not read. */
export function selected (columns: readonly PostgresColumn[], ownerColumn: string, source = 'api_keys'): string {
  return columns.map((column) => `${asText(column, ownerColumn, source)} as ${nameInRow(column)}`).join(', ')
}

/** A value to bind. */
export function valueFrom (
  column: PostgresColumn,
  value: KeyRow[KeyColumn]
): string | number | readonly string[] | Buffer | null {
  if (value === null) return null
  switch (typeOf(column)) {
    case 'timestamptz':
      return new Date(Number(value)).toISOString()
    case 'text[]':
      return JSON.parse(String(value)) as readonly string[]
    case 'bytea':
      return Buffer.from(String(value), 'hex')
    default:
      return value
  }
}

/** The same in JSON, for `jsonb_to_recordset`. */
export function jsonFrom (column: PostgresColumn, value: KeyRow[KeyColumn]): unknown {
  return value !== null && typeOf(column) === 'bytea' ? `\\x${value}` : valueFrom(column, value)
}
