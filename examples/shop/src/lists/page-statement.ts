import type { Knex } from 'knex'
import { namedStatements, textOf } from '../database/named-statement.ts'
import type { Counts } from './counts.ts'
import { MAX_CURSOR, type Place } from './cursor.ts'
import { narrow } from './filters.ts'
import type { ListQuery, ListRules } from './list.ts'
import { FAR, idAnd, idsAfter, idsFrom, LITERAL, type Order, orderFromSort } from './page-ids.ts'

/**
 * Maximum size of a page, in bytes of JSON: it is in memory several times, and other callers wait while it is
 * serialized.
 */
export const MAX_PAGE_BYTES = 262_144

/** The limits with which a page without a `skip` has a name: the plan depends on the limit. */
const NAMED_LIMITS = [10, 25, 50, 100, 200]

/** In a shop of so many records every plan is fast: one that does not know the values of a filter, too. */
const EVERY_PLAN = 1000

/** The properties of a list. */
export interface Source extends Pick<ListRules, 'filters' | 'nullable'> {
  /** Whether each row has its size in `bytes`: a page then ends before it exceeds 256 KiB, but has at least one row. */
  readonly sized?: boolean
  /** Counts the rows, which are all of this shop. Default: the rows are read. */
  readonly counted?: { readonly by: Counts, readonly shopId: string }
  /** Whether the page has the state of the rows, which are counted. Default: false. */
  readonly isStated?: boolean
  /**
   * Runs the statements of pages by their names, see {@link namedPages}. Only with `counted`. Default: they have none.
   */
  readonly named?: NamedPages
  /**
   * Reads rows by their ids, in any order, each with its `xmin`, by a statement that is planned once. Only for one
   * table whose rows have their size in `bytes`, and change with all that is read of them. Default: they are read
   * together with the ids.
   */
  readonly byIds?: (ids: readonly string[], on: Knex) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>
}

/** What to read of each row, in SQL over `item`. */
export type Fields = ReadonlyArray<string | Knex.Raw>

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

/** The filter, if it has any condition. */
export function narrowingOf ({ filter }: ListQuery): ListQuery['filter'] {
  return filter !== undefined && Object.keys(filter).length > 0 ? filter : undefined
}

/** Whether a statement finds the rows of a page, and another one reads them. */
export function isReadApart ({ byIds }: Source, query: ListQuery): boolean {
  return byIds !== undefined && narrowingOf(query) !== undefined && query.skip < FAR
}

/** A page that somebody asks for. */
export interface Asked {
  readonly query: ListQuery
  /** After which the page begins. Default: after `skip` rows. */
  readonly place: Place | undefined
  readonly fields: Fields
}

/**
 * @param all - the rows that the caller may see
 * @returns the statement that reads a page, or finds the rows of one that is read apart
 */
export function pageStatement (
  knex: Knex,
  all: Knex.QueryBuilder,
  source: Source,
  { query, place, fields }: Asked
): Knex.QueryBuilder {
  const { filters, nullable, sized = false, counted, isStated } = source
  const { skip, limit } = query
  const narrowing = narrowingOf(query)
  const order = orderFromSort(query.sort, nullable)
  const [{ column }] = order

  const matching = all.clone()
  narrow(matching, filters, narrowing)
  const isApart = isReadApart(source, query)
  // Of the rows that are found: what they are sorted by, and what tells whether their rows fit and are still the same.
  const columns = isApart ? [...idAnd(column), 'xmin', 'bytes'] : idAnd(column)
  const kept = isApart ? columns : ['id']
  const isFew = counted !== undefined && narrowing !== undefined &&
    Object.keys(narrowing).some((name) => filters[name]!.isGuessed) && areFew(counted, narrowing, skip + limit)
  const few = isFew ? knex.withMaterialized('matching', matching.clone().select(columns)) : knex.queryBuilder()
  const found: Knex.QueryBuilder = isFew ? knex.from('matching') : matching
  const hasAll = isStated !== true && holdsAll(query)
  if (!hasAll) {
    const counting = (counted && countWithoutReading(knex, filters, narrowing, counted.shopId)) ??
      found.clone().count({ matching_count: '*' })
    few.with(
      'total',
      (counted?.by.query(counted.shopId, narrowing, counting, isStated) ?? counting) as Knex.QueryBuilder
    )
  }

  // One more than the page has: it says that there is a next page.
  const sought = { knex, matching: found, order, limit: limit + 1, columns: kept }
  const ids = place === undefined ? idsFrom(sought, skip, narrowing === undefined) : idsAfter(sought, place)
  const rows = all.clone().whereIn(
    'id',
    knex.select('id').from(knex.select('id').from('page').limit(limit, LITERAL).as('shown'))
  )
  const whole = sized ? fitting(knex, rows, order) : rows.select('*')
  const item = isApart ? knex.select('*').from('page') : whole
  return few.withMaterialized('page', ids)
    .select([
      ...isApart ? ['item.xmin', 'item.bytes'] : fields,
      'item.id as found_id',
      knex.raw(`left(item.??::text, ${MAX_CURSOR}) as found_value`, [column]),
      'total.*',
      knex.raw('(select count(*) from page) as found_count')
    ])
    .from(hasAll ? knex.raw('(select count(*) as matching_count from page) as total') : 'total').leftJoin(
      item.as('item') as never,
      knex.raw('true')
    ).orderBy(order.map((term) => ({ ...term, column: `item.${term.column}` })))
}

