import type { ApiKeyRecord, NewApiKey, StoredApiKey } from './store.ts'

/**
 * A key as a table stores it: only strings, whole numbers and null, which every database keeps as they are. Times are
 * milliseconds since 1970, bytes are lower-case hexadecimal, lists are JSON.
 */
export interface KeyRow {
  /** A UUID. The primary key. */
  readonly id: string
  /** The owner. Compared byte by byte, in every case. */
  readonly ownerId: string
  readonly name: string
  /** Unique. */
  readonly prefix: string
  readonly scopes: string
  /** 64 digits, unique: a key is found by it on every call. */
  readonly fingerprint: string
  readonly pepperId: string
  readonly hash: string
  readonly createdAt: number
  readonly createdBy: string
  readonly lastUsedAt: number | null
  readonly lastUsedNetwork: string | null
  readonly networks: string
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly revokedBy: string | null
  readonly replaces: string | null
  readonly replacedBy: string | null
  readonly expiryNotice: number | null
  readonly unusedNoticeAt: number | null
  /** When a notice of the key is due next. */
  readonly noticeAt: number | null
}

export type KeyColumn = keyof KeyRow

/** A row as a driver returns it: a whole number may come as a bigint, or as its digits. */
export type FoundRow = { readonly [column in KeyColumn]: unknown }

type Kind = 'text' | 'number'

/** Every column, in the order of the table. A `?` may be null. */
export const KINDS = {
  id: 'text',
  ownerId: 'text',
  name: 'text',
  prefix: 'text',
  scopes: 'text',
  fingerprint: 'text',
  pepperId: 'text',
  hash: 'text',
  createdAt: 'number',
  createdBy: 'text',
  lastUsedAt: 'number?',
  lastUsedNetwork: 'text?',
  networks: 'text',
  expiresAt: 'number?',
  revokedAt: 'number?',
  revokedBy: 'text?',
  replaces: 'text?',
  replacedBy: 'text?',
  expiryNotice: 'number?',
  unusedNoticeAt: 'number?',
  noticeAt: 'number?'
} as const satisfies { readonly [column in KeyColumn]: Kind | `${Kind}?` }

export const COLUMNS = Object.keys(KINDS) as KeyColumn[]

/** The columns of a record. */
export const RECORD = [
  'id',
  'ownerId',
  'name',
  'prefix',
  'scopes',
  'createdAt',
  'createdBy',
  'lastUsedAt',
  'lastUsedNetwork',
  'expiresAt',
  'revokedAt',
  'replaces',
  'replacedBy'
] as const satisfies readonly KeyColumn[]

/** The columns that verification needs. */
export const STORED = [
  'id',
  'ownerId',
  'scopes',
  'createdBy',
  'fingerprint',
  'pepperId',
  'hash',
  'expiresAt',
  'revokedAt'
] as const satisfies readonly KeyColumn[]

/**
 * The row, once every value has its type: null means that a key never expires and is not revoked, so nothing else may
 * pass for it.
 *
 * @throws an Error that names the key and the column
 */
export function readRow<Column extends KeyColumn = KeyColumn> (
  found: Pick<FoundRow, Column>,
  columns: readonly Column[] = COLUMNS as Column[]
): Pick<KeyRow, Column> {
  const row: Record<string, string | number | null> = {}
  for (const column of columns) {
    const value = found[column]
    const read = KINDS[column].startsWith('text') ? textFrom(column, value) : numberFrom(value)
    if (read === undefined || (read === null && !KINDS[column].endsWith('?'))) {
      throw new Error(
        `${column} of the API key ${String((found as Partial<FoundRow>).id)} is ` +
          `${value === null ? 'null' : `${typeof value} ${String(value).slice(0, 40)}`}: a table of keys must ` +
          `return ${KINDS[column].replace('?', ' or null')}, as it was stored`
      )
    }
    row[column] = read
  }
  return row as unknown as Pick<KeyRow, Column>
}

function textFrom (column: KeyColumn, value: unknown): string | null | undefined {
  // Ids of the host's own may be numbers.
  if (column === 'ownerId' && (typeof value === 'number' || typeof value === 'bigint')) return String(value)
  return typeof value === 'string' || value === null ? value : undefined
}

