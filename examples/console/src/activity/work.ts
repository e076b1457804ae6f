import { texts } from '../texts.ts'

/** What one actor changed in one go, as the server lists it. */
export interface Work {
  readonly actor_kind: string
  readonly actor_id: string | null
  readonly actor_name: string | null
  readonly by_tool: boolean
  readonly started_at: string
  readonly ended_at: string
  readonly changes: number
  readonly revertible: number
  readonly records: ReadonlyArray<{ readonly action: string, readonly record_kind: string, readonly count: number }>
  readonly prices: { readonly count: number, readonly lowest: number, readonly highest: number } | null
}

/** `changed 50 products, created 1 tag, prices +5 %`. */
export function workText ({ records, prices }: Work, locale: string): string {
  const { actions, kinds, work: { many, prices: priced } } = texts.activity
  return [
    ...records.map(({ action, record_kind: kind, count }) => `${actions[action] ?? action} ${count.toLocaleString(locale)} ${count === 1 ? kinds[kind] ?? kind : many[kind] ?? kind}`),
    ...prices === null ? [] : [priced([...new Set([prices.lowest, prices.highest])].map((percent) => percent.toLocaleString(locale, { signDisplay: 'exceptZero' })))]
  ].join(', ')
}
