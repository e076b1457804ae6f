import type { Knex } from 'knex'
import { cursorFromPlace, type Place, placeFromCursor, wrongCursor } from './cursor.ts'
import { cursorScope, type ListQuery, type Page } from './list.ts'
import {
  type Fields,
  type Found,
  isNameable,
  isReadApart,
  MAX_PAGE_BYTES,
  narrowingOf,
  pageStatement,
  type Source
} from './page-statement.ts'

/**
 * Reads a page: first the ids of its rows, which an index in the order of the list can have, then the rows. That is one
 * statement, or two near the start of a list with a filter in a large shop: PostgreSQL plans that each time, and the
 * part that reads the rows takes longer to plan than to run. Either way a page is as one moment had it.
 *
 * @param all - the rows that the caller may see; they have an `id`
 * @param fields - what to read of each row, in SQL over `item`
 * @returns the requested page
 * @throws {@link SHOP_INVALID} about `after`
 */
export async function pageOf<Row> (
  knex: Knex,
  all: Knex.QueryBuilder,
  source: Source,
  query: ListQuery,
  fields: Fields = ['item.*']
): Promise<Page<Row>> {
  const { named, byIds, ...whole } = source
  const { counted } = whole
  const { skip, limit, after } = query
  const narrowing = narrowingOf(query)
  const scope = cursorScope(query)
  const place = after === undefined ? undefined : placeFromCursor(scope, after)
  const asked = { query, place, fields }
  const statement = (): Knex.QueryBuilder => pageStatement(knex, all, source, asked)
  const isNamed = named !== undefined && counted !== undefined && isNameable({ counted }, query)

  let read: readonly Found[] = await answered<readonly Found[]>(
    place,
    isNamed ? named({ ...whole, counted }, asked) : statement()
  )
  let shown: readonly Found[] | undefined = read.filter(isFound)
  if (byIds !== undefined && !isNamed && isReadApart(source, query)) {
    shown = await withRows(shown, limit, async (ids) => await byIds(ids, knex))
    // Somebody has changed one of them meanwhile.
    shown ??= await knex.transaction(async (trx) => {
      read = await statement().transacting(trx)
      return await withRows(read.filter(isFound), limit, async (ids) => await byIds(ids, trx))
    }, SNAPSHOT)
    if (shown === undefined) throw new RangeError('a page changed within one snapshot')
  }

  const [{ matching_count: count, matching_state: state, matching_of: length, found_count: seen }] = read as [Found]
  if (counted !== undefined && state !== undefined) {
    counted.by.remember(counted.shopId, narrowing, { state, count: Number(count), length: Number(length) })
  }
  const { found_id: id, found_value: value } = shown.at(-1) ?? {}
  const start = place?.position ?? skip
  const next = id !== undefined && seen > shown.length
    ? cursorFromPlace(scope, { value: value!, id: id!, position: start + shown.length })
    : undefined
  return {
    rows: shown.map((
      {
        found_id: _,
        found_value: __,
        found_count: ___,
        matching_count: ____,
        matching_state: _____,
        matching_of: ______,
        xmin: _______,
        ...row
      }
    ) => row as Row),
    start,
    count,
    ...next !== undefined && { next },
    ...source.isStated && { state: state! }
  }
}

function isFound ({ found_id: id }: Found): boolean {
  return id !== null
}

/** What several statements read is then as one moment had it. */
export const SNAPSHOT = { isolationLevel: 'repeatable read', readOnly: true } as const

/** The rows of places, as many as fit into a page; undefined if one is another by now. */
async function withRows (
  places: readonly Found[],
  limit: number,
  byIds: (ids: readonly string[]) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>
): Promise<readonly Found[] | undefined> {
  let size = 0
  const shown = places.slice(0, limit).filter(({ bytes }, n) => (size += bytes!) <= MAX_PAGE_BYTES || n === 0)
  if (shown.length === 0) return []
  const rows = new Map((await byIds(shown.map(({ found_id: id }) => id!))).map((row) => [row['id'], row]))
  return shown.every(({ found_id: id, xmin }) => rows.get(id)?.['xmin'] === xmin)
    ? shown.map((place) => ({ ...rows.get(place.found_id), ...place }))
    : undefined
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
