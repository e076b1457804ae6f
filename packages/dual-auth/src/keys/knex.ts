import type { Knex } from 'knex'
import {
  recordFromNewKey,
  type ApiKeyStore,
  type KeyFilter,
  type KeyQuery,
  type KeyStatus,
  type NewApiKey,
  type StoredApiKey
} from './store.ts'
import { inLowerCase, spellingsOf } from './key-name.ts'
import { createLookup, ownerColumns, type KnexStoreOptions } from './lookup.ts'
import { knexTable } from './knex-table.ts'
import { tableStore } from './key-table.ts'
import { isInvalidOwnerId, isMissingOwner, isSchemaError, recovering, throwOwnerUnknown } from './postgres-errors.ts'
import { DUAL_AUTH_KEY_INACTIVE } from '../errors.ts'
import { must, noOthers } from '../option-checks.ts'
import {
  bytes,
  demandReadable,
  instantOrNull,
  integer,
  recordFromRow,
  RECORD,
  rowsOf,
  selected,
  strings,
  text,
  textOrNull,
  type Row
} from './record-row.ts'
import { dialectOf, tableNames, type TableNames } from './names.ts'
import { COLUMNS, throwUnreadable } from './table.ts'
import { createUses } from './knex-uses.ts'
import { committed } from './transaction.ts'

export { createApiKeysTable } from './table.ts'

export type { KnexStoreOptions, OwnerColumns } from './lookup.ts'
export type { TableOptions } from './names.ts'

const STORED = [
  'id',
  'owner_id',
  'scopes',
  'created_by',
  'fingerprint',
  'pepper_id',
  'hash',
  'expires_at',
  'revoked_at'
] as const

/**
 * One lock for each owner, however its id is spelled: a UUID has several spellings. The lock is on the id as the column
 * stores it, because hosts may change the column's type.
 */
const lockOwner = ({ quotedTable, quotedOwner, ownerColumn }: TableNames) =>
  `select pg_advisory_xact_lock(hashtextextended('api_keys ' ||
  (jsonb_populate_record(null::${quotedTable}, jsonb_build_object('${ownerColumn}', ?::text))).${quotedOwner}, 0))`

/** Of the line of successors that begins with a key, the last one that works, or else the last one. */
const lastSuccessor = ({ quotedTable, ...names }: TableNames) =>
  `with recursive line as (
    select *, 1 as place from ${quotedTable} where id = ?
    union all select next.*, place + 1 from line join ${quotedTable} as next on next.id = line.replaced_by
  ) select ${selected(names, RECORD, 'line')} from line order by ${STATUS} = 'active' desc, place desc limit 1`

/**
 * Stores keys in the table `api_keys` of PostgreSQL, MySQL, MariaDB or SQLite, or in one of another name. If you read
 * from replicas, pass a knex that reads the primary: a revoked key keeps working for as long as a replica lags.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 * @see {@link createApiKeysTable}
 */
