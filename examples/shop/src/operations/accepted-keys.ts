import type { Redis } from 'ioredis'

/** How long an accepted key is remembered, in milliseconds. */
const KEPT = 86_400_000

/** How many keys this process remembers. */
const MOST = 20_000

const NAME = 'shop:good:'

/** The API keys that were accepted in the last 24 hours, by their digests. */
export interface AcceptedKeys {
  readonly remember: (digest: string) => void
  readonly knows: (digest: string) => Promise<boolean>
}

/** @param redis - shares them with other replicas */
export function acceptedKeys (redis?: Redis): AcceptedKeys {
  const knownUntil = new Map<string, number>()

  function keep (digest: string): void {
    // Moved to the end, so that the first one is the oldest.
    knownUntil.delete(digest)
    knownUntil.set(digest, Date.now() + KEPT)
    if (knownUntil.size > MOST) knownUntil.delete(knownUntil.keys().next().value!)
  }

  return {
    remember (digest) {
      // Keys are used often: renewing after half of the time is enough.
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
