/** Remembers which confirmations were used, so that each counts once. */
export interface ConfirmStore {
  /**
   * Marks a confirmation as used, as one step: of two calls at the same time, one gets true.
   * @param id - of the confirmation; at most 64 characters
   * @param ttl - after so many milliseconds it may be forgotten
   * @returns false if it was used before
   */
  readonly use: (id: string, ttl: number) => boolean | Promise<boolean>
}

/** A store of this process. It holds what was used within the last two lifetimes, and nothing of questions that wait. */
export function memoryStore (): ConfirmStore {
  let recent = new Set<string>()
  let older = new Set<string>()
  let since = Date.now()
  return {
    use (id, ttl) {
      const now = Date.now()
      // One that was used while `recent` was filled is known for a lifetime after that at least.
      if (now - since >= ttl) {
        older = now - since >= 2 * ttl ? new Set() : recent
        recent = new Set()
        since = now
      }
      if (recent.has(id) || older.has(id)) return false
      recent.add(id)
      return true
    }
  }
}
