import type { Knex } from 'knex'
import type { Counts } from './counts.ts'
import { type namedStatements, textOf } from '../database/named-statement.ts'
import { cursorFromPlace, MAX_CURSOR, type Place, placeFromCursor, wrongCursor } from './cursor.ts'
import { narrow } from './filters.ts'
import { cursorScope, type ListQuery, type ListRules, type Page } from './list.ts'
import { FAR, idAnd, idsAfter, idsFrom, LITERAL, type Order, orderFromSort } from './page-ids.ts'

/** Maximum size of a page, in bytes of JSON: it is in memory several times, and other callers wait while it is serialized. */
export const MAX_PAGE_BYTES = 262_144

/** The limits with which a page without a filter and a `skip` has a name: the plan depends on the limit. */
const NAMED_LIMITS = [10, 25, 50, 100, 200]

/** The properties of a list. */
interface Source extends Pick<ListRules, 'filters' | 'nullable'> {
  /** Whether each row has its size in `bytes`: a page then ends before it exceeds 256 KiB, but has at least one row. */
  readonly sized?: boolean
  /** Counts the rows, which are all of this shop. Default: the rows are read. */
  readonly counted?: { readonly by: Counts, readonly shopId: string }
  /** Runs statements by their names. Default: they have none. */
  readonly named?: ReturnType<typeof namedStatements<Found>>
  /**
   * Reads rows by their ids, in any order, each with its `xmin`, by a statement that is planned once. Only for one table whose
   * rows have their size in `bytes`, and change with all that is read of them. Default: they are read together with the ids.
   */
  readonly byIds?: (ids: readonly string[], on: Knex) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>
}

/**
 * Reads a page: first the ids of its rows, which an index in the order of the list can have, then the rows. That is one
 * statement, or two near the start of a list with a filter: PostgreSQL plans a statement with a filter each time, and the part that reads the
 * rows takes longer to plan than to run. Either way a page is as one moment had it.
 *
 * @param all - the rows that the caller may see; they have an `id`
 * @param fields - what to read of each row, in SQL over `item`
 * @returns the requested page
 * @throws {@link SHOP_INVALID} about `after`
 */
export async function pageOf<Row> (
  knex: Knex, all: Knex.QueryBuilder, { filters, nullable, sized = false, counted, named, byIds }: Source, query: ListQuery, fields: ReadonlyArray<string | Knex.Raw> = ['item.*']
): Promise<Page<Row>> {
  const { skip, limit, filter, after } = query
  const narrowing = filter !== undefined && Object.keys(filter).length > 0 ? filter : undefined
  const scope = cursorScope(query)
  const place = after === undefined ? undefined : placeFromCursor(scope, after)
  const order = orderFromSort(query.sort, nullable)
  const [{ column }] = order

  const matching = all.clone()
  narrow(matching, filters, narrowing)
  const isApart = byIds !== undefined && narrowing !== undefined && skip < FAR
  // Of the rows that are found: what they are sorted by, and what tells whether their rows fit and are still the same.
  const columns = isApart ? [...idAnd(column), 'xmin', 'bytes'] : idAnd(column)
  const kept = isApart ? columns : ['id']
  const isFew = counted !== undefined && narrowing !== undefined && Object.keys(narrowing).some((name) => filters[name]!.isGuessed) && areFew(counted, narrowing, skip + limit)
  const few = isFew ? knex.withMaterialized('matching', matching.clone().select(columns)) : knex.queryBuilder()
  const found: Knex.QueryBuilder = isFew ? knex.from('matching') : matching
  const counting = (counted && countWithoutReading(knex, filters, narrowing, counted.shopId)) ?? found.clone().count({ matching_count: '*' })
  const total = counted?.by.query(counted.shopId, narrowing, counting) ?? counting

  // One more than the page has: it says that there is a next page.
  const ids = place === undefined
    ? idsFrom(knex, found, order, skip, limit + 1, narrowing === undefined, kept)
    : idsAfter(knex, found, order, place, limit + 1, kept)
  const rows = all.clone().whereIn('id', knex.select('id').from(knex.select('id').from('page').limit(limit, LITERAL).as('shown')))
  const item = isApart ? knex.select('*').from('page') : sized ? fitting(knex, rows, order) : rows.select('*')
  const statement = few.with('total', total as Knex.QueryBuilder).withMaterialized('page', ids)
    .select([...isApart ? ['item.xmin', 'item.bytes'] : fields, 'item.id as found_id', knex.raw(`left(item.??::text, ${MAX_CURSOR}) as found_value`, [column]), 'total.*', knex.raw('(select count(*) from page) as found_count')])
    .from('total').leftJoin(item.as('item') as never, knex.raw('true')).orderBy(order.map((term) => ({ ...term, column: `item.${term.column}` })))
  const isNamed = narrowing === undefined && skip === 0 && NAMED_LIMITS.includes(limit)

  let read: readonly Found[] = await answered<readonly Found[]>(place, named && isNamed ? named(...textOf(statement)) : statement)
  let shown: readonly Found[] | undefined = read.filter(isFound)
  if (isApart) {
    shown = await withRows(shown, limit, async (ids) => await byIds(ids, knex))
    // Somebody has changed one of them meanwhile.
    shown ??= await knex.transaction(async (trx) => {
      read = await statement.clone().transacting(trx)
      return await withRows(read.filter(isFound), limit, async (ids) => await byIds(ids, trx))
    }, SNAPSHOT)
    if (shown === undefined) throw new RangeError('a page changed within one snapshot')
  }

  const [{ matching_count: count, matching_state: state, matching_of: length, found_count: seen }] = read as [Found]
  if (counted !== undefined) counted.by.remember(counted.shopId, narrowing, { state: state!, count: Number(count), length: Number(length) })
  const { found_id: id, found_value: value } = shown.at(-1) ?? {}
  const start = place?.position ?? skip
  const next = id !== undefined && seen > shown.length ? cursorFromPlace(scope, { value: value!, id: id!, position: start + shown.length }) : undefined
  return {
    rows: shown.map(({ found_id: _, found_value: __, found_count: ___, matching_count: ____, matching_state: _____, matching_of: ______, xmin: _______, ...row }) => row as Row),
    start,
    count,
    ...next !== undefined && { next }
  }
}

