import type { Knex } from 'knex'
import { recordFromNewKey, type ApiKeyStore, type KeyFilter, type KeyQuery, type KeyStatus, type NewApiKey, type StoredApiKey } from './store.ts'
import { createLookup, type KnexStoreOptions } from './lookup.ts'
import { isInvalidShopId, isMissingShop, isSchemaError, recovering, throwShopUnknown } from './postgres-errors.ts'
import { DUAL_AUTH_KEY_INACTIVE } from '../errors.ts'
import { dateOrNull, recordFromRow, RECORD, requireColumns, type RecordRow } from './record-row.ts'
import { tableNames, type TableNames } from './names.ts'
import { COLUMNS, throwUnreadable } from './table.ts'
import { createUses } from './knex-uses.ts'

export { createApiKeysTable } from './table.ts'

export type { KnexStoreOptions, ShopColumns } from './lookup.ts'
export type { TableOptions } from './names.ts'

const STORED = ['id', 'shop_id', 'scopes', 'fingerprint', 'pepper_id', 'hash', 'expires_at', 'revoked_at'] as const

interface Row extends RecordRow {
  fingerprint: Uint8Array
  pepper_id: string
  hash: Uint8Array
}

/**
 * One lock for each shop, however its id is spelled: a UUID has several spellings. The lock is on the id as the column
 * stores it, because hosts may change the column's type.
 */
const lockShop = ({ quotedTable, quotedShop, shopColumn }: TableNames) => `select pg_advisory_xact_lock(hashtextextended('api_keys ' ||
  (jsonb_populate_record(null::${quotedTable}, jsonb_build_object('${shopColumn}', ?::text))).${quotedShop}, 0))`

/** Of the line of successors that begins with a key, the last one that works, or else the last one. */
const lastSuccessor = ({ quotedTable, columns }: TableNames) => `with recursive line as (
    select *, 1 as place from ${quotedTable} where id = ?
    union all select next.*, place + 1 from line join ${quotedTable} as next on next.id = line.replaced_by
  ) select ${columns(RECORD).join(', ')} from line order by ${STATUS} = 'active' desc, place desc limit 1`

/**
 * Stores keys in the table `api_keys` of a PostgreSQL database, or in one of another name. If you read from replicas, pass a knex that reads the
 * primary: a revoked key keeps working for as long as a replica lags.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 * @see {@link createApiKeysTable}
 */
