import { isDeepStrictEqual } from 'node:util'
import type { Knex } from 'knex'
import type { Actor } from './caller.ts'

type Fields = Readonly<Record<string, unknown>>

/** A change of a record, without anything secret. */
export interface Change {
  /** Null if the record belongs to no shop. */
  readonly shopId: string | null
  readonly recordKind: 'api_key' | 'member' | 'pay_key' | 'shop' | 'shop_config' | 'user'
  readonly recordId: string
  /** The fields before the change; null for a new record. */
  readonly before: Fields | null
  /** The same fields after it; null for a deleted record. */
  readonly after: Fields | null
}

/** Records a change in the audit trail, in the transaction that makes it, so that neither exists without the other. */
export async function recordChange (
  trx: Knex.Transaction, { kind, id, operation, requestId }: Actor, change: Change
): Promise<void> {
  const { shopId, recordKind, recordId, before, after } = change
  await trx('audit').insert({
    shop_id: shopId,
    actor_kind: kind,
    actor_id: id,
    operation,
    action: before === null ? 'create' : after === null ? 'delete' : 'update',
    record_kind: recordKind,
    record_id: recordId,
    changes: JSON.stringify(differences(before ?? {}, after ?? {})),
    request_id: requestId
  })
}

/** The fields that differ, with both values; a missing value is null. */
function differences (before: Fields, after: Fields): Readonly<Record<string, { readonly before: unknown, readonly after: unknown }>> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return Object.fromEntries(names
    .map((name) => [name, { before: before[name] ?? null, after: after[name] ?? null }] as const)
    .filter(([, value]) => !isDeepStrictEqual(value.before, value.after)))
}

/** Only the named fields of a record. */
export function fieldsOf (record: object, names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, (record as Fields)[name]]))
}
