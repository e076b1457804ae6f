import type { StoreCall } from './keys/call-store.ts'
import type { LastUsed } from './keys/last-used.ts'
import type { Queue } from './keys/queue.ts'
import type { Watch } from './keys/watch.ts'
import type { ApiKeySettings } from './options.ts'
import type { OwnerReader } from './owner.ts'
import type { AuthRoute } from './types.ts'

/** What the plugin offers to those that build on it, such as `dual-auth/management`. */
export interface Core {
  readonly apiKeys: ApiKeySettings
  /** Whether `request.identity` can be a person or a machine; else the host knows who calls. */
  readonly acceptsTokens: boolean
  readonly owners: OwnerReader
  /** The routes that were registered until now. */
  readonly routes: readonly AuthRoute[]
  /** Every scope that opens a route; complete once the server is ready. */
  readonly knownScopes: () => ReadonlySet<string>
  readonly callStore: StoreCall
  readonly queue: Queue
  readonly lastUsed: LastUsed
  readonly emit: Watch['emit']
}

/** Where an application has it. */
export const CORE = Symbol('dual-auth.core')

declare module 'fastify' {
  interface FastifyInstance {
    readonly [CORE]: Core
  }
}
