import type { PersonsAnswer } from '../questions.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'

/** A call that the model is to make. */
export interface ExpectedCall {
  /** The name of the tool. */
  readonly tool: string
  /** Arguments that the call must have with exactly these values. It may have others. Default is any. */
  readonly arguments?: Readonly<Record<string, unknown>>
  /** A JSON Schema that the arguments must fit: for free text, `{ properties: { text: { pattern: 'milk' } } }`. */
  readonly schema?: JsonSchema
}

/** What counts for one case, or for all cases of a file that do not say it themselves. */
export interface CaseSettings {
  /**
   * Tools that must not be called, beyond the calls that are expected: `['delete_*']`, where `*` stands for anything.
   * Default is none.
   */
  readonly never?: readonly string[]
  /** How often the person says it, 1 to 100, since models answer by chance. Default is 1. */
  readonly repeats?: number
  /** The share of the repeats that must pass, above 0 and up to 1. Default is 1. */
  readonly share?: number
  /**
   * How often the model is asked, 1 to 20. With 1, its calls are compared and none is made. With more, the app's tools
   * run, and the model reads their results until it calls none. Default is 1.
   */
  readonly steps?: number
  /** What the person does when a tool asks them. Default is a client that cannot ask. */
  readonly person?: PersonsAnswer
  /** Headers of the requests to the app: who the caller is. Default is none. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A person says something, and the model calls these tools and not those. */
export interface Case extends CaseSettings {
  readonly says: string
  /** Each must be made, in any order. Default is none. */
  readonly calls?: readonly ExpectedCall[]
}

/** A file of cases. */
export interface Cases extends CaseSettings {
  readonly cases: readonly Case[]
  /** Path of the endpoint, such as that of a set. Default is the plugin's option `path`. */
  readonly path?: string
}

/** A case with all that counts for it. */
export interface WholeCase extends Required<Omit<Case, 'person'>> {
  readonly person: PersonsAnswer | undefined
}
