import { visible } from '../../../../shared/visible.ts'
import type { HistoryEntry } from '../../../shop/src/history/schemas.ts'
import { groupBy } from '../group-by.ts'
import { numberText } from '../money.ts'
import { statusText, type Texts, texts } from '../texts.ts'
import { countText, exactTimeText, type Manner } from '../times.ts'

/** An entry of the history, as the server lists it. */
export type Entry = typeof HistoryEntry['static']

/** Whether the viewer can undo it, as far as is known before they try. */
export function canUndo ({ revertible, reverted_by: by }: Pick<Entry, 'revertible' | 'reverted_by'>): boolean {
  return revertible === true && by == null
}

/** Who did it, by name where there is one. */
export function actorOf (
  { actor_kind: kind, actor_id: id, actor_name: name }: Pick<Entry, 'actor_kind' | 'actor_id' | 'actor_name'>
): string {
  return shown(name) ??
    (id === null ? texts.activity.actors[kind] ?? kind : `${texts.activity.actors[kind] ?? kind} ${shortId(id)}`)
}

/** What it was done to: its name, or its kind and the start of its id. */
export function recordOf (
  { record_kind: kind, record_id: id, record_name: name }: Pick<Entry, 'record_kind' | 'record_id'> & {
    readonly record_name?: string | null | undefined
  }
): string {
  return shown(name) ?? texts.activity.single[kind] ?? `${texts.activity.kinds[kind] ?? kind} ${shortId(id)}`
}

/** A name, with what cannot be seen in it named. */
function shown (name: string | null | undefined): string | undefined {
  return name == null ? undefined : visible(name)
}

/** How many records of a kind: `1 product`, `50 products`, `the settings`. */
export function recordsText (kind: string, count: number, locale: string): string {
  const { single, kinds, work: { many } } = texts.activity
  return single[kind] ?? `${countText(count, locale)} ${(count === 1 ? kinds : many)[kind] ?? kind}`
}

/** The same by the names of lists, which `affected` has. */
export function affectedText (affected: Readonly<Record<string, number>>, locale: string): string {
  return Object.entries(affected).map(([list, count]) => recordsText(kindOf(list), count, locale)).join(', ')
}

/** The kind of the records of a list: `product` of `products`; a list that nobody knows is its own. */
export function kindOf (list: string): string {
  return Object.entries(LISTS).find(([, name]) => name === list)?.[0] ?? list
}

/** Enough of a UUID to tell it from others on the page. */
function shortId (id: string): string {
  return /^[0-9a-f]{8}-/.test(id) ? id.slice(0, 8) : id
}

/** The names of the changed fields, in words; creations and deletions name none. */
export function changedFields (
  { action, changes, record_kind: kind }: Pick<Entry, 'action' | 'changes' | 'record_kind'>,
  most = 3
): string {
  const names = Object.keys(changes)
  if (action !== 'update' || names.length === 0) return ''
  return texts.activity.fields(
    names.slice(0, most).map((name) => fieldName(name, kind)).join(', '),
    Math.max(names.length - most, 0)
  )
}

const LISTS: Readonly<Record<string, keyof Texts['names']>> = {
  product: 'products',
  category: 'categories',
  tag: 'tags',
  attribute: 'attributes',
  price: 'prices',
  order: 'orders',
  account: 'accounts',
  api_key: 'api-keys',
  shop: 'shops'
}

/** `price_amount` of a product is `Price`; a field without a name of its own is its words. */
export function fieldName (field: string, kind: string): string {
  const list = LISTS[kind]
  const names: Readonly<Record<string, string>> = list === undefined ? {} : texts.names[list].fields
  return names[field] ?? texts.activity.otherFields[field] ?? field.replaceAll('_', ' ')
}

/** How the values of a record are written. */
interface Writing {
  /** Writes an amount in its currency; without it an amount is a number of minor units. */
  readonly money?: (amount: number) => string
  /** The name of a record by its id, if it is known. */
  readonly nameOf?: (id: string) => string | undefined
  /** The unit of an attribute. */
  readonly unitOf?: (id: string) => string | undefined
  readonly manner?: Manner
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]{2,9}Z$/

/** A value of a field as people read it; objects that nobody knows are JSON. */
export function valueText (value: unknown, field = '', writing: Writing = {}): string {
  const { money, nameOf, unitOf, manner } = writing
  if (value === null || value === undefined || value === '') return texts.activity.nothing
  if (typeof value === 'boolean') return value ? texts.products.yes : texts.products.no
  if (typeof value === 'number') {
    if (field.endsWith('amount') && money !== undefined) return money(value)
    return manner === undefined ? String(value) : numberText(value, manner.locale)
  }
  if (typeof value === 'string') {
    if (field === 'status') return statusText(value)
    if (/_ids?$/.test(field) && nameOf !== undefined) return nameOf(value) ?? shortId(value)
    return manner !== undefined && INSTANT.test(value) ? exactTimeText(value, manner) : value
  }
  if (Array.isArray(value)) {
    if (value.length === 0) return texts.activity.nothing
    if (field === 'image_urls') return value.join('\n')
    if (field === 'attributes') {
      return value.map(({ attribute_id: id, value }) =>
        [`${nameOf?.(id) ?? shortId(id)}:`, valueText(value, '', writing), unitOf?.(id)].filter((part) =>
          part !== undefined
        ).join(' ')
      ).join('\n')
    }
    if (value.every((item) => typeof item !== 'object')) {
      return value.map((item) => valueText(item, field, writing)).join(', ')
    }
  }
  return Object.keys(value).length === 0 ? texts.activity.nothing : JSON.stringify(value, null, 1)
}

/** Entries by their day in a time zone, in their order: `2026-11-23` with those of that day. */
export function byDay<Row extends Pick<Entry, 'at'>> (
  entries: readonly Row[],
  timeZone: string
): ReadonlyArray<readonly [day: string, entries: readonly Row[]]> {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  return [...groupBy(entries, ({ at }) => format.format(new Date(at)))]
}
