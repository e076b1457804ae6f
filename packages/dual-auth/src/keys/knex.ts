import type { Knex } from 'knex'
import { recordFromNewKey, type ApiKeyRecord, type ApiKeyStore, type KeyFilter, type KeyQuery, type StoredApiKey } from './store.ts'
import { DUAL_AUTH_OPTION_INVALID } from '../errors.ts'
import { isNoShopId, isOfNoShop, shopUnknown, unless } from './postgres-errors.ts'

/** Never `*`: what a listing does not read it cannot leak. */
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
 * One lock for each shop, however its id is spelt, as a UUID may be in several ways: it is taken of the id as the column
 * writes it, whose type is the host's to change.
 */
const LOCK_SHOP = `select pg_advisory_xact_lock(hashtextextended('api_keys ' ||
  (jsonb_populate_record(null::api_keys, jsonb_build_object('shop_id', ?::text))).shop_id, 0))`

/**
 * Keys in the table `api_keys` of a PostgreSQL database. If you read from replicas, give it a knex that reads
 * the primary: a replica's lag is the time that a revoked key goes on working.
 *
 * @see {@link createApiKeysTable}
 */
export function knexStore (knex: Knex): ApiKeyStore {
  return {
    async ready () {
      const columns = [...new Set([...RECORD, ...STORED, 'created_by', 'revoked_by'])]
      await unless(isMistake, knex('api_keys').select(columns).limit(0), () => {
        throw new DUAL_AUTH_OPTION_INVALID('apiKeys.store: the table api_keys or one of its columns is missing or may not be read; createApiKeysTable(knex) makes it')
      })
    },
    async find (fingerprints) {
      const row = await knex<Row>('api_keys').select(...STORED).whereIn('fingerprint', fingerprints).first()
      return row === undefined ? null : storedFromRow(row)
    },
    async insert (key, limit, onStored) {
      const { id, shopId, name, prefix, scopes, fingerprint, pepperId, hash, createdAt, createdBy, expiresAt } = key
      return knex.transaction(async trx => {
        // Counting and inserting must be one step, or two requests at once both find room for the last key.
        await unless(isNoShopId, trx.raw(LOCK_SHOP, [shopId]), shopUnknown)
        const active = await trx('api_keys').select('id').where('shop_id', shopId).whereNull('revoked_at')
          .where(unexpired => unexpired.whereNull('expires_at').orWhere('expires_at', '>', createdAt)).limit(limit)
        if (active.length >= limit) return false
        await unless(isOfNoShop, trx('api_keys').insert({
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
        }), shopUnknown)
        await onStored?.(recordFromNewKey(key), trx)
        return true
      })
    },
    async list (shopId, { skip, limit, filter, sort }) {
      const ofShop = knex<Row>('api_keys').where('shop_id', shopId).modify(where, filter)
      const order = orderFromSort(sort)
      // One statement: between two of them a key could be made. It has a row of nulls where the page is empty.
      const query = knex.from(ofShop.clone().select(...RECORD).orderByRaw(order).offset(skip).limit(limit).as('page'))
        .rightJoin(ofShop.clone().count('* as count').as('every'), knex.raw('true'))
        .select<Array<Pick<Row, typeof RECORD[number]> & { count: number | string }>>('page.*', 'every.count').orderByRaw(order)
      const rows = await unless(isNoShopId, query, () => [])
      const found = rows.filter(({ id }) => id !== null)
      return { keys: found.map(recordFromRow), count: Number(rows[0]?.count ?? 0) }
    },
    async revoke (shopId, id, by, at, onStored) {
      return knex.transaction(async trx => {
        const revocation = trx('api_keys').where({ id, shop_id: shopId }).whereNull('revoked_at')
          .update({ revoked_at: at, revoked_by: by }).returning<Array<Pick<Row, typeof RECORD[number]>>>([...RECORD])
        const revoked = await unless(isNoShopId, revocation, () => null)
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

/** Leaves the keys that match all of the filter. */
function where (query: Knex.QueryBuilder, { q, revoked, scopes, ...fields }: KeyFilter): void {
  for (const [field, values] of Object.entries(fields)) {
    const present = values.filter(value => value !== null)
    // Answers have milliseconds, the columns may have microseconds.
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

/** The id is always last, so that pages never overlap. `sort` names a column, and nothing else. */
function orderFromSort (sort: KeyQuery['sort']): string {
  if (sort === null) return 'revoked_at is not null, created_at desc, id desc'
  const direction = sort.descending ? 'desc' : 'asc'
  return `${sort.field} ${direction} nulls last, id ${direction}`
}

/**
 * Creates the table `api_keys` and its indexes where they are missing. Call it at boot or in a migration;
 * any number of replicas may call it at once. Rows are never deleted: a revoked key stays for the record.
 */
export async function createApiKeysTable (knex: Knex): Promise<void> {
  await knex.transaction(async trx => {
    // Two `create table if not exists` at once fail on the catalogue's unique index.
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

/** SQLSTATE class 42, or 3F000: no such table, column or schema, or no right to read it. It will not pass by waiting. */
function isMistake ({ code }: { readonly code?: unknown }): boolean {
  return /^(42...|3F000)$/.test(String(code))
}

// Dates and bytes pass through constructors because a host may have set other type parsers for its pool.
function recordFromRow (row: Pick<Row, typeof RECORD[number]>): ApiKeyRecord {
  demandColumns(row, RECORD)
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
  demandColumns(row, STORED)
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

/** A column that is lost on the way would read as a key that was revoked, or as one that never ends. */
function demandColumns (row: object, columns: readonly string[]): void {
  for (const column of columns) {
    if ((row as Readonly<Record<string, unknown>>)[column] === undefined) {
      throw new Error(`a row of api_keys came without ${column}: give knexStore a knex whose postProcessResponse and wrapIdentifier leave the names of columns as they are`)
    }
  }
}

function dateOrNull (value: Date | null): Date | null {
  return value === null ? null : new Date(value)
}
