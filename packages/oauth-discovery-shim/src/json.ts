/** What `read` returns; undefined if it throws. */
export function attempt<T> (read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The value of a JSON text; undefined if it is none. */
export function parsed (text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  return attempt(() => JSON.parse(text, reviver) as unknown)
}

/** Of a response: the JSON object in it, else an empty one. */
export function objectFrom (text: string): Readonly<Record<string, unknown>> {
  const value = parsed(text)
  return isObject(value) ? value : {}
}

export function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isStrings (value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
