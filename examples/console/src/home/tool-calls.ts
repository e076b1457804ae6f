import { englishOf } from '../times.ts'

/** How agents used the tools, as the server reports it. */
export interface ToolCalls {
  readonly since: string
  readonly calls: number
  readonly errors: number
  readonly tools: ReadonlyArray<ToolUse>
  readonly hours: ReadonlyArray<{ readonly hour: string, readonly calls: number, readonly errors: number }>
  /** Of a shop: the keys with the most errors first. */
  readonly keys?: readonly KeyCalls[]
}

/** How often an API key called, and how many of these calls failed. */
export interface KeyCalls {
  readonly key_id: string
  readonly name: string
  readonly calls: number
  readonly errors: number
}

export interface ToolUse {
  readonly tool: string
  readonly calls: number
  readonly errors: number
  readonly p50_ms: number | null
  readonly p99_ms: number | null
}

/** A duration as people read it: `35 ms`, `1.2 s`. */
export function durationText (ms: number | null, locale: string): string {
  if (ms === null) return '–'
  const [value, unit] = ms < 1000 ? [ms, 'millisecond'] as const : [ms / 1000, 'second'] as const
  return new Intl.NumberFormat(englishOf(locale), { style: 'unit', unit, maximumSignificantDigits: 2 }).format(value)
}
