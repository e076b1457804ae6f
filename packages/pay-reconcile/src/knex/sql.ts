import type { Knex } from 'knex'
import { record, recordsOf } from './records.ts'

/** How many rows a query matches. */
export async function countOf (knex: Knex, query: Knex.QueryBuilder): Promise<number> {
  const [row] = await recordsOf<{ readonly count: number }>(knex, query.select(knex.raw(record({ count: 'count(*)' }))))
  return row?.count ?? 0
}

/** Whether a statement failed because of this constraint. */
export function violates (constraint: string, error: unknown): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === constraint
}