function numberFrom (value: unknown): number | null | undefined {
  if (value === null) return null
  const number = typeof value === 'bigint' || (typeof value === 'string' && /^-?\d{1,17}$/.test(value))
    ? Number(value)
    : value
  return Number.isSafeInteger(number) ? number as number : undefined
}

/** The row of a key that was just created, but for its next notice. */
export function rowFromNewKey (key: NewApiKey, replaces: string | null = null, networks = '[]'): KeyRow {
  const { id, ownerId, name, prefix, scopes, fingerprint, pepperId, hash, createdAt, createdBy, expiresAt } = key
  return {
    id,
    ownerId,
    name,
    prefix,
    scopes: JSON.stringify(scopes),
    ...textFromSecrets({ fingerprint, pepperId, hash }),
    createdAt: +createdAt,
    createdBy,
    lastUsedAt: null,
    lastUsedNetwork: null,
    networks,
    expiresAt: expiresAt && +expiresAt,
    revokedAt: null,
    revokedBy: null,
    replaces,
    replacedBy: null,
    expiryNotice: null,
    unusedNoticeAt: null,
    noticeAt: null
  }
}

export function textFromSecrets (
  { fingerprint, pepperId, hash }: Pick<NewApiKey, 'fingerprint' | 'pepperId' | 'hash'>
): Pick<KeyRow, 'fingerprint' | 'pepperId' | 'hash'> {
  return { fingerprint: hex(fingerprint), pepperId, hash: hex(hash) }
}

export function hex (bytes: Buffer): string {
  return bytes.toString('hex')
}

export function recordFromRow (row: Pick<KeyRow, typeof RECORD[number]>): ApiKeyRecord {
  const {
    id,
    ownerId,
    name,
    prefix,
    scopes,
    createdAt,
    createdBy,
    lastUsedAt,
    lastUsedNetwork,
    expiresAt,
    revokedAt,
    replaces,
    replacedBy
  } = row
  return {
    id,
    ownerId,
    name,
    prefix,
    scopes: strings(row, 'scopes', scopes),
    createdAt: date(createdAt),
    createdBy,
    lastUsedAt: dateOrNull(lastUsedAt),
    lastUsedNetwork,
    expiresAt: dateOrNull(expiresAt),
    revokedAt: dateOrNull(revokedAt),
    replaces,
    replacedBy
  }
}

export function storedFromRow (row: Pick<KeyRow, typeof STORED[number]>): StoredApiKey {
  const { id, ownerId, scopes, createdBy, fingerprint, pepperId, hash, expiresAt, revokedAt } = row
  return {
    id,
    ownerId,
    scopes: strings(row, 'scopes', scopes),
    createdBy,
    fingerprint: bytes(row, 'fingerprint', fingerprint),
    pepperId,
    hash: bytes(row, 'hash', hash),
    expiresAt: dateOrNull(expiresAt),
    revokedAt: dateOrNull(revokedAt)
  }
}

/** The networks that a key was used from, newest first. */
export function networksOf (row: KeyRow): readonly string[] {
  return strings(row, 'networks', row.networks)
}

function strings ({ id }: Pick<KeyRow, 'id'>, column: KeyColumn, json: string): readonly string[] {
  let list: unknown
  try {
    list = JSON.parse(json)
  } catch {}
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string')) {
    throw new Error(`${column} of the API key ${id} is not a JSON list of strings`)
  }
  return list
}

function bytes ({ id }: Pick<KeyRow, 'id'>, column: KeyColumn, text: string): Buffer {
  if (!/^(?:[\da-f]{2})*$/.test(text)) throw new Error(`${column} of the API key ${id} is not bytes in hexadecimal`)
  return Buffer.from(text, 'hex')
}

/**
 * The moments that RFC 3339 can write. Those beyond, which somebody wrote into the table, are read as the first or
 * last.
 */
const [FIRST, LAST] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')]

function date (time: number): Date {
  return new Date(Math.min(Math.max(time, FIRST), LAST))
}

function dateOrNull (time: number | null): Date | null {
  return time === null ? null : date(time)
}
