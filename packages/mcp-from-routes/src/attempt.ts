/** What `read` returns; undefined if it throws. */
export function attempt<T> (read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
