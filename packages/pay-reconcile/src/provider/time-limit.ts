/**
 * Runs `work` with a signal that aborts after `duration`, or with `parent`. Ends then in any case, with the signal's reason
 * at the latest: work that does not heed the signal must not hold up whoever waits for it.
 *
 * Cleans up afterwards: `AbortSignal.timeout` would keep a timer for each finished call, and `AbortSignal.any` an entry in a
 * parent that lives as long as a bulk run.
 */
export async function withTimeLimit<T> (duration: number, parent: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
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
    const end = (): void => { setImmediate(() => reject(signal.reason)) }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
