import { visible } from '../../../../shared/visible.ts'
import { useQuery } from '@tanstack/react-query'
import { useContext } from 'react'
import { type Call, listUrl } from '../api/http.ts'
import { moneyText } from '../money.ts'
import { MANNER } from '../reconcile/manner.ts'
import { ShopContext, useViewer } from '../viewer.tsx'
import { type Entry, fieldName, valueText } from './entry.ts'

/** The fields that hold ids, and the lists that have their records. */
const LINKS: Readonly<Record<string, string>> = {
  tag_ids: 'tags',
  category_ids: 'categories',
  parent_id: 'categories',
  product_id: 'products',
  account_id: 'accounts',
  attributes: 'attributes'
}

/** The records that have amounts, and where they are read. */
const PRICED: Readonly<Record<string, string>> = { product: 'products', price: 'prices', order: 'orders' }

/** Most ids that a filter may have. */
const MOST_IDS = 100

/** What is read of a record that an entry mentions. */
interface Mentioned {
  readonly name?: string | null
  readonly currency?: string
  readonly unit?: string | null
}

/** What differs of a record. */
export type Difference = Pick<Entry, 'changes' | 'record_id' | 'record_kind'>

export interface Words {
  /** The value of a changed field, in people's words. */
  readonly value: (entry: Difference, field: string, end: 'before' | 'after') => string
  /** `Price: $21.00 → $19.99`, from one end to the other, for each of the first fields. */
  readonly change: (entry: Difference, from: 'before' | 'after') => string
}

/** How many fields of a change are told in a line. */
const MOST_FIELDS = 3

/**
 * Names in place of ids, amounts in the currency of their record, times in the zone of the shop around, if there is
 * one.
 */
export function useWords (entries: readonly Difference[]): Words {
  const { call } = useViewer()
  const shop = useContext(ShopContext)
  const manner = shop ?? MANNER
  const wanted = idsIn(entries)
  const { data = new Map<string, Mentioned>() } = useQuery({
    queryKey: ['words', shop?.id, wanted],
    enabled: shop !== undefined && wanted.length > 0,
    queryFn: async () => await readMentioned(call, `/shops/${shop!.id}`, wanted),
    staleTime: 30_000
  })
  const value: Words['value'] = ({ changes, record_id: id }, field, end) => {
    const { currency } = changes
    const code = currency === undefined
      ? data.get(id)?.currency
      : currency[end] ?? currency[end === 'after' ? 'before' : 'after']
    const text = valueText(changes[field]?.[end], field, {
      ...typeof code === 'string' && { money: (amount) => moneyText(amount, code, manner.locale) },
      nameOf: (id) => data.get(id)?.name ?? undefined,
      unitOf: (id) => data.get(id)?.unit ?? undefined,
      manner
    })
    return visible(text, { lines: true })
  }
  return {
    value,
    change: (entry, from) =>
      Object.keys(entry.changes).slice(0, MOST_FIELDS).map((field) =>
        `${fieldName(field, entry.record_kind)}: ${value(entry, field, from)} → ` +
        `${value(entry, field, from === 'before' ? 'after' : 'before')}`
      ).join(' · ')
  }
}

/** The records to read, by their lists, in a fixed order. */
function idsIn (entries: readonly Difference[]): ReadonlyArray<readonly [list: string, ids: readonly string[]]> {
  const found = new Map<string, Set<string>>()
  const add = (list: string, id: unknown): void => {
    if (typeof id === 'string') found.set(list, (found.get(list) ?? new Set()).add(id))
  }
  for (const { changes, record_kind: kind, record_id: recordId } of entries) {
    for (const [field, { before, after }] of Object.entries(changes)) {
      if (field in LINKS) {
        for (const item of [before, after].flat()) {
          add(LINKS[field]!, typeof item === 'object' ? (item as { attribute_id?: string } | null)?.attribute_id : item)
        }
      }
      if (field.endsWith('amount') && kind in PRICED && changes['currency'] === undefined) add(PRICED[kind]!, recordId)
    }
  }
  return [...found].map(([list, ids]) => [list, [...ids].sort().slice(0, MOST_IDS)] as const).sort(([one], [other]) =>
    one < other ? -1 : 1
  )
}

/** Of records that are gone, the history has the name and the currency. */
async function readMentioned (
  call: Call,
  root: string,
  wanted: ReturnType<typeof idsIn>
): Promise<ReadonlyMap<string, Mentioned>> {
  const lists = await Promise.all(
    wanted.map(async ([list, ids]) =>
      (await call<ReadonlyArray<Mentioned & { id: string }>>(
        listUrl(`${root}/${list}`, { filter: { id: ids }, limit: MOST_IDS })
      )).json
    )
  )
  const found = new Map<string, Mentioned>(lists.flat().map((record) => [record.id, record]))
  const gone = wanted.flatMap(([, ids]) => ids).filter((id) => !found.has(id)).slice(0, MOST_IDS)
  if (gone.length > 0) {
    const { json } = await call<readonly Entry[]>(
      listUrl(`${root}/history`, { filter: { record_id: gone, action: ['delete'] }, limit: MOST_IDS })
    )
    for (const { record_id: id, record_name: name = null, changes } of json) {
      if (!found.has(id)) {
        found.set(id, {
          name,
          ...typeof changes['currency']?.before === 'string' && { currency: changes['currency'].before }
        })
      }
    }
  }
  return found
}
