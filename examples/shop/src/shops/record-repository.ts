import type { Knex } from 'knex'
import { newer, updatedAt } from '../database/updated-at.ts'
import { notFound } from '../errors.ts'
import type { ListQuery, ListRules, Page } from '../lists/list.ts'
import { pageOf } from '../lists/page.ts'
import { holdShop } from './hold.ts'
import type { ShopScope } from './scope.ts'

/** What the repositories of the resources of a shop differ in. */
interface Records extends Pick<ListRules, 'filters' | 'nullable'> {
  readonly table: string
  /** For messages: `product`. */
  readonly noun: string
  /** Further fields of each row read: SQL over the row, which goes by `item`. */
  readonly computed?: Readonly<Record<string, string>>
  /** What loses something by the deletion of a row, and so has changed. */
  readonly dependents?: readonly Dependents[]
}

/** Rows of `table` that are linked to a deleted one: in `link`, `from` has their id and `to` has its. */
interface Dependents {
  readonly table: string
  readonly link: string
  readonly from: string
  readonly to: string
}

/**
 * Reads and writes the rows of one table, each time within one shop. A row of another shop is as
 * absent as one that never was.
 *
 * Methods take a transaction as `on` where the caller has one open; by default they use the pool.
 */
export function recordRepository<Row> (knex: Knex, { table, noun, filters, nullable, computed = {}, dependents = [] }: Records) {
  const fields = ['item.*', ...Object.entries(computed).map(([name, sql]) => knex.raw(`${sql} as ??`, [name]))]
  const below = dependents.filter((linked) => linked.table === table).map(({ to }) => to)

  /**
   * Takes the row for its deletion, before anybody is touched: whoever links to it meanwhile waits, and is not missed.
   * With those of the same table that depend on it, in the order of their ids, as those take them who link to several.
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

    /** @returns the row as the table has it, without computed fields */
    async insert (shop: ShopScope, values: object, on: Knex = knex): Promise<Row> {
      const [row] = await on(table).insert({ ...values, shop_id: shop.id }).returning('*')
      return row
    },

    /**
     * Changes the given columns; with none given it changes nothing but still locks the row.
     *
     * @returns the row as the table has it, without computed fields
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
          // What is below a row may be moved meanwhile: that takes turns with this.
          await holdShop(trx, shop, { alone: below.length > 0 })
          await lock(trx, shop, id)
          for (const linked of dependents) await touch(trx, shop, id, linked)
          return await remove(trx)
        })
      if (count === 0) throw notFound(noun, id)
    }
  }
}

/** In the order of their ids, so that two deletions at once do not wait for each other. */
async function touch (trx: Knex.Transaction, shop: ShopScope, id: string, { table, link, from, to }: Dependents): Promise<void> {
  const ids = trx(link).where({ shop_id: shop.id, [to]: id }).select(from)
  const locked = trx(table).where({ shop_id: shop.id }).whereIn('id', ids).orderBy('id').forNoKeyUpdate().select('id')
  await trx(table).where({ shop_id: shop.id }).whereIn('id', locked).update({ updated_at: newer(trx) })
}
