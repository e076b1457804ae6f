import type { Knex } from 'knex'
import { namedStatement } from '../database/named-statement.ts'
import { tried } from '../database/tried.ts'
import { notFound } from '../errors.ts'
import type { ShopScope } from '../access/scope.ts'
import type { Precondition } from '../http/if-match.ts'
import type { RecordMapping } from './mapping.ts'
import { columnsAt } from './row.ts'

/** Reads one row. */
export function recordReads<Row> (knex: Knex, { table, noun, fields }: RecordMapping) {
  const byId = namedStatement<Row>(
    knex,
    `select ${fields.join(', ')} from "${table}" as item where shop_id = ? and id = ?`
  )

  /** @throws {@link SHOP_NOT_FOUND} */
  async function get (shop: ShopScope, id: string, on: Knex = knex): Promise<Row> {
    const [row] = await byId([shop.id, id], on)
    if (row === undefined) throw notFound(noun, id)
    return row
  }

  return {
    get,

    /**
     * Does work on a row, in a transaction that has locked it if there is a precondition. Others lock what they link to
     * first, so two may wait for each other: then it is tried again.
     *
     * @throws {@link SHOP_NOT_FOUND} | {@link SHOP_PRECONDITION_FAILED}, and what the work throws
     */
    async ifUnchanged<Result> (
      shop: ShopScope,
      id: string,
      precondition: Precondition | undefined,
      work: (on: Knex) => Promise<Result>
    ): Promise<Result> {
      if (precondition === undefined) return await work(knex)
      return await tried(async () =>
        await knex.transaction(async (trx) => {
          await trx(table).where(columnsAt({ shop, id })).forNoKeyUpdate().select('id')
          precondition(await get(shop, id, trx) as Row & { readonly updated_at: string })
          return await work(trx)
        })
      )
    }
  }
}