/** Reads pages of one shop by statements that are planned once; without a filter, their texts are made once as well. */
export type NamedPages = (
  source: Source & Required<Pick<Source, 'counted'>>,
  asked: Asked
) => Promise<readonly Found[]>

/** Values that no statement has: in a text they stand for those of a call. */
const SHOP = '\0shop'
const VALUE = '\0value'
const ID = '\0id'

/** @param rowsOf - the rows of a shop */
export function namedPages (knex: Knex, rowsOf: (shopId: string) => Knex.QueryBuilder): NamedPages {
  const run = namedStatements<Found>(knex)
  const runFiltered = namedStatements<Found>(knex)
  const texts = new Map<string, ReturnType<typeof textOf>>()

  return async (source, asked) => {
    const { query, place } = asked
    if (narrowingOf(query) !== undefined) {
      return await runFiltered(...textOf(pageStatement(knex, rowsOf(source.counted.shopId), source, asked)))
    }
    const { value, id } = place ?? {}
    const start = value === null ? 'after null' : 'after a value'
    const shape = `${query.sort} ${query.limit} ${place === undefined ? 'first' : start}`
    let text = texts.get(shape)
    if (text === undefined) {
      const anyPlace = place && { ...place, value: value === null ? null : VALUE, id: ID }
      const anyShop = { ...source, counted: { ...source.counted, shopId: SHOP } }
      text = textOf(pageStatement(knex, rowsOf(SHOP), anyShop, { ...asked, place: anyPlace }))
      texts.set(shape, text)
    }
    const [sql, bindings] = text
    const values = new Map<unknown, Knex.Value>([
      [SHOP, source.counted.shopId],
      [VALUE, value ?? null],
      [ID, id ?? null]
    ])
    return await run(sql, bindings.map((binding) => values.get(binding) ?? binding))
  }
}

/**
 * Whether the text of the statement is one of few, and its plan serves all values, as far as is known from the last
 * time.
 */
export function isNameable ({ counted }: Pick<Required<Source>, 'counted'>, query: ListQuery): boolean {
  if (query.skip !== 0 || !NAMED_LIMITS.includes(query.limit)) return false
  const narrowing = narrowingOf(query)
  return narrowing === undefined || holdsAll(query) ||
    (counted.by.last(counted.shopId, narrowing)?.length ?? Infinity) <= EVERY_PLAN
}

/**
 * Whether the page has all that match, since it has room for as many as the filter names: nothing else has to be
 * counted.
 */
function holdsAll ({ filter, skip, limit, after }: ListQuery): boolean {
  const { id } = (filter ?? {}) as { readonly id?: readonly string[] }
  return id !== undefined && id.length <= limit && skip === 0 && after === undefined
}

/**
 * Whether reading all matches and sorting them is faster than to look for the first ones in the order of the list, as
 * far as is known from the last time. In that order there is a match in every so many rows; a match costs twice as much
 * as a row.
 */
function areFew ({ by, shopId }: NonNullable<Source['counted']>, narrowing: object, wanted: number): boolean {
  const { count, length } = by.last(shopId, narrowing) ?? { count: Infinity, length: 0 }
  return 2 * count <= wanted * length / count
}

/** The count of the matches of a filter of one field, if that field can be counted so. */
function countWithoutReading (
  knex: Knex,
  filters: ListRules['filters'],
  narrowing: ListQuery['filter'],
  shopId: string
): Knex.QueryBuilder | undefined {
  const [[name, value] = ['', undefined], ...others] = Object.entries(narrowing ?? {})
  const { count } = filters[name] ?? {}
  if (count === undefined || others.length > 0) return undefined
  const query = knex.queryBuilder()
  count(query, shopId, value as never)
  return query
}

/**
 * The rows of a page that fit into one, at least the first. Uses their stored sizes, without reading their contents.
 */
function fitting (knex: Knex, rows: Knex.QueryBuilder, order: Order): Knex.QueryBuilder {
  const terms = order.map(({ order: direction, nulls }) =>
    `?? ${direction}${nulls === undefined ? '' : ` nulls ${nulls}`}`
  )
  const running = knex.raw(
    `sum(bytes) over (order by ${terms.join(', ')}) as bytes_so_far`,
    order.map(({ column }) => column)
  )
  const measured = rows.select('*', running)
  return knex.select('*').from(measured.as('measured')).where('bytes_so_far', '<=', MAX_PAGE_BYTES).orWhere(
    'bytes_so_far',
    knex.ref('bytes')
  )
}
