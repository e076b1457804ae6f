import type { Knex } from 'knex'
import type { AccessKind, RecordKind } from './trail.ts'

/** What the history has of the records themselves: members of a shop read it, and the server forgets it in time. */
export const RECORD_KINDS: ReadonlyArray<Exclude<RecordKind, AccessKind>> = [
  'product',
  'category',
  'tag',
  'attribute',
  'price',
  'account',
  'order'
]

/** What the audit trail has: who may do what, and settings. It is kept. */
export const ACCESS_KINDS: readonly AccessKind[] = ['shop_config', 'api_key', 'member', 'pay_key', 'shop', 'user']

/** Narrows a query of the history to the entries that a caller may see. */
export type SeenEntries = (entries: Knex.QueryBuilder) => void

/** Staff see what happened to records and settings; owners everything. */
export function seenBy (isOwner: boolean): SeenEntries {
  return (entries) => {
    if (!isOwner) entries.whereIn('record_kind', [...RECORD_KINDS, 'shop_config'])
  }
}

/** Narrows a query of the history to entries until a time, of that millisecond too. */
export function notAfter (until: string): SeenEntries {
  return (entries) => {
    entries.whereRaw("at < ?::timestamptz + interval '1 ms'", [new Date(until).toISOString()])
  }
}

/** Changes that can be reverted. An order has its own states; keys, members and shops have security to lose. */
export const REVERTIBLE_KINDS = [
  'product',
  'category',
  'tag',
  'attribute',
  'price',
  'account',
  'shop_config'
] as const satisfies readonly RecordKind[]

/** Those of {@link REVERTIBLE_KINDS} that a caller may change: settings are the owners'. */
export function revertibleBy (isOwner: boolean): readonly RecordKind[] {
  return REVERTIBLE_KINDS.filter((kind) => isOwner || kind !== 'shop_config')
}
