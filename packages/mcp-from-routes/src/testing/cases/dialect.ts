/** A tool as a model is shown it. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: object
}

/** A call that a model makes. */
export interface ModelCall {
  readonly id: string
  readonly name: string
  /** Undefined if the model wrote no JSON object. */
  readonly args: Readonly<Record<string, unknown>> | undefined
  /** The arguments as the model wrote them. */
  readonly written: string
}

export interface Tokens {
  readonly input: number
  readonly output: number
}

/** An answer of a model. */
export interface Turn {
  readonly said: string
  readonly calls: readonly ModelCall[]
  /** As the endpoint has to get it back. */
  readonly message: unknown
  /** Undefined if the endpoint does not say. */
  readonly tokens: Tokens | undefined
  /** Whether the answer ended at the limit of its length. */
  readonly isCut: boolean
}

/** What a tool returned to a model. */
export interface ToolAnswer {
  readonly id: string
  readonly text: string
  readonly isError: boolean
}

/** A conversation up to now. */
export interface Conversation {
  readonly model: string
  readonly system: string | undefined
  readonly tools: readonly ModelTool[]
  readonly says: string
  readonly rounds: ReadonlyArray<{ readonly turn: Turn, readonly answers: readonly ToolAnswer[] }>
}

/** How an API of models writes a conversation. */
export interface Dialect {
  readonly name: string
  /** The end of the path of its endpoint. */
  readonly path: string
  readonly headers: (key: string) => Readonly<Record<string, string>>
  readonly body: (conversation: Conversation) => object
  /** @returns undefined for what is no answer of this API */
  readonly turn: (response: unknown) => Turn | undefined
}

export function sumOf (numbers: readonly unknown[]): number | undefined {
  const [first] = numbers
  if (typeof first !== 'number') return undefined
  return numbers.reduce<number>((sum, one) => sum + (typeof one === 'number' ? one : 0), 0)
}
