/** Remembers which confirmations were used, so that each counts once. */
export interface ConfirmStore {
  /**
   * Marks a confirmation as used, atomically: of two concurrent calls, one gets true.
   * @param id - of the confirmation; at most 64 characters
   * @param ttl - after so many milliseconds it may be forgotten
   * @returns false if it was used before
   */
  readonly use: (id: string, ttl: number) => boolean | Promise<boolean>
}

/** A store in the memory of this process. It keeps confirmations used within the last two lifetimes. */
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
