import type { FastifyBaseLogger } from 'fastify'
import type { Sources } from '../customers/snapshot.ts'
import type { Limits } from '../limits.ts'
import type { Account, AccountLimits } from '../types.ts'
import type { RateLimit } from './rate-limit.ts'
import type { Lease, NewRun, RunStore, Targets } from './types.ts'

export interface RunLimits extends Pick<Limits, 'perSecond' | 'accountsAtOnce' | 'shopsAtOnce' | 'leaseDuration'> {
  /** The options of these names. */
  readonly emailOf: (account: Account) => string | undefined
  readonly comparedFields: readonly string[] | undefined
  readonly mayContinue: (work: { readonly id: string | null, readonly actor: string }) => boolean | Promise<boolean>
}

/** What is needed to reconcile a shop. */
export interface ShopWork {
  /** `sources.call` waits for the rate limit. */
  readonly sources: Sources
  readonly run: NewRun
  readonly targets: Targets | null
  readonly key: ShopKey
  readonly runs: RunStore
  readonly lease: Lease
  readonly limits: RunLimits
  readonly rateLimitOf: (secretKey: string) => RateLimit
  readonly log: FastifyBaseLogger
  /** Starts no more accounts or calls; calls in progress are finished. */
  readonly cancelled: AbortSignal
  /** Stops immediately; accounts in progress are left for later. */
  readonly interrupted: AbortSignal
  /** Either of the two. */
  readonly ended: AbortSignal
}

/** The secret key of a shop during a run. */
export interface ShopKey {
  readonly current: string
  /** Reads the key again after the provider rejected this one. @returns whether there is a new key. */
  replaced(rejected: string): Promise<boolean>
}

/** @param read - reads the stored key of the shop. */
export async function shopKey (read: () => Promise<string>): Promise<ShopKey> {
  let current = await read()
  return {
    get current () {
      return current
    },
    async replaced (rejected) {
      // Another account may have met the same rejection and read the new key already.
      if (current === rejected) current = await read()
      return current !== rejected
    }
  }
}

/** For runs that call nobody. */
export const noKey: ShopKey = { current: '', replaced: async () => false }

/** Which accounts a run goes through. */
export function limitsOf (
  { mode, selection: { failed_in: failedIn, synced_before: syncedBefore } }: Pick<NewRun, 'mode' | 'selection'>,
  targets: Targets | null
): AccountLimits {
  return {
    ...(mode === 'changes' && { changed: true, linked: true }),
    ...(targets && { accounts: Object.keys(targets) }),
    ...(failedIn !== undefined && { failedIn }),
    ...(syncedBefore !== undefined && { syncedBefore })
  }
}
