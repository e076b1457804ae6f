const firstMs = 250
const longestMs = 60_000

/**
 * Milliseconds to wait before another attempt: up to twice as long after each, a minute at most, and not before the
 * provider's `Retry-After`. Half of it is random, so that those who were refused together do not come back together.
 *
 * @param waits how often was waited before.
 */
export function backoffMs (waits: number, retryAfterMs = 0, random = Math.random()): number {
  const half = Math.min(firstMs * 2 ** waits, longestMs) / 2
  return Math.max(retryAfterMs, half) + half * random
}
