import type { Knex } from 'knex'
import type { ShopScope } from '../access/scope.ts'
import type { Facts } from './facts.ts'
import type { RecordMapping } from './mapping.ts'
import { recordedMany } from './trail.ts'

/** A change of one of several rows. */
export interface ManyChange {
  readonly id: string
  /** Null for a new row. */
  readonly before: Facts | null
  /** The change that it takes back. */
  readonly reverts?: string
}

/** Works on many rows in a few statements. */
export function manyRecords (knex: Knex, mapping: RecordMapping) {
  const { table, noun, facts, kept } = mapping
  return {
    /** @returns what the history would say of rows, by id */
    async factsOfMany (shop: ShopScope, ids: readonly string[], on: Knex = knex): Promise<ReadonlyMap<string, Facts>> {
      if (ids.length === 0) return new Map()
      const found: Array<{ id: string, facts: Facts }> = await on.select('id', on.raw(`${facts} as facts`))
        .from({ item: table }).where({ shop_id: shop.id }).whereRaw('id = any(?::uuid[])', [[...ids]])
      return new Map(found.map(({ id, facts }) => [id, facts]))
    },

    /** Locks rows until `trx` ends, in the order of their ids. */
    async lockMany (
      shop: ShopScope,
      ids: readonly string[],
      trx: Knex.Transaction,
      { alone = false } = {}
    ): Promise<void> {
      const rows = trx(table).where({ shop_id: shop.id }).whereRaw('id = any(?::uuid[])', [[...ids]]).orderBy('id')
        .select('id')
      await (alone ? rows.forUpdate() : rows.forNoKeyUpdate())
    },

    /**
     * Records what statements of `trx` did to several rows, in the given order.
     *
     * @returns the ids of the entries, by those of the rows that changed
     */
    async settleMany (
      shop: ShopScope,
      changes: readonly ManyChange[],
      trx: Knex.Transaction
    ): Promise<ReadonlyMap<string, string>> {
      if (changes.length === 0) return new Map()
      const rows = trx.raw(
        'from jsonb_to_recordset(?::jsonb) as given(id uuid, before jsonb, reverts uuid, place int) join ?? ' +
          'item on item.id = given.id and item.shop_id = ? order by given.place',
        [JSON.stringify(changes.map((one, place) => ({ ...one, place }))), table, shop.id]
      )
      const { rows: entries } = await recordedMany(trx, shop.caller, {
        recordKind: noun,
        before: 'given.before',
        after: facts,
        reverts: 'given.reverts'
      }, rows)
      return new Map(entries.map(({ of_record: id, entry }: { of_record: string, entry: string }) => [id, entry]))
    },

    /**
     * Deletes rows that nothing refers to, and records it. The caller has locked them, and looked for references.
     *
     * @param changes - by the ids of the rows: the change that the deletion takes back
     */
    async removeMany (shop: ShopScope, changes: ReadonlyMap<string, string>, trx: Knex.Transaction): Promise<void> {
      const rows = trx.raw(
        'from gone item join jsonb_to_recordset(?::jsonb) as given(id uuid, reverts uuid, place int) on ' +
          'given.id = item.id order by given.place',
        [JSON.stringify(Array.from(changes, ([id, reverts], place) => ({ id, reverts, place })))]
      )
      const entries = recordedMany(trx, shop.caller, {
        recordKind: noun,
        before: facts,
        after: 'null',
        kept,
        reverts: 'given.reverts'
      }, rows)
      await trx.raw('with gone as (delete from ?? where shop_id = ? and id = any(?::uuid[]) returning *) ?', [
        table,
        shop.id,
        [...changes.keys()],
        entries
      ])
    }
  }
}
