import type { Knex } from 'knex'
import { inLowerCase, spellingsOf } from './key-name.ts'
import { readRow, RECORD, recordFromRow } from './key-row.ts'
import { columnName, foundRow, textOf, type Row } from './knex-rows.ts'
import type { TableNames } from './names.ts'
import { selected } from './postgres-columns.ts'
import { isInvalidOwnerId, recovering } from './postgres-errors.ts'
import type { ApiKeyStore, KeyFilter, KeyQuery, KeyStatus } from './store.ts'

/**
 * The page of a list, in one statement. It says in SQL what `pageOf` says of keys in memory: of an owner with ten
 * thousand keys, reading them all takes ten times as long.
 */
export function createList (knex: Knex, { table, ownerColumn }: TableNames): ApiKeyStore['list'] {
  const columns = RECORD.map((column) => columnName(column, ownerColumn))
  return async (ownerId, { at, skip, limit, filter, sort }) => {
    const ofOwner = knex(table).where(ownerColumn, ownerId)
    const matching = ofOwner.clone().modify(applyFilter, filter, at)
    const count = (status: string) =>
      knex.raw(`(count(*) filter (where ${STATUS} = '${status}'))::text as ${status}`, [at])
    // One statement: a key could be created between two. An empty page is a row of nulls.
    const query = knex.from(
      matching.clone().select(columns).orderByRaw(...orderFromSort(sort, at)).offset(skip).limit(limit).as('page')
    )
      .rightJoin(matching.clone().select(knex.raw('count(*)::text as count')).as('every'), knex.raw('true'))
      .rightJoin(
        ofOwner.clone().select(count('active'), count('expired'), count('revoked')).as('statuses'),
        knex.raw('true')
      )
      .select<Row[]>(knex.raw(selected(RECORD, ownerColumn, 'page')), 'every.count', 'statuses.*').orderByRaw(
        ...orderFromSort(sort, at, 'page.')
      )
    const rows = await recovering(isInvalidOwnerId, query, () => NO_ROWS)
    const number = (name: 'count' | KeyStatus) => Number(textOf(rows[0], name))
    return {
      keys: rows.filter(({ id }) => id !== null).map((row) => recordFromRow(readRow(foundRow(row, RECORD), RECORD))),
      count: number('count'),
      counts: { active: number('active'), expired: number('expired'), revoked: number('revoked') }
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