export function knexStore (knex: Knex, options: KnexStoreOptions = {}): ApiKeyStore {
  const { table, shopColumn, ...names } = tableNames(options)
  const LOCK_SHOP = lockShop({ table, shopColumn, ...names })
  const RETURNED = names.columns(RECORD)
  const LAST_SUCCESSOR = lastSuccessor({ table, shopColumn, ...names })
  const uses = createUses(knex, { table, shopColumn, ...names })
  const isMissing = isMissingShop(shopColumn)
  const lookup = createLookup<Pick<Row, typeof STORED[number]>>(knex, STORED, options)
  return {
    async ready () {
      await recovering<unknown>(isSchemaError, knex(table).select(names.columns(COLUMNS)).limit(0), async () => throwUnreadable(knex, options))
      await lookup.check()
    },
    async find (fingerprints) {
      const found = await lookup.find(fingerprints)
      return found && { ...storedFromRow(found.row), ...(found.shop !== undefined && { shop: found.shop }) }
    },
    async insert (key, limit, onStored) {
      const { shopId, createdAt } = key
      return knex.transaction(async trx => {
        // Count and insert in one step, or two simultaneous requests both find room for the last key.
        await recovering(isInvalidShopId, trx.raw(LOCK_SHOP, [shopId]), throwShopUnknown)
        const working = await trx(table).select('replaced_by').where(shopColumn, shopId).modify(onlyWorking, createdAt)
        if (working.length >= 2 * limit || working.filter(({ replaced_by: successor }: Pick<Row, 'replaced_by'>) => successor === null).length >= limit) return false
        await recovering(isMissing, trx(table).insert(rowFromNewKey(key, shopColumn)), throwShopUnknown)
        await onStored?.(recordFromNewKey(key), trx)
        return true
      })
    },
    async list (shopId, { at, skip, limit, filter, sort }) {
      const ofShop = knex<Row>(table).where(shopColumn, shopId)
      const matching = ofShop.clone().modify(applyFilter, filter, at)
      const order = orderFromSort(sort, at)
      const count = (status: string) => knex.raw(`count(*) filter (where ${STATUS} = '${status}') as ${status}`, [at])
      // One statement: a key could be created between two. An empty page is a row of nulls.
      const query = knex.from(matching.clone().select(RETURNED).orderByRaw(...order).offset(skip).limit(limit).as('page'))
        .rightJoin(matching.clone().count('* as count').as('every'), knex.raw('true'))
        .rightJoin(ofShop.clone().select(count('active'), count('expired'), count('revoked')).as('statuses'), knex.raw('true'))
        .select<Array<RecordRow & Readonly<Record<'count' | KeyStatus, number | string>>>>('page.*', 'every.count', 'statuses.*').orderByRaw(...order)
      const rows = await recovering(isInvalidShopId, query, () => [])
      const found = rows.filter(({ id }) => id !== null)
      const number = (name: 'count' | KeyStatus) => Number(rows[0]?.[name] ?? 0)
      return { keys: found.map(recordFromRow), count: number('count'), counts: { active: number('active'), expired: number('expired'), revoked: number('revoked') } }
    },
    async revoke (shopId, id, by, at, onStored) {
      return knex.transaction(async trx => {
        const revocation = trx(table).where({ id, [shopColumn]: shopId }).whereNull('revoked_at')
          .update({ revoked_at: at, revoked_by: by }).returning<RecordRow[]>(RETURNED)
        const revoked = await recovering(isInvalidShopId, revocation, () => null)
        if (revoked === null) return false
        if (revoked[0] === undefined) return await trx(table).where({ id, [shopColumn]: shopId }).first('id') !== undefined
        await onStored?.(recordFromRow(revoked[0]), trx)
        return true
      })
    },
    async rotate (shopId, id, at, plan, onRotated) {
      return knex.transaction(async trx => {
        if (await recovering(isInvalidShopId, trx.raw(LOCK_SHOP, [shopId]), () => null) === null) return null
        const row = await trx(table).where({ id, [shopColumn]: shopId }).first<(RecordRow & { networks: string[] }) | undefined>([...RETURNED, 'networks'])
        if (row === undefined) return null
        const { rows: [successor] } = await trx.raw<{ rows: RecordRow[] }>(LAST_SUCCESSOR, [row.replaced_by, at])
        const [counted] = await trx(table).where(shopColumn, shopId).modify(onlyWorking, at).count('* as working')
        const { successor: next, expiresAt, revokedAt } = plan({
          key: recordFromRow(row), successor: successor === undefined ? null : recordFromRow(successor), working: Number(counted?.working)
        })
        // Lock this first: a foreign key locks the row of the shop, and a transaction that deletes the shop locks the shop before its keys.
        await recovering(isMissing, trx(table).insert({ ...rowFromNewKey(next, shopColumn), replaces: id, networks: row.networks }), throwShopUnknown)
        const [replaced] = await trx(table).where({ id }).whereNull('revoked_at')
          .update({ replaced_by: next.id, expires_at: expiresAt, revoked_at: revokedAt, ...(revokedAt !== null && { revoked_by: next.createdBy }) }).returning<RecordRow[]>(RETURNED)
        // The lock of the shop keeps other rotations away, but no revocation.
        if (replaced === undefined) throw new DUAL_AUTH_KEY_INACTIVE('revoked')
        const rotated = { key: recordFromNewKey(next, id), replaced: recordFromRow(replaced) }
        await onRotated?.(rotated, trx)
        return rotated
      })
    },
    async rehash (id, previous, { fingerprint, pepperId, hash }) {
      await knex(table).where({ id, hash: previous }).update({ fingerprint, pepper_id: pepperId, hash })
    },
    async touch (used, at, unlessAfter) {
      return uses.touch(used, at, unlessAfter)
    },
    async takeNotices (at, limit) {
      return uses.takeNotices(at, limit)
    }
  }
}

/** The status of a key at a moment, which is the one binding. */
const STATUS = "case when revoked_at is not null then 'revoked' when expires_at <= ? then 'expired' else 'active' end"

function onlyWorking (query: Knex.QueryBuilder, at: Date): void {
  // The first says nothing that the second does not; it is what the index on keys that are not revoked can be used by.
  query.whereNull('revoked_at').whereRaw(`${STATUS} = 'active'`, [at])
}

/** Restricts the query to keys that match the whole filter. */
function applyFilter (query: Knex.QueryBuilder, { q, revoked, status, scopes, ...fields }: KeyFilter, at: Date): void {
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
  if (status !== undefined) query.whereRaw(`${STATUS} = ?`, [at, status])
  if (q !== undefined) query.whereRaw("(name ilike :part escape '!' or prefix ilike :part escape '!')", { part: `%${q.replace(/[!%_]/g, '!$&')}%` })
}

/** The id always comes last, so that pages never overlap. `sort.field` is always the name of a column. */
function orderFromSort (sort: KeyQuery['sort'], at: Date): [sql: string, bindings: readonly Date[]] {
  if (sort === null) return [`${STATUS} <> 'active', created_at desc, id desc`, [at]]
  const direction = sort.descending ? 'desc' : 'asc'
  return [`${sort.field} ${direction} nulls last, id ${direction}`, []]
}

function rowFromNewKey ({ id, shopId, name, prefix, scopes, fingerprint, pepperId, hash, createdAt, createdBy, expiresAt }: NewApiKey, shopColumn: string): object {
  return {
    id,
    [shopColumn]: shopId,
    name,
    prefix,
    scopes: [...scopes],
    fingerprint,
    pepper_id: pepperId,
    hash,
    created_at: createdAt,
    created_by: createdBy,
    expires_at: expiresAt
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
