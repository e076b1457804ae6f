import { Type } from '@sinclair/typebox'
import { invalid } from '../errors.ts'

/** The name of the header, as Node.js has it. */
export const HEADER = 'idempotency-key'

/** The longest key, in characters: as long as Stripe's. */
export const LONGEST_KEY = 255

/** The header of a route that creates something. A route that declares it honours it, see {@link repeatable}. */
export const IdempotencyKey = Type.Object({
  [HEADER]: Type.Optional(
    Type.String({ description: 'A new UUID; the same one to repeat the call' })
  )
})

/** The same for agents, who send no headers. */
export const KEY_ARGUMENT = { headers: { [HEADER]: { name: 'idempotency_key' } } } as const

/** A string of printable ASCII, in quotes. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])+)"$/

/** Visible ASCII but quotes, backslashes, commas and semicolons, which mean something in structured fields. */
const BARE = /^[!#-+\--:<-[\]-~]+$/

/**
 * Reads a key, which the draft has in quotes. Many clients send it without, as Stripe's do, and mean the same key.
 *
 * @throws {@link SHOP_INVALID}
 * @see [The draft](https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/), §2.1
 * @see [RFC 9651 §3.3.3](https://www.rfc-editor.org/rfc/rfc9651#section-3.3.3)
 */
export function keyFromHeader (header: string): string {
  const key = QUOTED.exec(header)?.[1]?.replace(/\\(.)/g, '$1') ?? BARE.exec(header)?.[0]
  if (key === undefined || key.length > LONGEST_KEY) {
    throw invalid(
      HEADER,
      `${HEADER} must be one string of 1 to ${LONGEST_KEY} printable ASCII characters, such as "8e03978e-40d5-43e8"`
    )
  }
  return key
}
