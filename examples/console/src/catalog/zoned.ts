/*
 * Inputs of date and time hold a local time without a zone, `2026-11-23T14:05`. The shop's zone says which instant it
 * is.
 */

/** The instant as a local time in a zone; empty for null. */
export function localFrom (instant: string | null, timeZone: string): string {
  return instant === null
    ? ''
    : new Date(Date.parse(instant) + offsetAt(Date.parse(instant), timeZone)).toISOString().slice(0, 16)
}

/**
 * The instant of a local time in a zone; null for an empty one. In the hour that a clock skips or repeats, one of the
 * two.
 */
export function instantFrom (local: string, timeZone: string): string | null {
  if (local === '') return null
  const utc = Date.parse(`${local}Z`)
  const guess = utc - offsetAt(utc, timeZone)
  return new Date(utc - offsetAt(guess, timeZone)).toISOString()
}

/** What a zone is ahead of UTC at an instant, in milliseconds. */
function offsetAt (instant: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric'
  }).formatToParts(instant)
  const part = (type: string) => Number(parts.find((part) => part.type === type)?.value)
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second')) -
    Math.floor(instant / 1000) * 1000
}
