import type { Knex } from 'knex'

/** How many rows a statement deletes: few enough that nobody waits long for its locks. */
export const PORTION_OF_ROWS = 5000

interface PortionOptions {
  /** How many rows a statement deletes. Default: {@link PORTION_OF_ROWS}. */
  readonly size?: number
  /** Asked between two statements. Default: never. */
  readonly isEnough?: () => boolean
}

/**
 * Deletes rows portion by portion, until one is not full.
 *
 * @param deletePortion - deletes that many rows at most, and returns how many there were
 * @returns how many were deleted
 */
export async function inPortions (
  deletePortion: (size: number) => Promise<number>,
  { size = PORTION_OF_ROWS, isEnough = () => false }: PortionOptions = {}
): Promise<number> {
  let total = 0
  for (let count = size; count === size && !isEnough(); total += count) count = await deletePortion(size)
  return total
}

/** Which rows of a table are too many. */
interface Surplus {
  /** The columns of what has too many rows: of a key, of a caller. */
  readonly of: readonly string[]
  /** How many of each are kept. */
  readonly most: number
  /** The columns by which the newest rows are kept. */
  readonly newest: readonly string[]
  /** The columns of the primary key. */
  readonly key: readonly string[]
}

/**
 * Deletes all but the newest rows of everything that has too many, portion by portion. Replicas that do so at the same
 * time share the work.
 *
 * @param rows - the rows to look at; default: all of the table
 * @param isEnough - asked between two statements
 */
export async function forgetSurplus (
  knex: Knex,
  table: string,
  { of, most, newest, key }: Surplus,
  rows: (query: Knex.QueryBuilder) => void = () => {},
  isEnough?: () => boolean
): Promise<void> {
  const having = await knex(table).modify(rows).groupBy([...of]).having(knex.raw('count(*)'), '>', most)
    .select<object[]>([...of])
  for (const owner of having) {
    await inPortions(async (size) => {
      const surplus = knex(table).where(owner).orderBy(newest.map((column) => ({ column, order: 'desc' }))).offset(most)
        .limit(size).select([...key])
      const free = knex(table).whereIn([...key], surplus).forUpdate().skipLocked().select([...key])
      return await knex(table).whereIn([...key], free).delete()
    }, isEnough && { isEnough })
  }
}

/**
 * Deletes rows one after another, as each may take many of other tables along: an import has up to 100,000 lines.
 * Replicas that do so at the same time share the work.
 *
 * @param which - narrows the table, which has the column `id`
 * @param isEnough - asked between two statements
 */
export async function forgetOneByOne (
  knex: Knex,
  table: string,
  which: (rows: Knex.QueryBuilder) => void,
  isEnough?: () => boolean
): Promise<void> {
  await inPortions(async (size) => {
    const old = knex(table).modify(which).limit(size).forUpdate().skipLocked().select('id')
    return await knex(table).whereIn('id', old).delete()
  }, { size: 1, ...isEnough && { isEnough } })
}
