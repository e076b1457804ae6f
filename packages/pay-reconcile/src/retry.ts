const SHORTEST = 250
const LONGEST = 60_000

/**
 * Repeats an attempt while it may be tried again.
 *
 * @param attempt - gets the number of attempts that failed before it
 * @param again - waits as long as is needed, and returns whether to try again. Gets the number of attempts that failed
 *   so far
 * @throws what the last attempt threw
 */
export async function withRetries<T> (
  attempt: (failed: number) => Promise<T>,
  again: (error: unknown, failed: number) => boolean | Promise<boolean>
): Promise<T> {
  for (let failed = 0;; failed++) {
    try {
      return await attempt(failed)
    } catch (error) {
      if (!await again(error, failed + 1)) throw error
    }
  }
}

/**
 * How long to wait before a retry, in milliseconds: doubles each time up to a minute, and is never less than the
 * `Retry-After`. Half of it is random, so that clients refused together do not return together.
 *
 * @param waits - how many waits there were before.
 */
export function backoff (
  waits: number,
  retryAfter = 0,
  { random = Math.random(), longest = LONGEST }: { readonly random?: number, readonly longest?: number } = {}
): number {
  const half = Math.min(SHORTEST * 2 ** waits, longest) / 2
  return Math.max(retryAfter, half) + half * random
}

/** `Retry-After` in milliseconds, from seconds or an HTTP date, RFC 9110 §10.2.3. At most an hour. */
export function retryAfterFrom (value: string | null, now = Date.now()): number | undefined {
  if (value === null || value.trim() === '') return undefined
  const seconds = Number(value)
  const wait = Number.isNaN(seconds) ? Date.parse(value) - now : seconds * 1000
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), 3_600_000)
}
