/** A line of a file that cannot be imported. */
export interface WrongLine {
  readonly line: number
  /** Empty if it is the line as a whole. */
  readonly field: string
  readonly message: string
}

/** What an import would do. */
export interface Preview {
  readonly total: number
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly price_changes: number
  readonly prices: ReadonlyArray<{ readonly currency: string, readonly lowest: string, readonly highest: string, readonly lowest_before: string | null, readonly highest_before: string | null }>
  /** The first of them. */
  readonly changed_prices: ReadonlyArray<{ readonly line: number, readonly name: string, readonly before: string, readonly after: string | null }>
  readonly warnings: readonly string[]
  readonly failed: number
  readonly errors: readonly WrongLine[]
}

/** An import, as the list has it. */
export interface Import extends Pick<Preview, 'total' | 'created' | 'updated' | 'unchanged' | 'failed'> {
  readonly id: string
  readonly status: 'pending' | 'running' | 'done' | 'failed' | 'cancelled'
  readonly processed: number
  readonly error: string | null
  readonly created_at: string
}

export function isUnfinished ({ status }: Pick<Import, 'status'>): boolean {
  return status === 'pending' || status === 'running'
}

/** The media type of a file by its name, or undefined for one that is no list of products. */
export function typeOfFile (name: string): string | undefined {
  const [, ending = ''] = /\.(\w+)$/.exec(name.toLowerCase()) ?? []
  return { csv: 'text/csv', txt: 'text/csv', tsv: 'text/csv', jsonl: 'application/x-ndjson', ndjson: 'application/x-ndjson' }[ending]
}
