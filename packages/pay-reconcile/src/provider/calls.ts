import { setTimeout as sleep } from 'node:timers/promises'
import { isProviderError, providerError, type ProviderError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import { backoff, withRetries } from '../retry.ts'
import { keyGates, type GateLimits } from './gate.ts'
import type { ProviderResponse } from './types.ts'

export type CallLimits = GateLimits & Pick<Limits, 'callTimeout' | 'attemptTimeout' | 'attempts'>

/** Makes one attempt; must honour the signal. */
type Attempt<T> = (signal: AbortSignal) => Promise<ProviderResponse<T>>

/** Calls the provider under a key, and retries within the time limit. `caller` aborts the call. */
export type ProviderCalls = <T>(
  secretKey: string,
  caller: AbortSignal | undefined,
  attempt: Attempt<T>
) => Promise<ProviderResponse<T>>

/** Faults that a retry may cure. */
const TRANSIENT: ReadonlySet<string> = new Set(['rate_limited', 'timeout', 'unreachable', 'error'])

export function isTransient (error: unknown): error is ProviderError {
  return isProviderError(error) && (TRANSIENT.has(error.fault) || error.fault === 'unavailable')
}

/** @returns the one way to call the provider; the state of each key lives in the closure. */
export function providerCalls (limits: CallLimits): ProviderCalls {
  const gateOf = keyGates(limits)

  return (secretKey, caller, attempt) => {
    const end = Date.now() + limits.callTimeout
    let limited: AbortSignal | undefined
    // A library may throw anything for an aborted request; the cause is our own time limit or the caller. The gate must
    // see the right fault too: a caller who leaves does not count against the provider.
    const rethrow = (error: unknown): never => {
      throw limited?.aborted ? providerError(caller?.aborted ? 'aborted' : 'timeout') : error
    }
    // Also around the time limit, which does not wait for an attempt that goes on after the abort.
    return withTimeLimit(limits.callTimeout, caller, (signal) => {
      limited = signal
      return gateOf(secretKey).enter(signal, () => attempts(attempt, signal, end).catch(rethrow))
    }).catch(rethrow)
  }

  function attempts<T> (attempt: Attempt<T>, signal: AbortSignal, end: number): Promise<ProviderResponse<T>> {
    return withRetries(() => oneAttempt(attempt, signal), async (error, failed) => {
      if (!isTransient(error) || error.replayed || error.retryable === false || failed >= limits.attempts) return false
      const wait = backoff(failed, error.retryAfter)
      if (Date.now() + wait >= end) return false
      await sleep(wait, undefined, { signal })
      return true
    })
  }

  function oneAttempt<T> (attempt: Attempt<T>, signal: AbortSignal): Promise<ProviderResponse<T>> {
    let ended: AbortSignal | undefined
    return withTimeLimit(limits.attemptTimeout, signal, (limited) => attempt(ended = limited)).catch((error) => {
      throw ended?.aborted && !signal.aborted ? providerError('timeout') : error
    })
  }
}

/**
 * Runs `work` with a signal that aborts after `duration`, or with `parent`. Ends then in any case, with the signal's
 * reason at the latest: work that does not heed the signal must not hold up whoever waits for it.
 *
 * Cleans up afterwards: `AbortSignal.timeout` would keep a timer for each finished call, and `AbortSignal.any` an entry
 * in a parent that lives as long as a bulk run.
 */
export async function withTimeLimit<T> (
  duration: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>
): Promise<T> {
  const limit = new AbortController()
  const { signal } = limit
  const abort = (): void => limit.abort(parent?.reason)
  const timer = setTimeout(() => limit.abort(new DOMException('The time limit has passed', 'TimeoutError')), duration)
  parent?.addEventListener('abort', abort)
  if (parent?.aborted) abort()
  try {
    return await Promise.race([work(signal), endOf(signal)])
  } finally {
    clearTimeout(timer)
    parent?.removeEventListener('abort', abort)
  }
}

/** Rejects a turn of the loop after the abort, so that work which heeds the signal says itself how it ended. */
function endOf (signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => {
      setImmediate(() => reject(signal.reason))
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
