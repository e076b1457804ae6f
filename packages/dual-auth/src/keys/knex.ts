import type { Knex } from 'knex'
import { recordFromNewKey, type ApiKeyRecord, type ApiKeyStore, type KeyFilter, type KeyQuery, type StoredApiKey } from './store.ts'
import { DUAL_AUTH_INVALID_OPTION } from '../errors.ts'
import { isInvalidShopId, isMissingShop, isSchemaError, recovering, throwShopUnknown } from './postgres-errors.ts'

/** Never `*`: a list cannot leak what it does not read. */
const RECORD = ['id', 'shop_id', 'name', 'prefix', 'scopes', 'created_at', 'last_used_at', 'expires_at', 'revoked_at'] as const
const STORED = ['id', 'shop_id', 'scopes', 'fingerprint', 'pepper_id', 'hash', 'expires_at', 'revoked_at'] as const

interface Row {
  id: string
  shop_id: string
  name: string
  prefix: string
  scopes: string[]
  fingerprint: Uint8Array
  pepper_id: string
  hash: Uint8Array
  created_at: Date
  last_used_at: Date | null
  expires_at: Date | null
  revoked_at: Date | null
}

/**
 * One lock for each shop, however its id is spelled: a UUID has several spellings. The lock is on the id as the column
 * stores it, because hosts may change the column's type.
 */
const LOCK_SHOP = `select pg_advisory_xact_lock(hashtextextended('api_keys ' ||
  (jsonb_populate_record(null::api_keys, jsonb_build_object('shop_id', ?::text))).shop_id, 0))`

/**
 * Stores keys in the table `api_keys` of a PostgreSQL database. If you read from replicas, pass a knex that reads the
 * primary: a revoked key keeps working for as long as a replica lags.
 *
 * @see {@link createApiKeysTable}
 */
export function knexStore (knex: Knex): ApiKeyStore {
  return {
    async ready () {
      const columns = [...new Set([...RECORD, ...STORED, 'created_by', 'revoked_by'])]
      await recovering(isSchemaError, knex('api_keys').select(columns).limit(0), () => {
        throw new DUAL_AUTH_INVALID_OPTION('apiKeys.store must be able to read the table api_keys, but the table or a column is missing or not readable; create it with createApiKeysTable(knex)')
      })
    },
    async find (fingerprints) {
      const row = await knex<Row>('api_keys').select(...STORED).whereIn('fingerprint', fingerprints).first()
      return row === undefined ? null : storedFromRow(row)
    },
    async insert (key, limit, onStored) {
      const { id, shopId, name, prefix, scopes, fingerprint, pepperId, hash, createdAt, createdBy, expiresAt } = key
      return knex.transaction(async trx => {
        // Count and insert in one step, or two simultaneous requests both find room for the last key.
        await recovering(isInvalidShopId, trx.raw(LOCK_SHOP, [shopId]), throwShopUnknown)
        const active = await trx('api_keys').select('id').where('shop_id', shopId).whereNull('revoked_at')
          .where(unexpired => unexpired.whereNull('expires_at').orWhere('expires_at', '>', createdAt)).limit(limit)
        if (active.length >= limit) return false
        await recovering(isMissingShop, trx('api_keys').insert({
          id,
          shop_id: shopId,
          name,
          prefix,
          scopes: [...scopes],
          fingerprint,
          pepper_id: pepperId,
          hash,
          created_at: createdAt,
          created_by: createdBy,
          expires_at: expiresAt
        }), throwShopUnknown)
        await onStored?.(recordFromNewKey(key), trx)
        return true
      })
    },
    async list (shopId, { skip, limit, filter, sort }) {
      const ofShop = knex<Row>('api_keys').where('shop_id', shopId).modify(applyFilter, filter)
      const order = orderFromSort(sort)
      // One statement: a key could be created between two. An empty page is a row of nulls.
      const query = knex.from(ofShop.clone().select(...RECORD).orderByRaw(order).offset(skip).limit(limit).as('page'))
        .rightJoin(ofShop.clone().count('* as count').as('every'), knex.raw('true'))
        .select<Array<Pick<Row, typeof RECORD[number]> & { count: number | string }>>('page.*', 'every.count').orderByRaw(order)
      const rows = await recovering(isInvalidShopId, query, () => [])
      const found = rows.filter(({ id }) => id !== null)
      return { keys: found.map(recordFromRow), count: Number(rows[0]?.count ?? 0) }
    },
    async revoke (shopId, id, by, at, onStored) {
      return knex.transaction(async trx => {
        const revocation = trx('api_keys').where({ id, shop_id: shopId }).whereNull('revoked_at')
          .update({ revoked_at: at, revoked_by: by }).returning<Array<Pick<Row, typeof RECORD[number]>>>([...RECORD])
        const revoked = await recovering(isInvalidShopId, revocation, () => null)
        if (revoked === null) return false
        if (revoked[0] === undefined) return await trx('api_keys').where({ id, shop_id: shopId }).first('id') !== undefined
        await onStored?.(recordFromRow(revoked[0]), trx)
        return true
      })
    },
    async rehash (id, previous, { fingerprint, pepperId, hash }) {
      await knex('api_keys').where({ id, hash: previous }).update({ fingerprint, pepper_id: pepperId, hash })
    },
    async touch (ids, at, unlessAfter) {
      await knex('api_keys').whereIn('id', ids).whereNull('revoked_at')
        .where(stale => stale.whereNull('last_used_at').orWhere('last_used_at', '<', unlessAfter))
        .update({ last_used_at: at })
    }
  }
}

