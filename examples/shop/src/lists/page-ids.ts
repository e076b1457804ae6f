import type { Knex } from 'knex'
import type { Place } from './cursor.ts'

/** As text, since PostgreSQL plans for a tenth of the table when a limit is a parameter. */
export const LITERAL = { skipBinding: true } as const

/** Behind so many rows, a page is read from the nearer end of the list. */
export const FAR = 1000

interface Term {
  readonly column: string
  readonly order: 'asc' | 'desc'
  readonly nulls?: 'last'
}
export type Order = [Term, Term]

/** What the ids of rows are read with, where they are sorted again. */
export function idAnd (column: string): readonly string[] {
  return [...new Set(['id', column])]
}

/** `id` makes the order total, so that no row is on two pages; in the same direction, so that one index serves both. */
export function orderFromSort (sort: string, nullable: readonly string[]): Order {
  const descending = sort.startsWith('-')
  const column = descending ? sort.slice(1) : sort
  const order = descending ? 'desc' : 'asc'
  return [{ column, order, ...(nullable.includes(column) && { nulls: 'last' as const }) }, { column: 'id', order }]
}

/** Rows of a list, of which a page is read. */
export interface Sought {
  readonly knex: Knex
  readonly matching: Knex.QueryBuilder
  readonly order: Order
  readonly limit: number
  /** `id`, and what else is read of them; of those that are far away, `id` alone. */
  readonly columns: readonly string[]
}

/**
 * The ids of the rows behind the first `skip`, in a statement whose `total` has the length of the list.
 *
 * @param isWhole - whether the list has no filter: rows that are far away are then read from the nearer end
 */
export function idsFrom (
  { knex, matching, order, limit, columns }: Sought,
  skip: number,
  isWhole: boolean
): Knex.QueryBuilder {
  if (skip < FAR || !isWhole) return matching.clone().select(columns).orderBy(order).offset(skip).limit(limit, LITERAL)
  const count = '(select matching_count from total)'
  const isNearStart = `:skip * 2 <= ${count}`
  const reversed = order.map(({ column, order: direction, nulls }) => ({
    column,
    order: direction === 'asc' ? 'desc' : 'asc',
    ...nulls !== undefined && { nulls: 'first' as const }
  }))
  const [fromStart, fromEnd] = [order, reversed].map((terms) =>
    matching.clone().select(idAnd(order[0].column)).orderBy(terms)
  )
  // A part whose limit is 0 reads nothing.
  return knex.select('id').from(knex.raw(
    `(
    (:fromStart offset :skip limit case when ${isNearStart} then :limit::bigint else 0 end) union all
    (:fromEnd offset greatest(${count} - :skip - :limit, 0) limit case when ${isNearStart} then 0
      else greatest(least(:limit, ${count} - :skip), 0) end)
  ) as parts`,
    { fromStart, fromEnd, skip, limit } as unknown as Knex.RawBinding[]
  )).orderBy(order)
}

/** The ids of the first rows after a place. */
export function idsAfter (
  { knex, matching, order, limit, columns }: Sought,
  { value, id }: Place
): Knex.QueryBuilder {
  const [{ column, nulls }] = order
  const sign = order[0].order === 'asc' ? '>' : '<'
  const withoutValue = matching.clone().whereNull(column)
  if (value === null) return withoutValue.where('id', sign, id).select(columns).orderBy(order).limit(limit, LITERAL)
  const withValue = matching.clone().whereRaw(`(??, ??) ${sign} (?, ?)`, [column, 'id', value, id])
  if (nulls === undefined) return withValue.select(columns).orderBy(order).limit(limit, LITERAL)
  // Each part is the range of an index; as one condition they would not be.
  const parts = [withValue, withoutValue].map((part) =>
    part.select([...new Set([...columns, column])]).orderBy(order).limit(limit, LITERAL)
  )
  return knex.select(columns).from(knex.unionAll(parts, true).as('parts')).orderBy(order).limit(limit, LITERAL)
}
