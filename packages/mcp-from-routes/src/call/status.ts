import { STATUS_CODES } from 'node:http'

/** `404 Not Found`; a status that has no name is its number alone. */
export function statusText (statusCode: number): string {
  return `${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trim()
}

/**
 * What is said of a call that may or may not have been carried out. Empty for one that only reads: it can be made
 * again.
 */
export function openOutcome (isReadOnly: boolean): string {
  return isReadOnly ? '' : ' The call may have been carried out: check before you try again.'
}

/** The header with which a route carries a call out once, however often it is made, under each of its names. */
export const REPEATS: readonly string[] = ['idempotency-key', 'x-idempotency-key']

/**
 * The same, of a call that its caller has given a key.
 * @param argument - the one that has the key
 */
export function openRepeat (argument: string): string {
  return ` The call may have been carried out. To be sure, call again with the same arguments, ${argument} included: ` +
    'it is not carried out twice.'
}
