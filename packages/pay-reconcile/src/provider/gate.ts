import { isProviderError, providerError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import { perKey } from './per-key.ts'
import { turnIn } from './turn.ts'

export type GateLimits = Pick<Limits, 'inFlight' | 'breakAfter' | 'breakDuration'>

/** Limits the requests under one key, so that a shop that fails or floods does not affect others. */
export interface Gate {
  /**
   * @throws the provider error `unavailable` while the gate is closed after faults, or the signal's reason while
   * waiting.
   */
  enter<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T>
}

/** Faults that mean that the provider is failing; a wrong key or an unknown customer does not. */
const OUTAGES: ReadonlySet<string> = new Set(['timeout', 'unreachable', 'error'])

/** One gate for each key; removed while it is idle and without faults. */
export function keyGates (limits: GateLimits): (secretKey: string) => Gate {
  return perKey((forget) => gate(limits, forget))
}

function gate ({ inFlight, breakAfter, breakDuration }: GateLimits, forget: () => void): Gate {
  const waiting: Array<() => void> = []
  let inside = 0
  let faults = 0
  let closedUntil = 0

  function assertOpen (): void {
    const left = closedUntil - Date.now()
    if (left > 0) throw providerError('unavailable', { retryAfter: left })
    // After the pause one request goes alone; its outcome decides for the others.
    if (faults >= breakAfter) closedUntil = Date.now() + breakDuration
  }

  function record (error: unknown): void {
    if (!isProviderError(error) || error.fault === 'aborted' || error.fault === 'unavailable') return
    // A stored failure says nothing about the provider's present state: let the next request try.
    if (error.replayed) {
      closedUntil = 0
      return
    }
    faults = OUTAGES.has(error.fault) ? faults + 1 : 0
    closedUntil = faults >= breakAfter ? Date.now() + breakDuration : 0
  }

  return {
    async enter (signal, call) {
      signal.throwIfAborted()
      // A request that ends hands its place to the next one, so a newcomer cannot slip in between.
      if (inside < inFlight) inside++
      else await turnIn(waiting, signal)
      try {
        assertOpen()
        const result = await call()
        faults = 0
        closedUntil = 0
        return result
      } catch (error) {
        record(error)
        throw error
      } finally {
        const next = waiting.shift()
        if (next) next()
        else if (--inside === 0 && faults === 0) forget()
      }
    }
  }
}
