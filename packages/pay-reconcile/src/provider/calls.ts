import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs } from './backoff.ts'
import { isProviderError, providerError, type ProviderError } from '../errors.ts'
import { keyGates, type GateLimits } from './gate.ts'
import type { ProviderAnswer } from './types.ts'
import { withTimeLimit } from './time-limit.ts'

/** Limits on the calls to the provider. */
export interface CallLimits extends GateLimits {
  /** Time for the whole of a call with all its attempts, in milliseconds. */
  readonly deadlineMs: number
  /** Time for one attempt, body included, in milliseconds. */
  readonly attemptMs: number
  /** Attempts at most. */
  readonly attempts: number
}

/** Makes one attempt; must honour the signal. */
type Attempt<T> = (signal: AbortSignal) => Promise<ProviderAnswer<T>>

/** Runs a call under its key: waits for a place, attempts, waits and attempts again inside the deadline. */
export type ProviderCalls = <T>(secretKey: string, caller: AbortSignal | undefined, attempt: Attempt<T>) =>
Promise<ProviderAnswer<T>>

/** Faults that another attempt may cure. */
const passing: ReadonlySet<string> = new Set(['rate_limited', 'timeout', 'unreachable', 'error'])

export function isPassing (error: unknown): error is ProviderError {
  return isProviderError(error) && (passing.has(error.fault) || error.fault === 'unavailable')
}

/** @returns the one way to call the provider; the state per key lives in the closure. */
export function providerCalls (limits: CallLimits): ProviderCalls {
  const gateOf = keyGates(limits)

  return (secretKey, caller, attempt) => withTimeLimit(limits.deadlineMs, caller, signal => {
    const ends = Date.now() + limits.deadlineMs
    // Whatever a library makes of an aborted request, it was our own time limit or the caller. Named inside
    // the gate too: a caller who leaves is no fault of the provider's.
    const rethrow = (error: unknown): never => {
      throw signal.aborted ? providerError(caller?.aborted ? 'aborted' : 'timeout') : error
    }
    return gateOf(secretKey).enter(signal, () => attempts(attempt, signal, ends).catch(rethrow)).catch(rethrow)
  })

  async function attempts<T> (attempt: Attempt<T>, signal: AbortSignal, ends: number): Promise<ProviderAnswer<T>> {
    for (let made = 1; ; made++) {
      try {
        return await oneAttempt(attempt, signal, limits.attemptMs)
      } catch (error) {
        if (!isPassing(error) || error.replayed || error.retryable === false || made >= limits.attempts) throw error
        const wait = backoffMs(made, error.retryAfterMs)
        if (Date.now() + wait >= ends) throw error
        await sleep(wait, undefined, { signal })
      }
    }
  }
}

function oneAttempt<T> (attempt: Attempt<T>, signal: AbortSignal, attemptMs: number): Promise<ProviderAnswer<T>> {
  return withTimeLimit(attemptMs, signal, async limited => {
    try {
      return await attempt(limited)
    } catch (error) {
      throw limited.aborted && !signal.aborted ? providerError('timeout') : error
    }
  })
}
