import type { Knex } from 'knex'
import { notFound } from '../errors.ts'
import type { ListQuery, Page } from '../lists/list.ts'
import type { Filter } from '../lists/filters.ts'
import { holdShop } from './hold.ts'
import type { ShopScope } from './scope.ts'

/** What the repositories of the resources of a shop differ in. */
export interface Collection {
  readonly table: string
  /** For messages: `product`. */
  readonly noun: string
  readonly filters: Readonly<Record<string, Filter>>
  /** The columns to sort by that may be null, which comes last in either direction. */
  readonly nullable?: readonly string[]
  /** Further fields of each row read: SQL over the row, which goes by `item`. */
  readonly computed?: Readonly<Record<string, string>>
  /** What loses something by the deletion of a row, and so has changed. */
  readonly dependents?: readonly Dependents[]
}

/** Rows of `table` that are linked to a deleted one: in `link`, `from` has their id and `to` has its. */
export interface Dependents {
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
export function shopRepository<Row> (knex: Knex, { table, noun, filters, nullable = [], computed = {}, dependents = [] }: Collection) {
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

/** @returns what the column `updated_at` is to be: as it was where nothing is changed */
export function updatedAt (knex: Knex, changes: object): Knex.Raw | Knex.Ref<string, Record<string, string>> {
  return Object.keys(changes).length === 0 ? knex.ref('updated_at') : newer(knex)
}

/**
 * Not the time of the transaction: it may have waited for the row while another one changed it, and be older than that change.
 *
 * @param column - with its table where the statement knows two of that name
 * @returns what the column is to be of a row that changes
 */
export function newer (knex: Knex, column = 'updated_at'): Knex.Raw {
  return knex.raw('greatest(??, clock_timestamp())', [column])
}

/** In the order of their ids, so that two deletions at once do not wait for each other. */
async function touch (trx: Knex.Transaction, shop: ShopScope, id: string, { table, link, from, to }: Dependents): Promise<void> {
  const ids = trx(link).where({ shop_id: shop.id, [to]: id }).select(from)
  const locked = trx(table).where({ shop_id: shop.id }).whereIn('id', ids).orderBy('id').forNoKeyUpdate().select('id')
  await trx(table).where({ shop_id: shop.id }).whereIn('id', locked).update({ updated_at: newer(trx) })
}

/** The largest page, in bytes of JSON: it is held in memory several times over, and other callers wait while it is written. */
const MAX_PAGE_BYTES = 262_144

/**
 * @param matching - the rows that the caller may see; they have an `id`
 * @param sized - whether each row has its size in `bytes`: a page then ends before it is larger than 256 KiB, but has a row at least
 * @param fields - what to read of each, in SQL over `item`
 * @returns the page that a list request asks for
 */
export async function pageOf<Row> (
  knex: Knex, matching: Knex.QueryBuilder, { filters, nullable = [], sized = false }: Pick<Collection, 'filters' | 'nullable'> & { readonly sized?: boolean },
  query: ListQuery, fields: ReadonlyArray<string | Knex.Raw> = ['item.*']
): Promise<Page<Row>> {
  for (const [name, value] of Object.entries(query.filter ?? {})) filters[name]!.apply(matching, value as never)

  const order = orderFromSort(query.sort, nullable)
  // Counted beside the page and not over it: a window would read every matching row, and sort them, for one page.
  const page = matching.clone().select('*', matching.clone().count().as('matching_count'))
    .orderBy(order).offset(query.skip).limit(query.limit)
  const found = await knex.select([...fields, 'item.matching_count']).from(sized ? fitting(knex, page, order).as('item') : page.as('item')).orderBy(order)
  const rows = found.map(({ matching_count: _, ...row }) => row as Row)

  // A page past the end has no row to carry the count.
  const count = found[0]?.matching_count ?? (query.skip === 0 ? 0 : (await matching.count().first())?.count)
  return { rows, count }
}

/** The rows of a page as far as they fit into one, and its first in any case. By their stored sizes: what they hold is not read for it. */
function fitting (knex: Knex, page: Knex.QueryBuilder, order: Order): Knex.QueryBuilder {
  const terms = order.map(({ order: direction, nulls }) => `?? ${direction}${nulls === undefined ? '' : ` nulls ${nulls}`}`)
  const running = knex.raw(`sum(bytes) over (order by ${terms.join(', ')}) as bytes_so_far`, order.map(({ column }) => column))
  const measured = knex.select('*', running).from(page.as('page'))
  return knex.select('*').from(measured.as('measured')).where('bytes_so_far', '<=', MAX_PAGE_BYTES).orWhere('bytes_so_far', knex.ref('bytes'))
}

type Order = Array<{ readonly column: string, readonly order: 'asc' | 'desc', readonly nulls?: 'last' }>

/** `id` makes the order total, so that no row is on two pages; in the same direction, so that an index has it both ways. */
function orderFromSort (sort: string, nullable: readonly string[]): Order {
  const descending = sort.startsWith('-')
  const column = descending ? sort.slice(1) : sort
  const order = descending ? 'desc' : 'asc'
  return [{ column, order, ...(nullable.includes(column) && { nulls: 'last' as const }) }, { column: 'id', order }]
}
