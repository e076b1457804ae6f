import type { Knex } from 'knex'
import type { Actor } from '../access/caller.ts'

type Fields = Readonly<Record<string, unknown>>

/** The kinds of records whose changes the history has, in the order of the documentation. */
export type RecordKind = 'product' | 'category' | 'tag' | 'attribute' | 'price' | 'account' | 'order' | AccessKind

/** The kinds that the audit trail covers. */
export type AccessKind = 'shop_config' | 'api_key' | 'member' | 'pay_key' | 'shop' | 'user'

/** A change of a record, without anything secret. */
export interface Change {
  /** Null if the record belongs to no shop. */
  readonly shopId: string | null
  readonly recordKind: AccessKind
  readonly recordId: string
  /** The record's name, for people. Default: its field `name`, if it has one. */
  readonly recordName?: string | null
  /** The fields before the change; null for a new record. */
  readonly before: Fields | null
  /** The same fields after it; null for a deleted record. */
  readonly after: Fields | null
  /** Whether the change is recorded even if the fields are equal, since what differs is secret. Default: false. */
  readonly evenIfEqual?: boolean
}

/** Records a change in the history, in the transaction that makes it, so that neither exists without the other. */
export async function recordChange (trx: Knex.Transaction, actor: Actor, change: Change): Promise<void> {
  const { shopId, recordKind, recordId, recordName = null, before, after, evenIfEqual = false } = change
  await trx.raw('select record_change(?::jsonb, ?::uuid, ?, ?, ?, ?::jsonb, ?::jsonb, null, ?)', [
    actorJson(actor),
    shopId,
    recordKind,
    recordId,
    recordName,
    before && JSON.stringify(before),
    after && JSON.stringify(after),
    evenIfEqual
  ] as Knex.RawBinding[])
}

/** What a statement on a record says of itself, each in SQL: the facts of the record before and after it. */
interface RecordedInSql {
  readonly recordKind: RecordKind
  /** Null for a new record. */
  readonly before: string | Knex.Raw | null
  /** Null for a deleted record. */
  readonly after: string | Knex.Raw | null
  /** Facts that a revert of the deletion needs besides the fields. Default: none. */
  readonly kept?: string
}

/**
 * A column for a statement whose rows, named `item`, are records that it changes: it records the change. Nothing is
 * recorded if the facts are equal.
 */
export function recorded (
  knex: Knex,
  actor: Actor,
  { recordKind, before, after, kept = 'null' }: RecordedInSql
): Knex.Raw {
  const sql = (facts: RecordedInSql['before']): Knex.Raw =>
    typeof facts === 'string' ? knex.raw(facts) : facts ?? knex.raw('null')
  return knex.raw(`record_change(?::jsonb, item.shop_id, ?, item.id::text, null, ?, ?, ${kept}, false) as recorded`, [
    actorJson(actor),
    recordKind,
    sql(before),
    sql(after)
  ])
}

/** What a statement says of each of the records that it changes, in SQL. */
interface ManyRecordedInSql {
  readonly recordKind: RecordKind
  readonly before: string
  readonly after: string
  readonly kept?: string
  /** The id of the change that this one reverts. */
  readonly reverts: string
}

/**
 * Records changes of several records, in a statement whose rows, named `item`, are these records. Those whose facts are
 * equal are left out.
 *
 * @param rows - SQL from `from`
 * @returns SQL that reads the ids of the records as `of_record`, and of their entries as `entry`
 */
export function recordedMany (
  knex: Knex,
  actor: Actor,
  { recordKind, before, after, kept = 'null', reverts }: ManyRecordedInSql,
  rows: Knex.Raw
): Knex.Raw {
  return knex.raw(
    `select of_record, entry from record_changes(?::jsonb, ?, array(
    select row(item.shop_id, item.id::text, ${before}, ${after}, ${kept}, ${reverts})::record_change ?
  ))`,
    [actorJson(actor), recordKind, rows]
  )
}

function actorJson (
  { kind, id, name = null, operation, tool = null, confirmed = null, requestId, reverts = null }: Actor
): string {
  return JSON.stringify({ kind, id, name, operation, tool, confirmed, request_id: requestId, reverts })
}

/** Only the named fields of a record. */
export function fieldsOf (record: object, names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, (record as Fields)[name]]))
}
