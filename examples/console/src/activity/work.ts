import { texts } from '../texts.ts'
import { countText } from '../times.ts'
import { recordsText } from './entry.ts'

/** What one actor changed in one go, as the server lists it. */
export interface Work {
  readonly actor_kind: string
  readonly actor_id: string | null
  readonly actor_name: string | null
  readonly by_tool: boolean
  /** Of all of its changes; null if they have several. */
  readonly operation: string | null
  readonly started_at: string
  readonly ended_at: string
  readonly changes: number
  readonly revertible: number
  readonly records: ReadonlyArray<{ readonly action: string, readonly record_kind: string, readonly count: number, readonly records: number }>
  readonly prices: { readonly count: number, readonly lowest: number, readonly highest: number } | null
}

/** `changed 50 products, created 1 tag, prices +5 %`, after `imported a file: ` if it did that. */
export function workText ({ records, prices, operation }: Work, locale: string): string {
  const { actions, work: { prices: priced, bulk } } = texts.activity
  const parts = [
    ...records.map(({ action, record_kind: kind, records: count }) => `${actions[action] ?? action} ${recordsText(kind, count, locale)}`),
    ...prices === null ? [] : [priced([...new Set([prices.lowest, prices.highest])].map((percent) => countText(percent, locale, { signDisplay: 'exceptZero' })))]
  ].join(', ')
  const how = operation === null ? undefined : bulk[operation]
  return how === undefined ? parts : `${how}: ${parts}`
}
