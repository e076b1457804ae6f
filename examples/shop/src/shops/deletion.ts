import type { FastifyInstance } from 'fastify'
import type { Knex } from 'knex'
import { inBackground } from '../background.ts'
import { inPortions } from '../database/portions.ts'

/** How often the server looks for deleted shops that are not empty yet, in milliseconds. */
const INTERVAL = 600_000

/** How long a call that deletes a shop waits until it is empty, in milliseconds. */
const PATIENCE = 2000

/** How many rows a transaction deletes: those of a product in other tables go with it. */
const PORTION = 1000

/** Large tables, those that others refer to last. What is in none of them goes with the row of the shop. */
export const LARGE_TABLES = [
  'products',
  'categories',
  'tags',
  'attributes',
  'imports',
  'idempotency_keys',
  'tool_calls',
  'daily_usage',
  'key_calls',
  'failed_calls'
] as const

/** Rows of these tables take many others along. */
const ROWS_AT_A_TIME: Partial<Record<typeof LARGE_TABLES[number], number>> = { imports: 1 }

/** Empties shops that are deleted. */
export interface ShopDeletion {
  /** Empties a shop, for as long as a caller waits; the rest follows. */
  empty(id: string): Promise<void>
}

/**
 * Shops are deleted in two steps, since products by the hundred thousand take longer than a statement may: with the
 * first, nobody reaches them any more. The second is here, and what a process leaves undone, another does.
 */
export function shopDeletion (app: FastifyInstance, knex: Knex): ShopDeletion {
  const run = inBackground(app, INTERVAL, async (isEnough) => {
    const left = await knex('shops').where({ status: 'deleted' }).select<Array<{ readonly id: string }>>('id')
    for (const { id } of left) await emptyShop(knex, id, isEnough)
  }, (error) => app.jobFailed('deleted_shops', error, 'The rest of deleted shops could not be deleted'))
  return {
    async empty (id) {
      const end = performance.now() + PATIENCE
      try {
        if (!await emptyShop(knex, id, () => performance.now() > end)) run()
      } catch (error) {
        // The shop is deleted, which is what was asked for.
        app.jobFailed('deleted_shops', error, 'The rest of a deleted shop could not be deleted')
      }
    }
  }
}

/**
 * Deletes what a deleted shop had, portion by portion, and then its row.
 *
 * @param isEnough - asked between two transactions
 * @returns whether nothing is left
 */
export async function emptyShop (knex: Knex, id: string, isEnough: () => boolean): Promise<boolean> {
  for (const table of LARGE_TABLES) {
    await inPortions(async (size) =>
      await knex.transaction(async (trx) => {
        // The shop first, as all who lock several of its rows do.
        if (await deleted(trx, id).forUpdate().first('id') === undefined) return 0
        // Both conditions name the shop: a ctid is unique in one partition only.
        const { rowCount } = await trx.raw(
          'delete from ?? where shop_id = ? and ctid = any(array(select ctid from ?? where shop_id = ? limit ?))',
          [table, id, table, id, size]
        )
        return rowCount
      }), { size: ROWS_AT_A_TIME[table] ?? PORTION, isEnough })
  }
  if (isEnough()) return false
  await deleted(knex, id).delete()
  return true
}

function deleted (knex: Knex, id: string): Knex.QueryBuilder {
  return knex('shops').where({ id, status: 'deleted' })
}
