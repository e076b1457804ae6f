/*
 * Durations as counts by bucket, so that those of hours and replicas can be added up. A bucket ends a quarter above the
 * one before: a quantile read from the buckets is at most 12 % off.
 */

const GROWTH = 1.25

/** From one millisecond to 56 seconds; the last bucket also has all that took longer. */
export const BUCKETS = 50

/** @param duration - in milliseconds */
export function bucketOf (duration: number): number {
  return Math.min(Math.max(Math.ceil(Math.log(duration) / Math.log(GROWTH)), 0), BUCKETS - 1)
}

/**
 * @param counts - of each bucket
 * @param share - 0.99 for the duration that 99 of 100 calls do not exceed
 * @returns milliseconds; null if there was no call
 */
export function quantile (counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let rank = Math.ceil(total * share)
  const bucket = counts.findIndex((count) => (rank -= count) <= 0)
  // The middle of the bucket, by ratio.
  return Number((GROWTH ** (bucket - 0.5)).toPrecision(3))
}
