import type { Static, TObject } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { namedStatement, namedStatements, textOf } from '../database/named-statement.ts'
import { replicaOf } from '../database/replica.ts'
import { tried } from '../database/tried.ts'
import { updatedAt } from '../database/updated-at.ts'
import { notFound, notKnown } from '../errors.ts'
import { type RecordKind, recorded, recordedMany } from './trail.ts'
import { isJson } from '../http/schema-types.ts'
import { ownFields } from './schemas.ts'
import { serverFields } from '../http/schemas.ts'
import type { Precondition } from '../http/versions.ts'
import { createCounts } from '../lists/counts.ts'
import type { RecordTable } from '../migrations/counting.ts'
import type { ListQuery, ListRules, Page } from '../lists/list.ts'
import { pageOf, SNAPSHOT } from '../lists/page.ts'
import { MAX_PAGE_BYTES, namedPages } from '../lists/page-statement.ts'
import { affectedBy, columnsOf, type Dependents, keptLinks, restoreLinks, touch, writable } from './dependents.ts'
import { holdShop } from '../access/hold.ts'
import type { ShopScope } from '../access/scope.ts'

/** How many statements that write have names: one for each set of fields that callers send. */
const MAX_WRITES = 10

/** The differences between the repositories of records. */
interface Records<Schema extends TObject> extends Pick<ListRules, 'filters' | 'nullable'> {
  readonly table: string
  /** Its fields are columns, except computed ones. */
  readonly record: Schema
  /** For messages, and in the history: `product`. */
  readonly noun: RecordKind
  /** The fields that are no columns: SQL over the row, which is named `item`. */
  readonly computed?: Readonly<Record<string, string>>
  /** Other tables that filters read. */
  readonly others?: readonly RecordTable[]
  /** What columns without null are in a record that was deleted before there were these columns. */
  readonly initial?: Readonly<Record<string, unknown>>
  /** Columns that the history has in another form, beside instants: SQL over the row. */
  readonly shown?: Readonly<Record<string, (row: string) => string>>
  /** Rows that lose a link to a deleted row, or are deleted with it. */
  readonly dependents?: readonly Dependents[]
  /** Further work of a deletion, in its transaction. @param id - as the database writes it */
  readonly onRemoved?: (trx: Knex.Transaction, id: string) => Promise<void>
}

/** The facts of a record, as the history has them. */
export type Facts = Readonly<Record<string, unknown>>

/** Columns to write. */
type Values = Readonly<Record<string, unknown>>

/** The effects of a deletion. */
export interface Deletion<Row> {
  readonly row: Row
  /** How many rows of other tables lose a link to it or are deleted with it, by table. */
  readonly affected: Readonly<Record<string, number>>
}

/** A change of one of several rows. */
export interface ManyChange {
  readonly id: string
  readonly before: Facts | null
  readonly reverts?: string
}

/** Columns that the server sets or computes. */
const NO_FACTS = "'{id,shop_id,created_at,updated_at,bytes,part_bytes}'::text[]"

/**
 * Reads and writes the rows of one table, always within one shop. Rows of other shops count as missing. Every change is
 * recorded in the history, by the statement that makes it.
 *
 * Methods take the caller's transaction as `on`; by default they use the pool.
 */
