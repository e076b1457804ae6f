import { createHash } from 'node:crypto'
import { isProviderError, providerError } from '../errors.ts'

/** Limits per secret key; a shop that fails or floods must not take the others along. */
export interface GateLimits {
  /** Requests in flight under one key. */
  readonly inFlight: number
  /** Faults in a row after which nothing is sent for a while. */
  readonly breakAfter: number
  /** How long nothing is sent then, in milliseconds; afterwards one request tries. */
  readonly breakMs: number
}

/** What lets requests through under one key. */
export interface Gate {
  /** @throws provider error `unavailable` while open, or the signal's reason while waiting. */
  enter<T> (signal: AbortSignal, call: () => Promise<T>): Promise<T>
}

/** Faults that say the provider is in trouble; a wrong key or an unknown customer does not. */
const troubles: ReadonlySet<string> = new Set(['timeout', 'unreachable', 'error'])

/** A fingerprint to know a key again without keeping it. */
export function keyFingerprint (secretKey: string): string {
  return createHash('sha256').update(secretKey).digest('base64')
}

/** One gate per key, forgotten when it is idle and sound. */
export function keyGates (limits: GateLimits): (secretKey: string) => Gate {
  const gates = new Map<string, Gate>()
  return secretKey => {
    const key = keyFingerprint(secretKey)
    const known = gates.get(key)
    if (known) return known
    const gate = gateOf(limits, () => gates.delete(key))
    gates.set(key, gate)
    return gate
  }
}

function gateOf (limits: GateLimits, forget: () => void): Gate {
  const waiting: Array<() => void> = []
  let inside = 0
  let faults = 0
  let closedUntil = 0

  function check (): void {
    const left = closedUntil - Date.now()
    if (left > 0) throw providerError('unavailable', { retryAfterMs: left })
    // The first one after the pause tries alone; its outcome decides for the others.
    if (faults >= limits.breakAfter) closedUntil = Date.now() + limits.breakMs
  }

  function turn (signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        waiting.splice(waiting.indexOf(enter), 1)
        reject(signal.reason)
      }
      waiting.push(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  function record (error: unknown): void {
    if (!isProviderError(error) || error.fault === 'aborted' || error.fault === 'unavailable') return
    // A failure stored earlier says nothing about the provider as it is now: let the next one try.
    if (error.replayed) {
      closedUntil = 0
      return
    }
    faults = troubles.has(error.fault) ? faults + 1 : 0
    closedUntil = faults >= limits.breakAfter ? Date.now() + limits.breakMs : 0
  }

  return {
    async enter (signal, call) {
      signal.throwIfAborted()
      // The one who leaves hands over its place, so a latecomer cannot slip in between.
      if (inside < limits.inFlight) inside++
      else await turn(signal)
      try {
        check()
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
