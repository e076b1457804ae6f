import type { ShopToolCallsReport } from '../../../shop/src/tool-calls/schemas.ts'
import { inLanguage } from '../times.ts'

type OfShop = typeof ShopToolCallsReport['static']

/**
 * How agents used the tools, as the server reports it: of a shop, with the keys that have the most errors first, or of
 * all.
 */
export type ToolCalls = Omit<OfShop, 'keys'> & Partial<Pick<OfShop, 'keys'>>

export type ToolUse = OfShop['tools'][number]

/** A duration as people read it: `35 ms`, `1.2 s`. */
export function durationText (ms: number | null, locale: string): string {
  if (ms === null) return '–'
  const [value, unit] = ms < 1000 ? [ms, 'millisecond'] as const : [ms / 1000, 'second'] as const
  return new Intl.NumberFormat(inLanguage(locale), { style: 'unit', unit, maximumSignificantDigits: 2 }).format(value)
}
