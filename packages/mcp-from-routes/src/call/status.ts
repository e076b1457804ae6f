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
