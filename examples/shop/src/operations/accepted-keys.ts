import type { Redis } from 'ioredis'

/** How long a key that was good is known, in milliseconds. */
const KEPT = 86_400_000

/** How many keys this process knows. */
const MOST = 20_000

const NAME = 'shop:good:'

/** The API keys that were good in the last day, by their digests. */
export interface GoodKeys {
  readonly remember: (digest: string) => void
  readonly knows: (digest: string) => Promise<boolean>
}

/** @param redis - shares them with other servers */
export function goodKeys (redis?: Redis): GoodKeys {
  const knownUntil = new Map<string, number>()

  function keep (digest: string): void {
    // At the end again: the first one is the one that was kept longest ago.
    knownUntil.delete(digest)
    knownUntil.set(digest, Date.now() + KEPT)
    if (knownUntil.size > MOST) knownUntil.delete(knownUntil.keys().next().value!)
  }

  return {
    remember (digest) {
      // A key is used again and again; half of the time is soon enough.
      if ((knownUntil.get(digest) ?? 0) > Date.now() + KEPT / 2) return
      keep(digest)
      redis?.set(NAME + digest, 1, 'PX', KEPT).catch(() => {})
    },
    async knows (digest) {
      if ((knownUntil.get(digest) ?? 0) > Date.now()) return true
      return await redis?.exists(NAME + digest).catch(() => 0) === 1
    }
  }
}