export function recordRepository<Schema extends TObject, Row = Static<Schema>> (
  knex: Knex,
  {
    table,
    noun,
    record,
    filters,
    nullable,
    computed = {},
    others = [],
    initial = {},
    shown: shownOtherwise = {},
    dependents = [],
    onRemoved
  }: Records<Schema>
) {
  const columns = ownFields(record).filter(([name]) => !(name in computed))
  const jsonColumns = columns.filter(([, schema]) => isJson(schema)).map(([name]) => name)
  const written = [...Object.keys(serverFields), ...columns.map(([name]) => name)]
  const instants = columns.filter(([, schema]) => schema['format'] === 'date-time').map(([name]) => name)
  const shown: typeof shownOtherwise = {
    ...Object.fromEntries(instants.map((name) => [name, (row) => `json_instant(${row}.${name})`])),
    ...shownOtherwise
  }
  const fields = ['item.*', ...Object.entries(computed).map(([name, sql]) => knex.raw(`${sql} as ??`, [name]))]
  const below = dependents.filter((linked) => linked.table === table).map(({ to }) => to)

  const counts = createCounts(knex, table, others)
  const runWrite = namedStatements<Row>(knex, MAX_WRITES)
  const byId = namedStatement<Row>(
    knex,
    `select ${fields.join(', ')} from "${table}" as item where shop_id = ? and id = ?`
  )
  const replica = replicaOf(knex)
  const pageAtPrimary = pagesFrom(knex)
  const pageAtReplica = replica && pagesFrom(replica.database.knex, true)

  /** Reads pages of lists on a server. @param isStated - whether they have the state of the records */
  function pagesFrom (on: Knex, isStated = false): (shop: ShopScope, query: ListQuery) => Promise<Page<Row>> {
    const rowsOf = (shopId: string): Knex.QueryBuilder => on(table).where({ shop_id: shopId })
    const named = namedPages(on, rowsOf)
    const byIds = namedStatement<Row & { readonly xmin: string }>(
      on,
      `select ${fields.join(', ')}, item.xmin from "${table}" as item where shop_id = ? and id = any(?)`
    )
    return async ({ id: shopId }, query) =>
      await pageOf<Row>(
        on,
        rowsOf(shopId),
        {
          filters,
          nullable,
          sized: true,
          counted: { by: counts, shopId },
          isStated,
          named,
          // The state is that of one statement.
          ...!isStated && { byIds: async (ids, on) => await byIds([shopId, [...ids]], on) }
        },
        query,
        fields
      )
  }

  /** Reads the first rows of a query by their ids, fewer if they are large. */
  async function firstOf (on: Knex, matching: Knex.QueryBuilder, limit: number): Promise<Row[]> {
    const sized = on.select('*', on.raw('sum(bytes) over (order by id) as bytes_so_far')).from(
      matching.clone().select('*').orderBy('id').limit(limit).as('page')
    )
    const item = on.select('*').from(sized.as('sized')).where('bytes_so_far', '<=', MAX_PAGE_BYTES).orWhere(
      'bytes_so_far',
      on.ref('bytes')
    )
    return await on.select(fields).from(item.as('item') as never).orderBy('item.id')
  }

  /** The facts that are in the row itself: all that a statement on the row can change. */
  const rowFacts = (row: string): string => `(to_jsonb(${row}) - ${NO_FACTS})${objectOf(shown, (sql) => sql(row))}`
  /** All of them, of `item`. */
  const facts = `(${rowFacts('item')}${objectOf(computed, (sql) => sql)})`
  /** What restores `item`, beside its facts. */
  const kept = "jsonb_build_object('row', " +
    `jsonb_build_object(${
      ['created_at', ...Object.keys(shown)].map((name) => `'${name}', item.${name}`).join(', ')
    }), ` +
    `'links', ${keptLinks(dependents)})`

  /**
   * Values as their columns take them: JSON as text, and instants in UTC, since PostgreSQL does not accept every offset
   * that RFC 3339 allows.
   */
  function stored (values: Values): Values {
    // In one order, so that the same fields are the same statement.
    const changed: Record<string, unknown> = Object.fromEntries(
      Object.entries(values).sort(([a], [b]) => a < b ? -1 : 1)
    )
    for (const name of jsonColumns) if (isPlain(changed[name])) changed[name] = JSON.stringify(changed[name])
    for (const name of instants) {
      if (typeof changed[name] === 'string') changed[name] = new Date(changed[name]).toISOString()
    }
    // Columns of a newer version, as the history has them: the database knows their types.
    for (const [name, value] of Object.entries(changed)) {
      if (!written.includes(name)) {
        changed[name] = knex.raw('(jsonb_populate_record(null::??, ?::jsonb)).??', [
          table,
          JSON.stringify({ [name]: value }),
          name
        ])
      }
    }
    return changed
  }

  /**
   * Locks the row before its deletion, so that new links to it wait. Also locks rows of the same table that depend on
   * it, in the order of their ids, as writers of several links do.
   */
  async function lock (trx: Knex.Transaction, shop: ShopScope, id: string): Promise<void> {
    const rows = trx(table).where({ shop_id: shop.id }).where((any) => {
      any.where({ id })
      for (const column of below) any.orWhere({ [column]: id })
    })
    await rows.orderBy('id').forUpdate().select('id')
  }

  /** The facts of a locked row, as JSON; undefined if there is none. */
  async function factsOf (shop: ShopScope, id: string, trx: Knex.Transaction): Promise<string | undefined> {
    await trx(table).where({ shop_id: shop.id, id }).forNoKeyUpdate().select('id')
    // In another statement, which sees what others committed while this one waited.
    const row = await trx.select(trx.raw(`${facts}::text as facts`)).from({ item: table }).where({
      shop_id: shop.id,
      id
    }).first()
    return row?.facts
  }

  /** Reads a row after several statements have changed it, and records the change. */
  async function settle (shop: ShopScope, id: string, before: string | null, trx: Knex.Transaction): Promise<Row> {
    const change = recorded(trx, shop.caller, {
      recordKind: noun,
      before: before && trx.raw('?::jsonb', [before]),
      after: facts
    })
    const row = await trx.select([...fields, change]).from({ item: table }).where({ shop_id: shop.id, id }).first()
    if (row === undefined) throw notFound(noun, id)
    return row
  }

  /**
   * The effects of a deletion.
   *
   * @throws {@link SHOP_NOT_FOUND}
   */
  async function deletion (shop: ShopScope, id: string, on: Knex = knex): Promise<Deletion<Row>> {
    const row = await on.select(['item.*', on.raw(`${affectedBy(dependents)} as affected`)]).from({ item: table })
      .where({ shop_id: shop.id, id }).first()
    if (row === undefined) throw notFound(noun, id)
    return { row, affected: row.affected }
  }

  /** @throws {@link SHOP_NOT_FOUND} */
  async function get (shop: ShopScope, id: string, on: Knex = knex): Promise<Row> {
    const [row] = await byId([shop.id, id], on)
    if (row === undefined) throw notFound(noun, id)
    return row
  }

  return {
    /** @returns one page, and how many rows match in all */
    async list (shop: ShopScope, query: ListQuery): Promise<Page<Row>> {
      const page = pageAtReplica &&
        await replica!.read(async () => await counts.state(shop.id), async () => await pageAtReplica(shop, query))
      return page ?? await pageAtPrimary(shop, query)
    },

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
          await trx(table).where({ shop_id: shop.id, id }).forNoKeyUpdate().select('id')
          precondition(await get(shop, id, trx) as Row & { readonly updated_at: string })
          return await work(trx)
        })
      )
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
            { state: await counts.state(shop.id, trx), rows: await firstOf(trx, matching, limit) }
          ), SNAPSHOT)
      )
      return found?.rows ?? await firstOf(knex, matching, limit)
    },

    deletion,

    /** @returns the stored row, without computed fields */
    async insert (shop: ShopScope, values: Values, on: Knex = knex): Promise<Row> {
      const statement = on.with('written', on(table).insert({ ...stored(values), shop_id: shop.id }).returning('*'))
        .select('item.*', recorded(on, shop.caller, { recordKind: noun, before: null, after: rowFacts('item') })).from({
          item: 'written'
        })
      const [row] = await runWrite(...textOf(statement), on)
      return row!
    },

    /** Creates a record of several rows: `work` adds the others. */
    async insertWith (
      shop: ShopScope,
      values: Values,
      trx: Knex.Transaction,
      work: (id: string) => Promise<void>
    ): Promise<Row> {
      const [{ id }] = await trx(table).insert({ ...stored(values), shop_id: shop.id }).returning('id')
      await work(id)
      return await settle(shop, id, null, trx)
    },

    /**
     * Changes the given columns. Without any it only locks the row.
     *
     * @throws {@link SHOP_NOT_FOUND}
     */
    async update (shop: ShopScope, id: string, values: Values, on: Knex = knex): Promise<Row> {
      const statement = on
        .with('earlier', on(table).where({ shop_id: shop.id, id }).forNoKeyUpdate().select('*'))
        .with(
          'written',
          on(table).where({ shop_id: shop.id }).where('id', on.select('id').from('earlier'))
            .update({ updated_at: updatedAt(knex, values), ...stored(values) }).returning('*')
        )
        .select([
          ...fields,
          recorded(on, shop.caller, { recordKind: noun, before: rowFacts('earlier'), after: rowFacts('item') })
        ])
        .from({ item: 'written' }).crossJoin('earlier' as never)
      const [row] = await runWrite(...textOf(statement), on)
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
      const before = await factsOf(shop, id, trx)
      if (before === undefined) throw notFound(noun, id)
      await trx(table).where({ shop_id: shop.id, id }).update({ updated_at: updatedAt(trx, values), ...stored(values) })
      await work()
      return await settle(shop, id, before, trx)
    },

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
      if (names?.some((name) => name in computed) ?? true) {
        const found = await factsOf(shop, id, trx)
        return found === undefined ? undefined : JSON.parse(found)
      }
      return (await trx.select(trx.raw(`${rowFacts('item')} as facts`)).from({ item: table }).where({
        shop_id: shop.id,
        id
      }).forNoKeyUpdate().first())?.facts
    },

    /** @returns what the history would say of rows, by id */
    async factsOfMany (shop: ShopScope, ids: readonly string[], on: Knex = knex): Promise<ReadonlyMap<string, Facts>> {
      if (ids.length === 0) return new Map()
      const found: Array<{ id: string, facts: Facts }> = await on.select('id', on.raw(`${facts} as facts`)).from({
        item: table
      })
        .where({ shop_id: shop.id }).whereRaw('id = any(?::uuid[])', [[...ids]])
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
     * @param changes - before: null for new rows; reverts: the change that it takes back
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
      await trx.raw('with gone as (delete from ?? where shop_id = ? and id = any(?::uuid[]) returning *) ?', [
        table,
        shop.id,
        [...changes.keys()],
        recordedMany(trx, shop.caller, {
          recordKind: noun,
          before: facts,
          after: 'null',
          kept,
          reverts: 'given.reverts'
        }, rows)
      ])
    },

    /**
     * @param check - sees the effects once nothing can change them, and may throw
     * @throws {@link SHOP_NOT_FOUND} | {@link SHOP_GONE}
     */
    async remove (
      shop: ShopScope,
      id: string,
      on: Knex = knex,
      check?: (deletion: Deletion<Row>) => void
    ): Promise<void> {
      const remove = async (on: Knex): Promise<unknown[]> =>
        await on.with('gone', on(table).where({ shop_id: shop.id, id }).delete().returning('*'))
          .select(recorded(on, shop.caller, { recordKind: noun, before: facts, after: null, kept })).from({
            item: 'gone'
          })
      const gone = dependents.length === 0
        ? await remove(on)
        : await on.transaction(async (trx) => {
          // Takes turns with moves of rows below this one.
          await holdShop(trx, shop, { alone: below.length > 0 })
          await lock(trx, shop, id)
          check?.(await deletion(shop, id, trx))
          for (const linked of dependents) await touch(trx, shop, id, linked)
          const removed = await remove(trx)
          if (removed.length > 0) await onRemoved?.(trx, id.toLowerCase())
          return removed
        })
      if (gone.length === 0) throw notFound(noun, id)
    },

    /**
     * Restores a deleted row and its links, as the history has them: with the columns of a newer version, too.
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
      const { rows: [{ fields: told, links, columns: all }] } = await trx.raw(
        `
        select to_jsonb(array(select jsonb_object_keys(changes))) as fields,
          to_jsonb(array(select key from jsonb_each(restore->'links') where value <> '[]')) as links,
          ${columnsOf(table)} as columns
        from history where id = ?`,
        [change]
      )
      const unknown = (links as readonly string[]).find((name) =>
        !dependents.some(({ table: linked }) => linked === name)
      )
      if (unknown !== undefined) throw notKnown(unknown)
      const names = [
        ...new Set([...written, ...writable((told as readonly string[]).filter((name) => !(name in computed)), all)])
      ]
      await trx.raw(
        `
        insert into ?? (${names.map(() => '??').join(', ')})
        select ${names.map(() => 'item.??').join(', ')}
        from history, jsonb_populate_record(null::??, ?::jsonb
          || jsonb_build_object('id', record_id, 'shop_id', shop_id, 'updated_at', clock_timestamp())
          || coalesce((select jsonb_object_agg(key, value->'before') from jsonb_each(changes)), '{}')
          || (restore->'row')) item
        where history.id = ?`,
        [table, ...names, ...names, table, JSON.stringify(initial), change]
      )
      await work()
      for (const linked of dependents) await restoreLinks(trx, shop, id, change, linked)
      return await settle(shop, id, null, trx)
    }
  }
}

function isPlain (value: unknown): value is object {
  return Array.isArray(value) ||
    (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
}

/** SQL that adds members to an object. */
function objectOf<Value> (members: Readonly<Record<string, Value>>, sql: (value: Value) => string): string {
  const pairs = Object.entries(members).map(([name, value]) => `'${name}', ${sql(value)}`)
  return pairs.length === 0 ? '' : ` || jsonb_build_object(${pairs.join(', ')})`
}
