import type { Redis } from 'ioredis'
import type { Holder } from './request-log.ts'

/** How long an accepted key is remembered, in milliseconds. */
const KEPT = 86_400_000

/** How many keys this process remembers. */
const MOST = 20_000

/** How long Redis keeps what a check writes, in milliseconds. */
const CHECKED = 60_000

const NAME = 'shop:good:'

/** The API keys that were accepted in the last 24 hours, by their digests. */
export interface AcceptedKeys {
  readonly remember: (digest: string, holder: Holder) => void
  /** @returns the holder, or undefined if the key was not accepted */
  readonly find: (digest: string) => Promise<Holder | undefined>
  /** @throws if Redis does not remember any */
  readonly check: () => Promise<void>
}

/** @param redis - shares them with other replicas */
export function acceptedKeys (redis?: Redis): AcceptedKeys {
  const known = new Map<string, Holder & { readonly until: number }>()

  function keep (digest: string, { keyId, shopId }: Holder): void {
    // Moved to the end, so that the first one is the oldest.
    known.delete(digest)
    known.set(digest, { keyId, shopId, until: Date.now() + KEPT })
    if (known.size > MOST) known.delete(known.keys().next().value!)
  }

  return {
    remember (digest, holder) {
      // Keys are used often: renewing after half of the time is enough.
      if ((known.get(digest)?.until ?? 0) > Date.now() + KEPT / 2) return
      keep(digest, holder)
      redis?.set(NAME + digest, `${holder.keyId} ${holder.shopId}`, 'PX', KEPT).catch(() => {})
    },
    async find (digest) {
      const own = known.get(digest)
      if (own !== undefined && own.until > Date.now()) return own
      const shared = await redis?.get(NAME + digest).catch(() => null) ?? undefined
      const [keyId, shopId] = shared?.split(' ') ?? []
      return keyId === undefined || shopId === undefined ? undefined : { keyId, shopId }
    },
    async check () {
      await redis?.set(`${NAME}check`, '', 'PX', CHECKED)
      await redis?.get(`${NAME}check`)
    }
  }
}
