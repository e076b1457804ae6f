import type { FastifyBaseLogger } from 'fastify'
import type { ApiKeyStore } from './store.ts'
import type { StoreCall } from './call-store.ts'

/** Writes `last_used_at` without delaying requests. */
export interface LastUsed {
  /** Records that a key was used now; written soon, together with others. */
  touch (id: string): void
  /** Resolves when everything recorded so far was written, or failed to be. */
  flush (): Promise<void>
}

/** @param interval in milliseconds; at most one write per key in this time */
export function createLastUsed (store: ApiKeyStore, callStore: StoreCall, log: FastifyBaseLogger, interval: number): LastUsed {
  const written = new Map<string, number>()
  let pending = new Set<string>()
  let writing: Promise<void> | null = null
  let lastSweep = Date.now()

  function touch (id: string): void {
    if (Date.now() - (written.get(id) ?? -Infinity) < interval) return
    written.set(id, Date.now())
    pending.add(id)
    // Deferred: all keys used in this turn of the event loop go into one statement.
    writing ??= new Promise(resolve => setImmediate(resolve)).then(writeAll)
  }

  async function writeAll (): Promise<void> {
    while (pending.size > 0) {
      const ids = [...pending]
      pending = new Set()
      const at = Date.now()
      try {
        await callStore(() => store.touch(ids, new Date(at), new Date(at - interval)))
      } catch (err) {
        log.warn({ err }, 'last_used_at was not written')
        for (const id of ids) written.delete(id)
      }
    }
    sweep()
    writing = null
  }

  function sweep (): void {
    const now = Date.now()
    if (now - lastSweep < interval) return
    lastSweep = now
    for (const [id, at] of written) if (now - at >= interval) written.delete(id)
  }

  return { touch, flush: async () => { await writing } }
}
