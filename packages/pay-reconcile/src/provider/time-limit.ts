/**
 * Runs `work` with a signal that aborts after `duration`, or with `parent`. Cleans up afterwards: `AbortSignal.timeout`
 * would keep a timer for each finished call, and `AbortSignal.any` an entry in a parent that lives as long as a bulk run.
 */
export async function withTimeLimit<T> (duration: number, parent: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController()
  const abort = (): void => limit.abort()
  const timer = setTimeout(abort, duration)
  parent?.addEventListener('abort', abort)
  if (parent?.aborted) abort()
  try {
    return await work(limit.signal)
  } finally {
    clearTimeout(timer)
    parent?.removeEventListener('abort', abort)
  }
}
