import type { Knex } from 'knex'

/** How many rows a query matches. */
export async function countOf (query: Knex.QueryBuilder): Promise<number> {
  const [row] = await query.select<Array<{ count: number }>>(query.client.raw('count(*)::int as count'))
  return row?.count ?? 0
}

/** @param key - SQL, never from the request */
export function whereAny (query: Knex.QueryBuilder, key: string, values: ReadonlyArray<string | number | boolean | null>): void {
  const present = values.filter(value => value !== null)
  query.where(any => {
    any.whereIn(query.client.raw(key), present)
    if (present.length < values.length) any.orWhereRaw(`${key} is null`)
  })
}

/** Whether a statement failed because of this constraint. */
export function violates (constraint: string, error: unknown): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === constraint
}
