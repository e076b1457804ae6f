/** The secret key of a shop during a run. */
export interface ShopKey {
  readonly current: string
  /** Reads the key again after the provider rejected this one. @returns whether there is a new key. */
  replaced (rejected: string): Promise<boolean>
}

/** @param read - reads the stored key of the shop. */
export async function shopKey (read: () => Promise<string>): Promise<ShopKey> {
  let current = await read()
  return {
    get current () { return current },
    async replaced (rejected) {
      // Another account may have met the same rejection and read the new key already.
      if (current === rejected) current = await read()
      return current !== rejected
    }
  }
}

/** For runs that call nobody. */
export const noKey: ShopKey = { current: '', replaced: async () => false }
