import type { ApiKeyRecord } from './store.ts'

/** The columns of a record. Never `*`: a list cannot leak what it does not read. */
export const RECORD = ['id', 'shop_id', 'name', 'prefix', 'scopes', 'created_at', 'created_by', 'last_used_at', 'last_used_network', 'expires_at', 'revoked_at', 'replaces', 'replaced_by'] as const

/** A record as the table has it. */
export interface RecordRow {
  id: string
  shop_id: string
  name: string
  prefix: string
  scopes: string[]
  created_at: Date
  created_by: string
  last_used_at: Date | null
  last_used_network: string | null
  expires_at: Date | null
  revoked_at: Date | null
  replaces: string | null
  replaced_by: string | null
}

// Dates and bytes pass through constructors because hosts may set other type parsers for their pool.
export function recordFromRow (row: RecordRow): ApiKeyRecord {
  requireColumns(row, RECORD)
  return {
    id: row.id,
    shopId: row.shop_id,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    createdAt: new Date(row.created_at),
    createdBy: row.created_by,
    lastUsedAt: dateOrNull(row.last_used_at),
    lastUsedNetwork: row.last_used_network,
    expiresAt: dateOrNull(row.expires_at),
    revokedAt: dateOrNull(row.revoked_at),
    replaces: row.replaces,
    replacedBy: row.replaced_by
  }
}

/** A key with a missing column would pass for a revoked one, or for one that never expires. */
export function requireColumns (row: object, columns: readonly string[]): void {
  for (const column of columns) {
    if ((row as Readonly<Record<string, unknown>>)[column] === undefined) {
      throw new Error(`a row of api_keys has no column ${column}: pass knexStore a knex whose postProcessResponse and wrapIdentifier do not rename columns`)
    }
  }
}

export function dateOrNull (value: Date | null): Date | null {
  return value === null ? null : new Date(value)
}