/** Restricts the query to keys that match the whole filter. */
function applyFilter (query: Knex.QueryBuilder, { q, revoked, scopes, ...fields }: KeyFilter): void {
  for (const [field, values] of Object.entries(fields)) {
    const present = values.filter(value => value !== null)
    // Responses have milliseconds, the columns may have microseconds.
    const column = query.client.raw(field.endsWith('_at') ? "date_trunc('milliseconds', ??)" : '??', [field])
    query.where(any => {
      any.whereIn(column, present)
      if (present.length < values.length) any.orWhereNull(field)
    })
  }
  if (scopes !== undefined) query.whereRaw('scopes && ?::text[]', [[...scopes]])
  if (revoked !== undefined) query.whereRaw(`revoked_at is ${revoked ? 'not ' : ''}null`)
  if (q !== undefined) query.whereRaw("(name ilike :part escape '!' or prefix ilike :part escape '!')", { part: `%${q.replace(/[!%_]/g, '!$&')}%` })
}

/** The id always comes last, so that pages never overlap. `sort.field` is always the name of a column. */
function orderFromSort (sort: KeyQuery['sort']): string {
  if (sort === null) return 'revoked_at is not null, created_at desc, id desc'
  const direction = sort.descending ? 'desc' : 'asc'
  return `${sort.field} ${direction} nulls last, id ${direction}`
}

/**
 * Creates the table `api_keys` and its indexes if they are missing. Call it at startup or in a migration; several
 * replicas may call it at once. Rows are never deleted: a revoked key stays for the record.
 */
export async function createApiKeysTable (knex: Knex): Promise<void> {
  await knex.transaction(async trx => {
    // Two simultaneous `create table if not exists` fail on the catalog's unique index.
    await trx.raw("select pg_advisory_xact_lock(hashtextextended('api_keys table', 0))")
    await trx.raw(`
      create table if not exists api_keys (
        id uuid primary key,
        shop_id text not null,
        name text not null,
        prefix text not null unique,
        scopes text[] not null default '{}',
        fingerprint bytea not null unique check (octet_length(fingerprint) = 32),
        pepper_id text not null,
        hash bytea not null,
        created_at timestamptz not null,
        created_by text not null,
        last_used_at timestamptz,
        expires_at timestamptz,
        revoked_at timestamptz,
        revoked_by text
      )`)
    await trx.raw('create index if not exists api_keys_shop_id_created_at_index on api_keys (shop_id, created_at)')
  })
}

// Dates and bytes pass through constructors because hosts may set other type parsers for their pool.
function recordFromRow (row: Pick<Row, typeof RECORD[number]>): ApiKeyRecord {
  requireColumns(row, RECORD)
  return {
    id: row.id,
    shopId: row.shop_id,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    createdAt: new Date(row.created_at),
    lastUsedAt: dateOrNull(row.last_used_at),
    expiresAt: dateOrNull(row.expires_at),
    revokedAt: dateOrNull(row.revoked_at)
  }
}

function storedFromRow (row: Pick<Row, typeof STORED[number]>): StoredApiKey {
  requireColumns(row, STORED)
  return {
    id: row.id,
    shopId: row.shop_id,
    scopes: row.scopes,
    fingerprint: Buffer.from(row.fingerprint),
    pepperId: row.pepper_id,
    hash: Buffer.from(row.hash),
    expiresAt: dateOrNull(row.expires_at),
    revokedAt: dateOrNull(row.revoked_at)
  }
}

/** A key with a missing column would pass for a revoked one, or for one that never expires. */
function requireColumns (row: object, columns: readonly string[]): void {
  for (const column of columns) {
    if ((row as Readonly<Record<string, unknown>>)[column] === undefined) {
      throw new Error(`a row of api_keys has no column ${column}: pass knexStore a knex whose postProcessResponse and wrapIdentifier do not rename columns`)
    }
  }
}

function dateOrNull (value: Date | null): Date | null {
  return value === null ? null : new Date(value)
}
