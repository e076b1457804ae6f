/** A product of a file, as it is written there, or why it cannot be read. */
export interface Line {
  /** In the file, from 1: where the product begins. */
  readonly line: number
  readonly product?: unknown
  readonly problem?: LineProblem
}

/** What is wrong with a line. */
export interface LineProblem {
  /** Empty if it is the line as a whole. */
  readonly field: string
  /** For people; begins with the field, if there is one. */
  readonly message: string
  /** Whether nothing behind the line can be read. Default: false. */
  readonly isFatal?: boolean
}

/** Parses JSON, and rejects keys that would change the prototype of an object. @throws SyntaxError */
export type ParseJson = (text: string) => unknown

/** Maximum length of a line in characters: no record may be as large. */
export const MAX_LINE = 1_048_576
