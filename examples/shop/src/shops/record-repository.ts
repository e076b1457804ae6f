import type { Knex } from 'knex'
import { newer, updatedAt } from '../database/updated-at.ts'
import { notFound } from '../errors.ts'
import type { ListQuery, ListRules, Page } from '../lists/list.ts'
import { pageOf } from '../lists/page.ts'
import { holdShop } from './hold.ts'
import type { ShopScope } from './scope.ts'

/** What distinguishes the repositories of records. */
interface Records extends Pick<ListRules, 'filters' | 'nullable'> {
  readonly table: string
  /** For messages: `product`. */
  readonly noun: string
  /** Further fields to read: SQL over the row, which is named `item`. */
  readonly computed?: Readonly<Record<string, string>>
  /** Rows that change when a row is deleted, since they lose a link to it. */
  readonly dependents?: readonly Dependents[]
}

/** Rows of `table` that are linked to a deleted row: in the table `link`, `from` has their id and `to` its id. */
interface Dependents {
  readonly table: string
  readonly link: string
  readonly from: string
  readonly to: string
}

/**
 * Reads and writes the rows of one table, always within one shop. Rows of other shops count as missing.
 *
 * Methods take the caller's transaction as `on`; by default they use the pool.
 */
export function recordRepository<Row> (knex: Knex, { table, noun, filters, nullable, computed = {}, dependents = [] }: Records) {
  const fields = ['item.*', ...Object.entries(computed).map(([name, sql]) => knex.raw(`${sql} as ??`, [name]))]
  const below = dependents.filter((linked) => linked.table === table).map(({ to }) => to)

  /**
   * Locks the row before its deletion, so that new links to it wait. Also locks rows of the same table that depend on it, in
   * the order of their ids, as writers of several links do.
   */
  async function lock (trx: Knex.Transaction, shop: ShopScope, id: string): Promise<void> {
    const rows = trx(table).where({ shop_id: shop.id }).where((any) => {
      any.where({ id })
      for (const column of below) any.orWhere({ [column]: id })
    })
    await rows.orderBy('id').forUpdate().select('id')
  }

  return {
    /** @returns one page, and how many rows match in all */
    async list (shop: ShopScope, query: ListQuery): Promise<Page<Row>> {
      return await pageOf<Row>(knex, knex(table).where({ shop_id: shop.id }), { filters, nullable, sized: true }, query, fields)
    },

    /** @throws {@link SHOP_NOT_FOUND} */
    async get (shop: ShopScope, id: string, on: Knex = knex): Promise<Row> {
      const row = await on.select(fields).from({ item: table }).where({ shop_id: shop.id, id }).first()
      if (row === undefined) throw notFound(noun, id)
      return row
    },

    /** @returns the stored row, without computed fields */
    async insert (shop: ShopScope, values: object, on: Knex = knex): Promise<Row> {
      const [row] = await on(table).insert({ ...values, shop_id: shop.id }).returning('*')
      return row
    },

    /**
     * Changes the given columns. Without any it only locks the row.
     *
     * @returns the stored row, without computed fields
     * @throws {@link SHOP_NOT_FOUND}
     */
    async update (shop: ShopScope, id: string, values: object, on: Knex = knex): Promise<Row> {
      const [row] = await on(table).where({ shop_id: shop.id, id }).update({ updated_at: updatedAt(knex, values), ...values }).returning('*')
      if (row === undefined) throw notFound(noun, id)
      return row
    },

    /** @throws {@link SHOP_NOT_FOUND} | {@link SHOP_GONE} */
    async remove (shop: ShopScope, id: string): Promise<void> {
      const remove = async (on: Knex): Promise<number> => await on(table).where({ shop_id: shop.id, id }).delete()
      const count = dependents.length === 0
        ? await remove(knex)
        : await knex.transaction(async (trx) => {
          // Takes turns with moves of rows below this one.
          await holdShop(trx, shop, { alone: below.length > 0 })
          await lock(trx, shop, id)
          for (const linked of dependents) await touch(trx, shop, id, linked)
          return await remove(trx)
        })
      if (count === 0) throw notFound(noun, id)
    }
  }
}

/** In the order of their ids, so that concurrent deletions do not deadlock. */
async function touch (trx: Knex.Transaction, shop: ShopScope, id: string, { table, link, from, to }: Dependents): Promise<void> {
  const ids = trx(link).where({ shop_id: shop.id, [to]: id }).select(from)
  const locked = trx(table).where({ shop_id: shop.id }).whereIn('id', ids).orderBy('id').forNoKeyUpdate().select('id')
  await trx(table).where({ shop_id: shop.id }).whereIn('id', locked).update({ updated_at: newer(trx) })
}
