import { counted, quoted } from './words.ts'

/** What may become of the cells of a line, which somebody should know before the import. */
export type NoteKind = keyof typeof SAYS

/** Something that a file says and a product cannot: what becomes of it. */
export interface Note {
  readonly kind: NoteKind
  /** What the line says, and maybe what it becomes. Default: the line alone. */
  readonly example?: string
}

/** What a sentence says of so many lines. */
const SAYS = {
  slug: (count: number) => `${counted(count, 'address is', 'addresses are')} written as a slug of this shop`,
  noSlug: (count: number) =>
    `${counted(count, 'address has', 'addresses have')} no letter that can be written in a slug, so the name or SKU ` +
    'gives it',
  html: (count: number) =>
    `${counted(count, 'description is HTML and becomes', 'descriptions are HTML and become')} plain text, without ` +
    'pictures and links',
  more: (count: number) =>
    `${counted(count, 'line only says', 'lines only say')} more about the product before, and ` +
    `${count === 1 ? 'is' : 'are'} left out`,
  rounded: (count: number) =>
    `${counted(count, 'price has', 'prices have')} more decimals than the currency, and ${
      count === 1 ? 'is' : 'are'
    } ` +
    'rounded',
  unlisted: (count: number) =>
    `${counted(count, 'product is', 'products are')} unlisted, which none can be here, and ` +
    `${count === 1 ? 'becomes a draft' : 'become drafts'}`
} as const

/** How many examples a sentence has. */
const MOST_EXAMPLES = 3

/** One sentence for a kind, with at most three examples: a person reads it. */
export function sentence (says: string, examples: readonly string[], count: number): string {
  const more = count > examples.length ? ` and ${count - examples.length} more` : ''
  return `${says}: ${examples.slice(0, MOST_EXAMPLES).join(', ')}${more}`
}

/** Counts notes by their kinds. */
export function noteTally () {
  const found = new Map<NoteKind, { count: number, readonly examples: string[] }>()

  return {
    add (line: number, { kind, example }: Note): void {
      const seen = found.get(kind) ?? { count: 0, examples: [] }
      found.set(kind, seen)
      seen.count += 1
      if (seen.examples.length < MOST_EXAMPLES) {
        seen.examples.push(example === undefined ? `line ${line}` : `${example} in line ${line}`)
      }
    },

    /** @returns a sentence for each kind */
    all: (): readonly string[] =>
      [...found].map(([kind, { count, examples }]) => sentence(SAYS[kind](count), examples, count))
  }
}

/** An example of what a cell becomes. */
export function becomes (cell: string, after: string): string {
  return `${quoted(cell)} becomes ${quoted(after)}`
}
