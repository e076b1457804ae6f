import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { namedStatement } from '../database/named-statement.ts'

/** How many counts are remembered for each table. */
const MAX_COUNTS = 1000

/** A count, and the state of the records that it is true of. */
interface Known {
  readonly state: string
  readonly count: number
  /** How many records the shop has. */
  readonly length: number
}

/** Counts the records of shops. */
export interface Counts {
  /**
   * @param filter - undefined: all records of the shop
   * @param counted - a query that counts the records
   * @param isStated - whether the state is needed without a filter, too
   * @returns a query of one row: `matching_count`, and the state and number of the records as `matching_state` and
   *   `matching_of`
   */
  query(shopId: string, filter: object | undefined, counted: Knex.QueryBuilder, isStated?: boolean): Knex.Raw
  /** The state of the records of a shop: that of another time or another server is the same only if they are. */
  state(shopId: string, on?: Knex): Promise<string>
  /** What the query found the last time; the records may have changed since. */
  last(shopId: string, filter: object): Known | undefined
  /** Remembers what the query found. */
  remember(shopId: string, filter: object | undefined, found: Known): void
}

/** The state of the records whose lines of `shop_usage` are read. */
const STATE = "coalesce(md5(string_agg(id::text, ',' order by id)), '')"

/**
 * Counts without reading the records, where that is possible: the lines of `shop_usage` add up to the number of records
 * of a shop, and a count with a filter is remembered until the records of the shop change. The statement that reads a
 * page compares their state, so a count is as exact as one that was just made, also when other servers write.
 *
 * @param table - one whose changes leave lines in `shop_usage`. A change of rows that only filters read, such as the
 *   lines of an order, has to touch the record
 * @param others - tables that filters read, too: a count with a filter is true only while they are as they were
 */
export function createCounts (knex: Knex, table: string, others: readonly string[] = []): Counts {
  const kinds = [table, ...others]
  const length = `coalesce(sum(records) filter (where kind = '${table}'), 0)::bigint`
  const known = new Map<string, Known>()
  const stateOf = namedStatement<{ readonly state: string }>(
    knex,
    `select ${STATE} as state from shop_usage where shop_id = ? and kind = any(?)`
  )

  return {
    query (shopId, filter, counted, isStated = false) {
      const lines = knex('shop_usage').where({ shop_id: shopId }).whereIn('kind', kinds).select('id', 'kind', 'records')
        .as('lines')
      if (filter === undefined) {
        return knex.raw(
          `select ${length} as matching_count, ${isStated ? STATE : "''"} as matching_state, 0 as matching_of from ?`,
          [lines]
        )
      }
      const { state = null, count = null } = known.get(keyOf(shopId, filter)) ?? {}
      return knex.raw(
        'select case when matching_state = ? then ?::bigint else ? end as matching_count, matching_state, ' +
          'matching_of from ?',
        [
          state,
          count,
          counted,
          knex.select(knex.raw(`${STATE} as matching_state, ${length} as matching_of`)).from(lines as never).as('lines')
        ] as Knex.RawBinding[]
      )
    },

    state: async (shopId, on) => (await stateOf([shopId, kinds], on))[0]!.state,

    last: (shopId, filter) => known.get(keyOf(shopId, filter)),

    remember (shopId, filter, found) {
      if (filter === undefined) return
      const key = keyOf(shopId, filter)
      // The one that was used longest ago is the first.
      known.delete(key)
      known.set(key, found)
      if (known.size > MAX_COUNTS) known.delete(known.keys().next().value!)
    }
  }
}

/** Short, since a filter can have hundreds of ids. */
function keyOf (shopId: string, filter: object): string {
  return createHash('sha256').update(JSON.stringify([shopId, filter])).digest('base64url')
}
