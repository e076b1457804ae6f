import { STATUS_CODES } from 'node:http'

/** `404 Not Found`; a status that has no name is its number alone. */
export function statusText (statusCode: number): string {
  return `${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trim()
}
