import type { Knex } from 'knex'
import { namedStatements, textOf } from '../database/named-statement.ts'
import { updatedAt } from '../database/updated-at.ts'
import { notFound } from '../errors.ts'
import type { ShopScope } from '../access/scope.ts'
import { lockedFacts, settle } from './held.ts'
import type { RecordMapping } from './mapping.ts'
import { columnsAt, type RowPlace } from './row.ts'
import { stored, type Values } from './stored.ts'
import { recorded } from './trail.ts'

/** How many statements that write have names: one for each set of fields that callers send. */
const MAX_WRITES = 10

/** Creates and changes single rows. */
export function recordWrites<Row> (knex: Knex, mapping: RecordMapping) {
  const { table, noun } = mapping
  const run = namedStatements<Row>(knex, MAX_WRITES)

  return {
    /** @returns the stored row, without computed fields */
    async insert (shop: ShopScope, values: Values, on: Knex = knex): Promise<Row> {
      const [row] = await run(...textOf(insertion(on, mapping, shop, values)), on)
      return row!
    },

    /** Creates a record of several rows: `work` adds the others. */
    async insertWith (
      shop: ShopScope,
      values: Values,
      trx: Knex.Transaction,
      work: (id: string) => Promise<void>
    ): Promise<Row> {
      const [{ id }] = await trx(table).insert({ ...stored(trx, mapping, values), shop_id: shop.id }).returning('id')
      await work(id)
      return await settle<Row>(trx, mapping, { shop, id }, null)
    },

    /**
     * Changes the given columns. Without any it only locks the row.
     *
     * @throws {@link SHOP_NOT_FOUND}
     */
    async update (shop: ShopScope, id: string, values: Values, on: Knex = knex): Promise<Row> {
      const [row] = await run(...textOf(change(on, mapping, { shop, id }, values)), on)
      if (row === undefined) throw notFound(noun, id)
      return row
    },

    /**
     * Changes a record of several rows: `work` changes the others.
     *
     * @throws {@link SHOP_NOT_FOUND}
     */
    async updateWith (
      shop: ShopScope,
      id: string,
      values: Values,
      trx: Knex.Transaction,
      work: () => Promise<void>
    ): Promise<Row> {
      const place = { shop, id }
      const before = await lockedFacts(trx, mapping, place)
      if (before === undefined) throw notFound(noun, id)
      await trx(table).where(columnsAt(place)).update({
        updated_at: updatedAt(trx, values),
        ...stored(trx, mapping, values)
      })
      await work()
      return await settle<Row>(trx, mapping, place, before)
    }
  }
}

/** A statement that creates a row and records it. */
function insertion (on: Knex, mapping: RecordMapping, shop: ShopScope, values: Values): Knex.QueryBuilder {
  const { table, noun, rowFacts } = mapping
  const written = on(table).insert({ ...stored(on, mapping, values), shop_id: shop.id }).returning('*')
  const entry = recorded(on, shop.caller, { recordKind: noun, before: null, after: rowFacts('item') })
  return on.with('written', written).select('item.*', entry).from({ item: 'written' })
}

/** A statement that changes a row and records it; it gives no row if there is none. */
function change (on: Knex, mapping: RecordMapping, place: RowPlace, values: Values): Knex.QueryBuilder {
  const { table, noun, rowFacts, fields } = mapping
  const { shop } = place
  const earlier = on(table).where(columnsAt(place)).forNoKeyUpdate().select('*')
  const written = on(table).where({ shop_id: shop.id }).where('id', on.select('id').from('earlier'))
    .update({ updated_at: updatedAt(on, values), ...stored(on, mapping, values) }).returning('*')
  const entry = recorded(on, shop.caller, {
    recordKind: noun,
    before: rowFacts('earlier'),
    after: rowFacts('item')
  })
  return on.with('earlier', earlier).with('written', written).select([...fields, entry])
    .from({ item: 'written' }).crossJoin('earlier' as never)
}
