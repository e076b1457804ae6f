import type { Knex } from 'knex'
import { DUAL_AUTH_INVALID_OPTION } from '../errors.ts'
import type { FoundRow, KeyColumn } from './key-row.ts'

/** A row as a driver returns it. */
export type Row = Readonly<Record<string, unknown>>

/** What a column is called in the table. */
export function columnName (column: KeyColumn, ownerColumn: string): string {
  return column === 'ownerId' ? ownerColumn : column.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** What a column is called in a row. One word, because the host's knex may turn `snake_case` into `camelCase`. */
export function nameInRow (column: KeyColumn): string {
  return column.toLowerCase()
}

/** The columns of a row. What `postProcessResponse` renames is undefined, which no column may be. */
export function foundRow<Column extends KeyColumn> (row: Row, columns: readonly Column[]): Pick<FoundRow, Column> {
  return Object.fromEntries(columns.map((column) => [column, row[nameInRow(column)]])) as Pick<FoundRow, Column>
}

/**
 * Leaves out most of what does not work at a moment: owners may have revoked thousands of keys.
 *
 * @param at - as the table stores it
 */
export function onlyWorking (query: Knex.QueryBuilder, at: number | string): void {
  query.whereNull('revoked_at').where((ends) => ends.whereNull('expires_at').orWhere('expires_at', '>', at))
}

/** The rows of a raw statement. The host's `postProcessResponse` may have taken them out. */
export function rowsOf (result: unknown): readonly Row[] {
  const rows: unknown = Array.isArray(result) ? result : (result as { readonly rows?: unknown } | undefined)?.rows
  if (!Array.isArray(rows)) throw new Error(`a statement on the API keys returned no rows: ${OTHER_KNEX}`)
  return rows
}

/** A column of a statement that selects it as text. */
export function textOf (row: Row | undefined, name: string): string {
  const value = row?.[name]
  if (typeof value !== 'string') throw new Error(`a statement on the API keys has no text ${name}: ${OTHER_KNEX}`)
  return value
}

const OTHER_KNEX = 'pass knexStore a knex whose postProcessResponse and wrapIdentifier do not rename columns'

/** @throws {@link DUAL_AUTH_INVALID_OPTION} if the host's knex returns rows that cannot be read */
export async function demandReadable (knex: Knex): Promise<void> {
  const result: unknown = await knex.select(
    knex.raw("cast('x' as char) as id"),
    knex.raw("cast('x' as char) as ownerid")
  )
  try {
    const [row] = rowsOf(result)
    if (textOf(row, 'id') !== 'x' || textOf(row, 'ownerid') !== 'x') {
      throw new Error(`the driver changes text: ${OTHER_KNEX}`)
    }
  } catch (error) {
    throw new DUAL_AUTH_INVALID_OPTION(`apiKeys.store: ${(error as Error).message}`)
  }
}
