import type { Static, TObject } from '@sinclair/typebox'
import type { Knex } from 'knex'
import type { ShopScope } from '../access/scope.ts'
import { recordDeletions } from './deleting.ts'
import type { Facts } from './facts.ts'
import { lockedFacts, lockedRowFacts } from './held.ts'
import { recordLists } from './lists.ts'
import { manyRecords } from './many.ts'
import { mappingFrom, type RecordDefinition } from './mapping.ts'
import { recordReads } from './reading.ts'
import { restored } from './restoring.ts'
import { recordWrites } from './writing.ts'

/**
 * Reads and writes the rows of one table, always within one shop. Rows of other shops count as missing. Every change is
 * recorded in the history, by the statement that makes it.
 *
 * Methods take the caller's transaction as `on`; by default they use the pool.
 */
export function recordRepository<Schema extends TObject, Row = Static<Schema>> (
  knex: Knex,
  definition: RecordDefinition<Schema>
) {
  const mapping = mappingFrom(knex, definition)

  return {
    ...recordReads<Row>(knex, mapping),
    ...recordLists<Row>(knex, mapping),
    ...recordWrites<Row>(knex, mapping),
    ...recordDeletions<Row>(knex, mapping),
    ...manyRecords(knex, mapping),

    /**
     * Locks a row until `trx` ends.
     *
     * @param names - the fields that matter; without computed ones it takes one statement. Default: all
     * @returns what the history says of it; undefined if there is none
     */
    async hold (
      shop: ShopScope,
      id: string,
      trx: Knex.Transaction,
      names?: readonly string[]
    ): Promise<Facts | undefined> {
      const isWhole = names?.some((name) => name in mapping.computed) ?? true
      if (!isWhole) return await lockedRowFacts(trx, mapping, { shop, id })
      const found = await lockedFacts(trx, mapping, { shop, id })
      return found === undefined ? undefined : JSON.parse(found)
    },

    /**
     * Restores a deleted row and its links, as the history has them.
     *
     * @param change - the deletion
     * @param work - adds further rows of the record
     * @throws {@link SHOP_CONFLICT} about what is not in the tables
     */
    async restore (
      shop: ShopScope,
      id: string,
      change: string,
      trx: Knex.Transaction,
      work: () => Promise<void> = async () => {}
    ): Promise<Row> {
      return await restored<Row>(trx, mapping, { shop, id }, { change, work })
    }
  }
}
