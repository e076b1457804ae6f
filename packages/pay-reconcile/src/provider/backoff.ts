const SHORTEST = 250
const LONGEST = 60_000

/**
 * How long to wait before a retry, in milliseconds: doubles each time up to a minute, and is never less than the
 * provider's `Retry-After`. Half of it is random, so that clients refused together do not return together.
 *
 * @param waits - how many waits there were before.
 */
export function backoff (waits: number, retryAfter = 0, random = Math.random()): number {
  const half = Math.min(SHORTEST * 2 ** waits, LONGEST) / 2
  return Math.max(retryAfter, half) + half * random
}

/** `Retry-After` in milliseconds, from seconds or an HTTP date, RFC 9110 §10.2.3. At most an hour. */
export function retryAfterFrom (value: string | null, now = Date.now()): number | undefined {
  if (value === null || value.trim() === '') return undefined
  const seconds = Number(value)
  const wait = Number.isNaN(seconds) ? Date.parse(value) - now : seconds * 1000
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), 3_600_000)
}