/** A row with its place in the list, or the only one of an empty page. */
export interface Found {
  readonly found_id: string | null
  readonly found_value: string | null
  /** How many are on the page and, if there is one, the first behind it. */
  readonly found_count: number
  readonly matching_count: number
  readonly matching_state?: string
  readonly matching_of?: number
  readonly xmin?: string
  readonly bytes?: number
}

function isFound ({ found_id: id }: Found): boolean {
  return id !== null
}

/** What several statements read is then as one moment had it. */
const SNAPSHOT = { isolationLevel: 'repeatable read', readOnly: true } as const

/** The rows of places, as many as fit into a page; undefined if one is another by now. */
async function withRows (places: readonly Found[], limit: number, byIds: (ids: readonly string[]) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>): Promise<readonly Found[] | undefined> {
  let size = 0
  const shown = places.slice(0, limit).filter(({ bytes }, n) => (size += bytes!) <= MAX_PAGE_BYTES || n === 0)
  if (shown.length === 0) return []
  const rows = new Map((await byIds(shown.map(({ found_id: id }) => id!))).map((row) => [row['id'], row]))
  return shown.every(({ found_id: id, xmin }) => rows.get(id)?.['xmin'] === xmin) ? shown.map((place) => ({ ...rows.get(place.found_id), ...place })) : undefined
}

/**
 * Whether reading all matches and sorting them is faster than to look for the first ones in the order of the list, as far
 * as is known from the last time. In that order there is a match in every so many rows; a match costs twice as much as a row.
 */
function areFew ({ by, shopId }: NonNullable<Source['counted']>, narrowing: object, wanted: number): boolean {
  const { count, length } = by.last(shopId, narrowing) ?? { count: Infinity, length: 0 }
  return 2 * count <= wanted * length / count
}

/** The count of the matches of a filter of one field, if that field can be counted so. */
function countWithoutReading (knex: Knex, filters: ListRules['filters'], narrowing: ListQuery['filter'], shopId: string): Knex.QueryBuilder | undefined {
  const [[name, value] = ['', undefined], ...others] = Object.entries(narrowing ?? {})
  const { count } = filters[name] ?? {}
  if (count === undefined || others.length > 0) return undefined
  const query = knex.queryBuilder()
  count(query, shopId, value as never)
  return query
}

/** The rows of a page that fit into one, at least the first. Uses their stored sizes, without reading their contents. */
function fitting (knex: Knex, rows: Knex.QueryBuilder, order: Order): Knex.QueryBuilder {
  const terms = order.map(({ order: direction, nulls }) => `?? ${direction}${nulls === undefined ? '' : ` nulls ${nulls}`}`)
  const running = knex.raw(`sum(bytes) over (order by ${terms.join(', ')}) as bytes_so_far`, order.map(({ column }) => column))
  const measured = rows.select('*', running)
  return knex.select('*').from(measured.as('measured')).where('bytes_so_far', '<=', MAX_PAGE_BYTES).orWhere('bytes_so_far', knex.ref('bytes'))
}

/** A cursor that somebody has made up can have a value that its field cannot have. */
async function answered<Answer> (place: Place | undefined, query: PromiseLike<Answer>): Promise<Answer> {
  try {
    return await query
  } catch (error) {
    const isData = /^22/.test((error as { code?: string }).code ?? '')
    throw place !== undefined && isData ? wrongCursor() : error
  }
}
