import type { Cell } from '../catalog/product-file.ts'
import type { Note } from './notes.ts'

/** A product of a file, as it is written there, or why it cannot be read. */
export interface Line {
  /** In the file, from 1: where the product begins. */
  readonly line: number
  /** In characters. */
  readonly size: number
  readonly product?: unknown
  /** Whether a spreadsheet may have written it. Default: false. */
  readonly isFromCells?: boolean
  /** If it is of the file of another system: what that calls its columns, by the field that they give. */
  readonly columns?: Readonly<Record<string, string>>
  readonly problem?: LineProblem
  /** What the file has there, to be corrected and sent again: cells below {@link Line.headings}, or JSON. */
  readonly source?: readonly Cell[] | string
  /** The names of the columns. Such a line has nothing else. */
  readonly headings?: readonly Cell[]
  /** What becomes of its cells. A line that has neither a product nor a problem is none of its own. */
  readonly notes?: readonly Note[]
  /** The names of columns that no product has, which an import may leave out. Such a line has nothing else. */
  readonly unknown?: readonly string[]
  /** What somebody should know before the import. A line with a warning has nothing else. */
  readonly warning?: string
}

/** The column, or key, which says why a line of an earlier import has failed. It is no part of the line. */
export const ERROR = 'error'

/** What is wrong with a line. */
export interface LineProblem {
  /** Empty if it is the line as a whole. */
  readonly field: string
  /** For people; begins with the field, if there is one. */
  readonly message: string
  /** Whether nothing behind the line can be read. Default: false. */
  readonly isFatal?: boolean
}

/**
 * Maximum length of a line in characters: a record has at most 64 KiB, of which JSON may write six characters for two
 * bytes.
 */
export const MAX_LINE = 262_144

/** Maximum cells of a line: exports of other systems have up to a few hundred columns. */
export const MAX_CELLS = 500

/** Maximum lines of a file that have a cell, with those whose cells are empty. */
export const MAX_RECORDS = 100_000

/** What is wrong with a file, after which nothing of it can be read. */
export class Fault extends Error {
  readonly line: number

  constructor (line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** @returns the last line that is read of a file */
export function lineOfFault ({ line, message }: Fault): Line {
  return { line, size: 0, problem: { field: '', message, isFatal: true } }
}
