import { isDeepStrictEqual } from 'node:util'
import type { Knex } from 'knex'
import type { Actor } from './caller.ts'

type Fields = Readonly<Record<string, unknown>>

/** A change of a record, without anything secret. */
export interface Change {
  /** Null for a record of no shop. */
  readonly shopId: string | null
  readonly recordKind: 'api_key' | 'member' | 'pay_key' | 'shop' | 'shop_config' | 'user'
  readonly recordId: string
  /** The fields as they were; null for a record that is new. */
  readonly before: Fields | null
  /** The same fields as they are; null for a record that is gone. */
  readonly after: Fields | null
}

/** Writes a change into the audit trail, in the transaction that makes it: there is neither without the other. */
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

/** The fields that differ, with both values; null where there is none. */
function differences (before: Fields, after: Fields): Readonly<Record<string, { readonly before: unknown, readonly after: unknown }>> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return Object.fromEntries(names
    .map((name) => [name, { before: before[name] ?? null, after: after[name] ?? null }] as const)
    .filter(([, value]) => !isDeepStrictEqual(value.before, value.after)))
}

/** The fields of a record that a change names, and only these. */
export function fieldsOf (record: object, names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, (record as Fields)[name]]))
}
