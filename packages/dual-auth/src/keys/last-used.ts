import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { StoreCall } from './call-store.ts'
import { networkFromAddress } from './network.ts'
import type { ApiKeyStore, NotableUse } from './store.ts'

/** Writes when and from where keys are used, without delaying requests. */
export interface LastUsed {
  /**
   * Records that a key was used now; written soon, together with others.
   *
   * @param address - of the caller
   */
  touch(id: string, address: string | undefined): void
  /** Resolves when everything recorded so far was written, or failed to be. */
  flush(): Promise<void>
}

/**
 * How many networks of a key are recorded in an interval. A caller with more networks, such as all of an IPv6
 * provider's, causes no more writes.
 */
const NETWORKS = 4

/** What was recorded of a key in the last interval. */
interface Recorded {
  /** The address of the latest use. */
  address: string | undefined
  /** When its network was recorded. */
  at: number
  /** When each network was recorded; '' for an unknown one. */
  readonly networks: Map<string, number>
}

/**
 * @param interval - in milliseconds; at most one write per key and network in this time
 * @param onNotable - called for first uses and new networks
 */
export function createLastUsed (
  store: ApiKeyStore,
  callStore: StoreCall,
  log: FastifyBaseLogger,
  interval: number,
  onNotable: (use: NotableUse) => void = () => {}
): LastUsed {
  const recorded = new Map<string, Recorded>()
  let pending = new Map<string, Set<string>>()
  let writing: Promise<void> | null = null
  let lastSweep = Date.now()

  function touch (id: string, address: string | undefined): void {
    const now = Date.now()
    let key = recorded.get(id)
    // Nearly every call ends here.
    if (key !== undefined && key.address === address && now - key.at < interval) return
    if (key === undefined) recorded.set(id, key = { address, at: now, networks: new Map() })
    const network = networkFromAddress(address) ?? ''
    for (const [other, at] of key.networks) if (now - at >= interval) key.networks.delete(other)
    const at = key.networks.get(network)
    key.address = address
    key.at = at ?? now
    if (at !== undefined || key.networks.size >= NETWORKS) return
    key.networks.set(network, now)
    const networks = pending.get(id) ?? new Set()
    if (network !== '') networks.add(network)
    pending.set(id, networks)
    // Deferred: all keys used in this turn of the event loop go into one statement.
    writing ??= nextTurn().then(writeAll)
  }

  async function writeAll (): Promise<void> {
    while (pending.size > 0) {
      const uses = [...pending].map(([id, networks]) => ({ id, networks: [...networks] }))
      pending = new Map()
      const at = Date.now()
      try {
        const notable = await callStore(() => store.touch(uses, new Date(at), new Date(at - interval)))
        for (const use of notable) onNotable(use)
      } catch (err) {
        log.warn({ err }, 'last_used_at was not written')
        for (const { id } of uses) recorded.delete(id)
      }
    }
    sweep()
    writing = null
  }

  function sweep (): void {
    const now = Date.now()
    if (now - lastSweep < interval) return
    lastSweep = now
    for (const [id, { networks }] of recorded) {
      for (const [network, at] of networks) if (now - at >= interval) networks.delete(network)
      if (networks.size === 0) recorded.delete(id)
    }
  }

  return {
    touch,
    flush: async () => {
      await writing
    }
  }
}