export function knexStore (knex: Knex, options: KnexStoreOptions = {}): ApiKeyStore {
  const dialect = dialectOf(knex)
  if (dialect !== 'postgresql') {
    const { owner, namedStatements, table, ownerColumn, ...rest } = options
    noOthers('knexStore.', rest)
    must(namedStatements === undefined, 'knexStore.namedStatements is for PostgreSQL')
    return tableStore(knexTable(knex, dialect, options, owner === undefined ? undefined : ownerColumns(owner)))
  }
  const { table, ownerColumn, ...names } = tableNames(options)
  const LOCK_OWNER = lockOwner({ table, ownerColumn, ...names })
  const returned = knex.raw(selected({ ownerColumn }, RECORD, 'api_keys'))
  /** Statements name its columns `api_keys.…`. */
  const keys = `${table} as api_keys`
  const LAST_SUCCESSOR = lastSuccessor({ table, ownerColumn, ...names })
  const uses = createUses(knex, { table, ownerColumn, ...names })
  const isMissing = isMissingOwner(ownerColumn)
  /** The keys of an owner that work, and those of them that no other replaces. */
  async function countWorking (
    trx: Knex.Transaction,
    ownerId: string,
    at: Date
  ): Promise<Record<'working' | 'latest', number>> {
    const row = await trx(table).where(ownerColumn, ownerId).modify(onlyWorking, at)
      .first<Row>(
        trx.raw('count(*)::text as working'),
        trx.raw('count(*) filter (where replaced_by is null)::text as latest')
      )
    return { working: integer(row, 'working'), latest: integer(row, 'latest') }
  }

  const lookup = createLookup(knex, STORED, options)
  return {
    async ready () {
      await demandReadable(knex)
      await recovering<unknown>(
        isSchemaError,
        knex(table).select(names.columns(COLUMNS)).limit(0),
        async () => throwUnreadable(knex, options)
      )
      await lookup.check()
    },
    async find (fingerprints) {
      const found = await lookup.find(fingerprints)
      return found && { ...storedFromRow(found.row), ...(found.owner !== undefined && { owner: found.owner }) }
    },
    async insert (key, limit, onStored) {
      const { ownerId, createdAt } = key
      return committed(knex, async (trx) => {
        // Count and insert in one step, or two simultaneous requests both find room for the last key.
        await recovering(isInvalidOwnerId, trx.raw(LOCK_OWNER, [ownerId]), throwOwnerUnknown)
        const { working, latest } = await countWorking(trx, ownerId, createdAt)
        if (working >= 2 * limit || latest >= limit) return false
        await recovering(isMissing, trx(table).insert(rowFromNewKey(key, ownerColumn)), throwOwnerUnknown)
        await onStored?.(recordFromNewKey(key), trx)
        return true
      })
    },
    async list (ownerId, { at, skip, limit, filter, sort }) {
      const ofOwner = knex(table).where(ownerColumn, ownerId)
      const matching = ofOwner.clone().modify(applyFilter, filter, at)
      const count = (status: string) =>
        knex.raw(`(count(*) filter (where ${STATUS} = '${status}'))::text as ${status}`, [at])
      // One statement: a key could be created between two. An empty page is a row of nulls.
      const query = knex.from(
        matching.clone().select([...RECORD.filter((column) => column !== 'owner_id'), ownerColumn]).orderByRaw(
          ...orderFromSort(sort, at)
        ).offset(skip).limit(limit).as('page')
      )
        .rightJoin(matching.clone().select(knex.raw('count(*)::text as count')).as('every'), knex.raw('true'))
        .rightJoin(
          ofOwner.clone().select(count('active'), count('expired'), count('revoked')).as('statuses'),
          knex.raw('true')
        )
        .select<Row[]>(knex.raw(selected({ ownerColumn }, RECORD, 'page')), 'every.count', 'statuses.*').orderByRaw(
          ...orderFromSort(sort, at, 'page.')
        )
      const rows = await recovering(isInvalidOwnerId, query, () => NO_ROWS)
      const number = (name: 'count' | KeyStatus) => integer(rows[0], name)
      return {
        keys: rows.filter((row) => textOrNull(row, 'id') !== null).map((row) => recordFromRow(row)),
        count: number('count'),
        counts: { active: number('active'), expired: number('expired'), revoked: number('revoked') }
      }
    },
    async revoke (ownerId, id, by, at, onStored) {
      return committed(knex, async (trx) => {
        const revocation = trx(keys).where({ id, [ownerColumn]: ownerId }).whereNull('revoked_at')
          .update({ revoked_at: at, revoked_by: by }).returning<Row[]>(returned)
        const revoked = await recovering(isInvalidOwnerId, revocation, () => null)
        if (revoked === null) return false
        if (revoked[0] === undefined) {
          return await trx(table).where({ id, [ownerColumn]: ownerId }).first('id') !== undefined
        }
        await onStored?.(recordFromRow(revoked[0]), trx)
        return true
      })
    },
    async rotate (ownerId, id, at, plan, onRotated) {
      return committed(knex, async (trx) => {
        if (await recovering(isInvalidOwnerId, trx.raw(LOCK_OWNER, [ownerId]), () => null) === null) return null
        const row = await trx(keys).where({ id, [ownerColumn]: ownerId }).first<Row | undefined>(
          trx.raw(selected({ ownerColumn }, [...RECORD, 'networks'], 'api_keys'))
        )
        if (row === undefined) return null
        const key = recordFromRow(row)
        const [successor] = rowsOf(await trx.raw(LAST_SUCCESSOR, [key.replacedBy, at]))
        const { working } = await countWorking(trx, ownerId, at)
        const { successor: next, expiresAt, revokedAt } = plan({
          key,
          successor: successor === undefined ? null : recordFromRow(successor),
          working
        })
        // Lock this first: a foreign key locks the row of the owner, and a transaction that deletes the owner locks the
        // owner before its keys.
        await recovering(
          isMissing,
          trx(table).insert({
            ...rowFromNewKey(next, ownerColumn),
            replaces: id,
            networks: [...strings(row, 'networks')]
          }),
          throwOwnerUnknown
        )
        const [replaced] = await trx(keys).where({ id }).whereNull('revoked_at')
          .update({
            replaced_by: next.id,
            expires_at: expiresAt,
            revoked_at: revokedAt,
            ...(revokedAt !== null && { revoked_by: next.createdBy })
          }).returning<Row[]>(returned)
        // The lock of the owner keeps other rotations away, but no revocation.
        if (replaced === undefined) throw new DUAL_AUTH_KEY_INACTIVE('revoked')
        const rotated = { key: recordFromNewKey(next, id), replaced: recordFromRow(replaced) }
        await onRotated?.(rotated, trx)
        return rotated
      })
    },
    async rehash (id, previous, { fingerprint, pepperId, hash }) {
      await committed(
        knex,
        async (trx) => trx(table).where({ id, hash: previous }).update({ fingerprint, pepper_id: pepperId, hash })
      )
    },
    async touch (used, at, unlessAfter) {
      return uses.touch(used, at, unlessAfter)
    },
    async takeNotices (at, limit) {
      return uses.takeNotices(at, limit)
    }
  }
}

