import type { FastifyBaseLogger } from 'fastify'
import type { Sources } from '../customers/types.ts'
import type { Settings } from '../options.ts'
import type { RateLimit } from './rate-limit.ts'
import type { ShopKey } from './shop-key.ts'
import type { Lease, NewRun, RunStore, Targets } from './types.ts'

export type RunLimits = Pick<Settings, 'perSecond' | 'accountsAtOnce' | 'shopsAtOnce' | 'leaseDuration' | 'emailOf' | 'driftFields' | 'mayContinue'>

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
  /** Starts no more accounts; those in progress are finished. */
  readonly cancelled: AbortSignal
  /** Stops immediately; accounts in progress are left for later. */
  readonly interrupted: AbortSignal
  /** Either of the two. */
  readonly ended: AbortSignal
}
