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
  /**
   * Whether properties that an object does not name count as not being there, where it names others and says nothing of
   * the rest: nobody was told that they can be sent.
   */
  readonly namedOnly: boolean
  readonly proof: Proof
  /** Takes one of the steps that a comparison may take; false if none is left. */
  readonly step: () => boolean
  /**
   * What keeps values with the facts from being valid for a schema: the comparison itself, for what is inside a value.
   */
  readonly gapsIn: (facts: Facts, schema: unknown, path: string, comparison: Comparison) => readonly Gap[]
}

/** The comparison of what is inside the value. */
export function inside (comparison: Comparison): Comparison {
  return { ...comparison, depth: comparison.depth + 1 }
}

/** What has been shown of pairs of facts and a schema, in whose definitions one pair may lead back to itself. */
export class Proof {
  /** Pairs that are being looked at, and how deep in the value that began. */
  readonly #begun = new Map<string, number>()
  readonly #shown = new Set<string>()
  #inductions = 0

  /**
   * @param look - looks for the gaps of a pair of which nothing is known
   * @returns undefined if the pair leads back to itself without going deeper, which proves nothing
   */
  gapsOf (pair: string, depth: number, look: () => readonly Gap[]): readonly Gap[] | undefined {
    if (this.#shown.has(pair)) return []
    const since = this.#begun.get(pair)
    if (since !== undefined && since >= depth) return undefined
    // What holds for every smaller value holds, by induction.
    if (since !== undefined) {
      this.#inductions += 1
      return []
    }
    const inductions = this.#inductions
    this.#begun.set(pair, depth)
    const gaps = look()
    this.#begun.delete(pair)
    // What was shown by induction is not kept: it holds only if the pair that it leads back to does.
    if (gaps.length === 0 && this.#inductions === inductions) this.#shown.add(pair)
    return gaps
  }
}

export function cannotTell (path: string, keyword: string, to: unknown, from?: unknown): Gap {
  return { path, keyword, from, to, certain: false }
}

/** What the facts say of a keyword, to be shown. */
export function saidIn (facts: Facts, keyword: string): unknown {
  return facts.find((fact) => fact[keyword] !== undefined)?.[keyword]
}

/** `filter.status`; a name that is no word stands in brackets: `headers["x-id"]`. */
export function inProperty (path: string, name: string): string {
  if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}

/** Any property that has no name in the schema. */
export function everyOther (path: string): string {
  return path === '' ? '*' : `${path}.*`
}

/** An item of an array: `tags[]`, or the one at an index, `point[0]`. */
export function inItem (path: string, index?: number): string {
  return `${path}[${index ?? ''}]`
}