/** The page of an owner that no key can have. */
const NO_ROWS: Row[] = [{ id: null, count: '0', active: '0', expired: '0', revoked: '0' }]

/** The status of a key at a moment, which is the one binding. */
const STATUS = "case when revoked_at is not null then 'revoked' when expires_at <= ? then 'expired' else 'active' end"

/** The moment since which a key is refused; the one binding is `at`. `least` passes over null. */
function refusedSince (source: string): string {
  return `least(${source}revoked_at, case when ${source}expires_at <= ? then ${source}expires_at end)`
}

function onlyWorking (query: Knex.QueryBuilder, at: Date): void {
  // The first says nothing that the second does not; it is what the index on keys that are not revoked can be used by.
  query.whereNull('revoked_at').whereRaw(`${STATUS} = 'active'`, [at])
}

/** Restricts the query to keys that match the whole filter. */
function applyFilter (query: Knex.QueryBuilder, { q, revoked, status, scopes, ...fields }: KeyFilter, at: Date): void {
  for (const [field, values] of Object.entries(fields)) {
    const present = values.filter((value) => value !== null)
    const [sql, bindings] = field === 'revoked_at' ? [refusedSince(''), [at]] as const : ['??', [field]] as const
    // Responses have milliseconds, the columns may have microseconds.
    const column = query.client.raw(field.endsWith('_at') ? `date_trunc('milliseconds', ${sql})` : sql, bindings)
    query.where((any) => {
      any.whereIn(column, present)
      if (present.length < values.length) any.orWhereRaw(`${sql} is null`, bindings)
    })
  }
  if (scopes !== undefined) {
    query.whereRaw(`(scopes && ?::text[]${scopes.includes('all') ? " or scopes = '{}'" : ''})`, [[...scopes]])
  }
  if (revoked !== undefined) query.whereRaw(`revoked_at is ${revoked ? 'not ' : ''}null`)
  if (status !== undefined) query.whereRaw(`${STATUS} = ?`, [at, status])
  if (q !== undefined) {
    query.whereRaw('(name ~ :part or prefix ~ :part)', { part: spellingsOf(q).map(eitherCase).join('|') })
  }
}

/**
 * A regular expression that finds a text in upper and lower case, whatever the locale of the database is: where it is
 * C, `ilike` knows a to z alone.
 */
function eitherCase (text: string): string {
  return Array.from(text, (character) => {
    if (inLowerCase(character) === 'i') return '[iI\u0130\u0131]'
    const [other, ...more] = [character.toLowerCase(), character.toUpperCase()].filter((form) =>
      form !== character && [...form].length === 1
    )
    if (other !== undefined) return `[${[character, other, ...more].join('')}]`
    return /[!-/:-@[-`{-~]/.test(character) ? `\\${character}` : character
  }).join('')
}

/** The id always comes last, so that pages never overlap. `sort.field` is always the name of a column. */
function orderFromSort (sort: KeyQuery['sort'], at: Date, source = ''): [sql: string, bindings: readonly Date[]] {
  if (sort === null) return [`${STATUS} <> 'active', ${source}created_at desc, ${source}id desc`, [at]]
  const direction = sort.descending ? 'desc' : 'asc'
  const [column, bindings] = sort.field === 'revoked_at' ? [refusedSince(source), [at]] : [source + sort.field, []]
  return [`${column} ${direction} nulls last, ${source}id ${direction}`, bindings]
}

function rowFromNewKey (
  { id, ownerId, name, prefix, scopes, fingerprint, pepperId, hash, createdAt, createdBy, expiresAt }: NewApiKey,
  ownerColumn: string
): object {
  return {
    id,
    [ownerColumn]: ownerId,
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

function storedFromRow (row: Row): StoredApiKey {
  return {
    id: text(row, 'id'),
    ownerId: text(row, 'owner_id'),
    scopes: strings(row, 'scopes'),
    createdBy: text(row, 'created_by'),
    fingerprint: bytes(row, 'fingerprint'),
    pepperId: text(row, 'pepper_id'),
    hash: bytes(row, 'hash'),
    expiresAt: instantOrNull(row, 'expires_at'),
    revokedAt: instantOrNull(row, 'revoked_at')
  }
}
