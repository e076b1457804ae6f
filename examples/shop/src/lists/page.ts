import type { Knex } from 'knex'
import type { ListQuery, ListRules, Page } from './list.ts'

/** Maximum size of a page, in bytes of JSON: it is in memory several times, and other callers wait while it is serialized. */
const MAX_PAGE_BYTES = 262_144

/**
 * @param matching - the rows that the caller may see; they have an `id`
 * @param sized - whether each row has its size in `bytes`: a page then ends before it exceeds 256 KiB, but has at least one row
 * @param fields - what to read of each row, in SQL over `item`
 * @returns the page that a list request asks for
 */
export async function pageOf<Row> (
  knex: Knex, matching: Knex.QueryBuilder, { filters, nullable, sized = false }: Pick<ListRules, 'filters' | 'nullable'> & { readonly sized?: boolean },
  query: ListQuery, fields: ReadonlyArray<string | Knex.Raw> = ['item.*']
): Promise<Page<Row>> {
  for (const [name, value] of Object.entries(query.filter ?? {})) filters[name]!.apply(matching, value as never)

  const order = orderFromSort(query.sort, nullable)
  // Counted in a subquery: a window function would read and sort every matching row for one page.
  const page = matching.clone().select('*', matching.clone().count().as('matching_count'))
    .orderBy(order).offset(query.skip).limit(query.limit)
  const found = await knex.select([...fields, 'item.matching_count']).from(sized ? fitting(knex, page, order).as('item') : page.as('item')).orderBy(order)
  const rows = found.map(({ matching_count: _, ...row }) => row as Row)

  // A page past the end has no row to carry the count.
  const count = found[0]?.matching_count ?? (query.skip === 0 ? 0 : (await matching.count().first())?.count)
  return { rows, count }
}

/** The rows of a page that fit into one, at least the first. Uses their stored sizes, without reading their contents. */
function fitting (knex: Knex, page: Knex.QueryBuilder, order: Order): Knex.QueryBuilder {
  const terms = order.map(({ order: direction, nulls }) => `?? ${direction}${nulls === undefined ? '' : ` nulls ${nulls}`}`)
  const running = knex.raw(`sum(bytes) over (order by ${terms.join(', ')}) as bytes_so_far`, order.map(({ column }) => column))
  const measured = knex.select('*', running).from(page.as('page'))
  return knex.select('*').from(measured.as('measured')).where('bytes_so_far', '<=', MAX_PAGE_BYTES).orWhere('bytes_so_far', knex.ref('bytes'))
}

type Order = Array<{ readonly column: string, readonly order: 'asc' | 'desc', readonly nulls?: 'last' }>

/** `id` makes the order total, so that no row is on two pages; in the same direction, so that one index serves both. */
function orderFromSort (sort: string, nullable: readonly string[]): Order {
  const descending = sort.startsWith('-')
  const column = descending ? sort.slice(1) : sort
  const order = descending ? 'desc' : 'asc'
  return [{ column, order, ...(nullable.includes(column) && { nulls: 'last' as const }) }, { column: 'id', order }]
}
