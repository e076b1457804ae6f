import type { Knex } from 'knex'
import { namedStatement } from '../database/named-statement.ts'
import { replicaOf } from '../database/replica.ts'
import type { ShopScope } from '../access/scope.ts'
import { type Counts, createCounts } from '../lists/counts.ts'
import type { ListQuery, Page } from '../lists/list.ts'
import { pageOf, SNAPSHOT } from '../lists/page.ts'
import { MAX_PAGE_BYTES, namedPages } from '../lists/page-statement.ts'
import type { RecordMapping } from './mapping.ts'

/** Reads several rows at once, at the replica if there is one that shows what the primary has. */
export function recordLists<Row> (knex: Knex, mapping: RecordMapping) {
  const counts = createCounts(knex, mapping.table, mapping.others)
  const replica = replicaOf(knex)
  const pageAtPrimary = pagesFrom<Row>(knex, mapping, counts, false)
  const pageAtReplica = replica && pagesFrom<Row>(replica.database.knex, mapping, counts, true)

  return {
    /** @returns one page, and how many rows match in all */
    async list (shop: ShopScope, query: ListQuery): Promise<Page<Row>> {
      const page = pageAtReplica &&
        await replica!.read(async () => await counts.state(shop.id), async () => await pageAtReplica(shop, query))
      return page ?? await pageAtPrimary(shop, query)
    },

    /**
     * Reads the first rows of a query by their ids, fewer if they are large.
     *
     * @param matching - rows of the table, of the shop
     */
    async first (shop: ShopScope, matching: Knex.QueryBuilder, limit: number): Promise<Row[]> {
      const found = await replica?.read(
        async () => await counts.state(shop.id),
        async () =>
          await replica.database.knex.transaction(async (trx) => (
            { state: await counts.state(shop.id, trx), rows: await firstRows<Row>(trx, mapping, matching, limit) }
          ), SNAPSHOT)
      )
      return found?.rows ?? await firstRows<Row>(knex, mapping, matching, limit)
    }
  }
}

/** Reads pages of lists on a server. @param isStated - whether they have the state of the records */
function pagesFrom<Row> (
  on: Knex,
  { table, filters, nullable, fields }: RecordMapping,
  counts: Counts,
  isStated: boolean
): (shop: ShopScope, query: ListQuery) => Promise<Page<Row>> {
  const rowsOf = (shopId: string): Knex.QueryBuilder => on(table).where({ shop_id: shopId })
  const named = namedPages(on, rowsOf)
  const byIds = namedStatement<Readonly<Record<string, unknown>>>(
    on,
    `select ${fields.join(', ')}, item.xmin from "${table}" as item where shop_id = ? and id = any(?)`
  )
  return async ({ id: shopId }, query) => {
    const source = {
      filters,
      nullable,
      sized: true,
      counted: { by: counts, shopId },
      isStated,
      named,
      // The state is that of one statement.
      ...!isStated && { byIds: async (ids: readonly string[], on: Knex) => await byIds([shopId, [...ids]], on) }
    }
    return await pageOf<Row>(on, rowsOf(shopId), source, query, fields)
  }
}

/** The first rows of a query by their ids that fit into a page, at least one. */
async function firstRows<Row> (
  on: Knex,
  { fields }: RecordMapping,
  matching: Knex.QueryBuilder,
  limit: number
): Promise<Row[]> {
  const page = matching.clone().select('*').orderBy('id').limit(limit)
  const sized = on.select('*', on.raw('sum(bytes) over (order by id) as bytes_so_far')).from(page.as('page'))
  const item = on.select('*').from(sized.as('sized')).where('bytes_so_far', '<=', MAX_PAGE_BYTES).orWhere(
    'bytes_so_far',
    on.ref('bytes')
  )
  return await on.select([...fields]).from(item.as('item') as never).orderBy('item.id')
}
