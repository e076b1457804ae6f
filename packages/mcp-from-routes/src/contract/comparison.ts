import type { Document } from './document.ts'
import type { Facts } from './facts.ts'

/** Why something that one schema accepts may be refused by another. */
export interface Gap {
  /** Where in the value: `filter.status`, `items[].id`, `labels.*`; empty for the value itself. */
  readonly path: string
  readonly keyword: string
  /** What the accepting schema says there; undefined when it says nothing. */
  readonly from: unknown
  /** What the refusing schema says there. */
  readonly to: unknown
  /** False when nobody showed that such a value exists, only that there may be one. */
  readonly certain: boolean
  /** The listed values that are refused. */
  readonly lost?: readonly unknown[]
}

/** What is known while two schemas are compared. */
export interface Comparison {
  readonly from: Document
  readonly to: Document
  /** How many properties or items deep in the value this is. */
  readonly depth: number
  /** Pairs that are being compared, and the depth at which that began. */
  readonly begun: Map<string, number>
  /** Pairs without a gap, shown without relying on a pair that was still being compared. */
  readonly proved: Set<string>
  /** Comparisons left before the answer is that it cannot be told, and how often a pair was relied on that was still being compared. */
  readonly budget: { left: number, assumed: number }
  /**
   * Whether properties that an object does not name count as not being there, where it names others and says nothing of
   * the rest: nobody was told that they can be sent.
   */
  readonly namedOnly: boolean
  /** What keeps values with the facts from being valid for a schema: the comparison itself, for what is inside a value. */
  readonly gapsIn: (facts: Facts, schema: unknown, path: string, comparison: Comparison) => readonly Gap[]
}

export function cannotTell (path: string, keyword: string, to: unknown, from?: unknown): Gap {
  return { path, keyword, from, to, certain: false }
}

/** What the facts say of a keyword, to be shown. */
export function saidIn (facts: Facts, keyword: string): unknown {
  return facts.find((fact) => fact[keyword] !== undefined)?.[keyword]
}

export function listIn (value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
