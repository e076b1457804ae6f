import type { Knex } from 'knex'
import { notFound } from '../errors.ts'
import { holdShop } from '../access/hold.ts'
import type { ShopScope } from '../access/scope.ts'
import { affectedBy, touch } from './dependents.ts'
import type { RecordMapping } from './mapping.ts'
import { columnsAt, type RowPlace } from './row.ts'
import { recorded } from './trail.ts'

/** The effects of a deletion. */
export interface Deletion<Row> {
  readonly row: Row
  /** How many rows of other tables lose a link to it or are deleted with it, by table. */
  readonly affected: Readonly<Record<string, number>>
}

/** Deletes single rows. */
export function recordDeletions<Row> (knex: Knex, mapping: RecordMapping) {
  const { table, noun, dependents } = mapping

  /**
   * The effects of a deletion.
   *
   * @throws {@link SHOP_NOT_FOUND}
   */
  async function deletion (shop: ShopScope, id: string, on: Knex = knex): Promise<Deletion<Row>> {
    const row = await on.select(['item.*', on.raw(`${affectedBy(dependents)} as affected`)]).from({ item: table })
      .where(columnsAt({ shop, id })).first()
    if (row === undefined) throw notFound(noun, id)
    return { row, affected: row.affected }
  }

  return {
    deletion,

    /**
     * @param check - sees the effects once nothing can change them, and may throw
     * @throws {@link SHOP_NOT_FOUND} | {@link SHOP_GONE}
     */
    async remove (
      shop: ShopScope,
      id: string,
      on: Knex = knex,
      check?: (deletion: Deletion<Row>) => void
    ): Promise<void> {
      const place = { shop, id }
      const isGone = dependents.length === 0
        ? await removeRow(on, mapping, place)
        : await on.transaction(async (trx) =>
          await removeLinked(trx, mapping, place, async () => check?.(await deletion(shop, id, trx)))
        )
      if (!isGone) throw notFound(noun, id)
    }
  }
}

/** Deletes a row that others link to, with its links. @param check - runs once nothing can change the links */
async function removeLinked (
  trx: Knex.Transaction,
  mapping: RecordMapping,
  place: RowPlace,
  check: () => Promise<void>
): Promise<boolean> {
  const { shop, id } = place
  // Takes turns with moves of rows below this one.
  await holdShop(trx, shop, { alone: mapping.below.length > 0 })
  await lockWithBelow(trx, mapping, place)
  await check()
  for (const linked of mapping.dependents) await touch(trx, shop, id, linked)
  const isGone = await removeRow(trx, mapping, place)
  if (isGone) await mapping.onRemoved?.(trx, id.toLowerCase())
  return isGone
}

/**
 * Locks the row before its deletion, so that new links to it wait. Also locks rows of the same table that depend on it,
 * in the order of their ids, as writers of several links do.
 */
async function lockWithBelow (
  trx: Knex.Transaction,
  { table, below }: RecordMapping,
  { shop, id }: RowPlace
): Promise<void> {
  const rows = trx(table).where({ shop_id: shop.id }).where((any) => {
    any.where({ id })
    for (const column of below) any.orWhere({ [column]: id })
  })
  await rows.orderBy('id').forUpdate().select('id')
}

/** Deletes a row and records it, in one statement. @returns whether there was one */
async function removeRow (on: Knex, mapping: RecordMapping, place: RowPlace): Promise<boolean> {
  const { table, noun, facts, kept } = mapping
  const gone = on(table).where(columnsAt(place)).delete().returning('*')
  const entry = recorded(on, place.shop.caller, { recordKind: noun, before: facts, after: null, kept })
  const entries = await on.with('gone', gone).select(entry).from({ item: 'gone' })
  return entries.length > 0
}
