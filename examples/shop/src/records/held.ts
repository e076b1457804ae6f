import type { Knex } from 'knex'
import { notFound } from '../errors.ts'
import type { Facts } from './facts.ts'
import type { RecordMapping } from './mapping.ts'
import { columnsAt, type RowPlace } from './row.ts'
import { recorded } from './trail.ts'

/**
 * Locks a row, for work of several statements on it.
 *
 * @returns its facts, as JSON; undefined if there is none
 */
export async function lockedFacts (
  trx: Knex.Transaction,
  { table, facts }: RecordMapping,
  place: RowPlace
): Promise<string | undefined> {
  await trx(table).where(columnsAt(place)).forNoKeyUpdate().select('id')
  // In another statement, which sees what others committed while this one waited.
  const row = await trx.select(trx.raw(`${facts}::text as facts`)).from({ item: table }).where(columnsAt(place)).first()
  return row?.facts
}

/** Locks a row. @returns the facts that are in the row itself; undefined if there is none */
export async function lockedRowFacts (
  trx: Knex.Transaction,
  { table, rowFacts }: RecordMapping,
  place: RowPlace
): Promise<Facts | undefined> {
  const row = await trx.select(trx.raw(`${rowFacts('item')} as facts`)).from({ item: table }).where(columnsAt(place))
    .forNoKeyUpdate().first()
  return row?.facts
}

/**
 * Reads a row after several statements have changed it, and records the change.
 *
 * @param before - its facts before them, as JSON; null if it is new
 * @throws {@link SHOP_NOT_FOUND}
 */
export async function settle<Row> (
  trx: Knex.Transaction,
  { table, noun, fields, facts }: RecordMapping,
  place: RowPlace,
  before: string | null
): Promise<Row> {
  const change = recorded(trx, place.shop.caller, {
    recordKind: noun,
    before: before && trx.raw('?::jsonb', [before]),
    after: facts
  })
  const row = await trx.select([...fields, change]).from({ item: table }).where(columnsAt(place)).first()
  if (row === undefined) throw notFound(noun, place.id)
  return row
}
