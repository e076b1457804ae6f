import { createHash } from 'node:crypto'

/** What stands for a client, a callback or a browser in sealed values: short, whatever its length. */
export function digest (text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
