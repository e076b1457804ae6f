import { groupBy } from '../group-by.ts'
import { texts } from '../texts.ts'

/** An entry of the history, as the server lists it. */
export interface Entry {
  readonly id: string
  readonly at: string
  readonly actor_kind: string
  readonly actor_id: string | null
  readonly actor_name: string | null
  readonly actor_prefix?: string | null
  readonly operation: string
  readonly tool?: string | null
  /** The client in which a person confirmed it. */
  readonly confirmed?: string | null
  readonly action: 'create' | 'update' | 'delete' | 'event'
  readonly record_kind: string
  readonly record_id: string
  readonly record_name?: string | null
  readonly changes: Readonly<Record<string, { readonly before: unknown, readonly after: unknown }>>
  readonly affected?: Readonly<Record<string, number>>
  readonly request_id: string | null
  readonly reverts?: string | null
  readonly reverted_by?: string | null
  readonly revertible?: boolean
}

/** Who did it, by name where there is one. */
export function actorOf ({ actor_kind: kind, actor_id: id, actor_name: name }: Entry): string {
  return name ?? (id === null ? texts.activity.actors[kind] ?? kind : `${texts.activity.actors[kind] ?? kind} ${shortId(id)}`)
}

/** What it was done to: its name, or its kind and the start of its id. */
export function recordOf ({ record_kind: kind, record_id: id, record_name: name }: Pick<Entry, 'record_kind' | 'record_id'> & { readonly record_name?: string | null | undefined }): string {
  return name ?? `${texts.activity.kinds[kind] ?? kind} ${shortId(id)}`
}

/** Enough of a UUID to tell it from others on the page. */
function shortId (id: string): string {
  return /^[0-9a-f]{8}-/.test(id) ? id.slice(0, 8) : id
}

/** The names of the changed fields, in words; creations and deletions name none. */
export function changedFields ({ action, changes }: Pick<Entry, 'action' | 'changes'>, most = 3): string {
  const names = Object.keys(changes)
  if (action !== 'update' || names.length === 0) return ''
  return texts.activity.fields(names.slice(0, most).map(fieldName).join(', '), Math.max(names.length - most, 0))
}

/** `price_amount` is `price amount`. */
export function fieldName (field: string): string {
  return field.replaceAll('_', ' ')
}

/**
 * A value of a field as text: strings as they are, amounts as money, everything else as JSON.
 *
 * @param money - writes an amount in its currency; without it an amount is a number of minor units
 */
export function valueText (value: unknown, field = '', money?: (amount: number) => string): string {
  if (typeof value === 'number' && field.endsWith('amount') && money !== undefined) return money(value)
  if (value === null || value === undefined || value === '') return texts.activity.nothing
  return typeof value === 'string' ? value : JSON.stringify(value, null, Array.isArray(value) && value.every((item) => typeof item !== 'object') ? 0 : 1)
}

/** Entries by their day in a time zone, in their order: `2026-11-23` with those of that day. */
export function byDay<Row extends Pick<Entry, 'at'>> (entries: readonly Row[], timeZone: string): ReadonlyArray<readonly [day: string, entries: readonly Row[]]> {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  return [...groupBy(entries, ({ at }) => format.format(new Date(at)))]
}
