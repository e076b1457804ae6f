/** The secret key of a shop during a run. */
export interface ShopKey {
  readonly current: string
  /** Reads the key again, as the provider refuses this one. @returns whether there is another by now. */
  replaced (refused: string): Promise<boolean>
}

/** @param read reads the key of the shop as it is stored now. */
export function shopKey (first: string, read: () => Promise<string>): ShopKey {
  let current = first
  return {
    get current () { return current },
    async replaced (refused) {
      // Another account may have met the same refusal, and have read the new key.
      if (current === refused) current = await read()
      return current !== refused
    }
  }
}
