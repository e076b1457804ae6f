/** A tool as agents see it. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly kind: 'reads' | 'writes' | 'deletes'
}

/** A tool as the server lists it. */
export interface Listed {
  readonly name: string
  readonly description?: string
  readonly annotations?: {
    readonly readOnlyHint?: boolean,
    readonly destructiveHint?: boolean,
    readonly idempotentHint?: boolean
  }
}

/** One that replaces what was there is a write; one that deletes says so by its name. */
export function toolFrom ({ name, description = '', annotations = {} }: Listed): Tool {
  const changes = name.startsWith('delete_') ? 'deletes' : 'writes'
  return { name, description, kind: annotations.readOnlyHint === true ? 'reads' : changes }
}
