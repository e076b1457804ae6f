import { hkdfSync } from 'node:crypto'
import { decrypt, encrypt, encryptedFrom, wordFrom } from '#shared/aes-gcm'
import { filledArrayOf, type Rule, type Table } from '#shared/option-table'
import { must, settingsBy } from '../option-checks.ts'

/** A secret and its id, which every sealed value carries. */
export interface BrokerSecret {
  /** 1 to 32 letters, digits, `-` or `_`. */
  readonly id: string
  /** At least 32 bytes from a random source, such as `openssl rand -base64 32`. */
  readonly secret: string
}

/** @internal */
export const SECRETS: Rule = { ...filledArrayOf(() => true, 'secrets'), secret: true }

const SECRET: Table<BrokerSecret> = {
  id: {
    holds: (id) => typeof id === 'string' && /^[\w-]{1,32}$/.test(id),
    rule: 'must be 1 to 32 letters, digits, - or _',
    required: true
  },
  secret: { holds: isLong, rule: 'must be a string of at least 32 bytes', secret: true, required: true }
}

export function isLong (secret: unknown): boolean {
  return typeof secret === 'string' && Buffer.byteLength(secret) >= 32
}

/** @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION} */
export function checkSecrets (secrets: readonly BrokerSecret[], name: string): void {
  for (const [i, secret] of secrets.entries()) settingsBy(SECRET, secret, `${name}[${i}]`)
  must(new Set(secrets.map(({ id }) => id)).size === secrets.length, `${name} must have different ids`)
}

/**
 * What a value is for. A value that was sealed for one purpose cannot be opened for another. In this order: the id of
 * a client; a sign-in that waits for consent, in the form; one at the provider, as `state`; consents, in a cookie;
 * a code; a refresh token; the provider's token in the record of a grant.
 */
const PURPOSES = ['client', 'request', 'transaction', 'consent', 'code', 'refresh', 'grant'] as const
export type Purpose = typeof PURPOSES[number]

/** Turns values into text that only this server can read and make. */
export interface Sealer {
  /** @param seconds - how long it can be opened; by default for as long as its secret is in the ring */
  seal(purpose: Purpose, value: object, seconds?: number): string
  /** `undefined` for anything that this server did not seal for this purpose, or that has expired. */
  open<Value extends object>(purpose: Purpose, text: string | undefined): Value | undefined
}

/** In characters: a refresh token of the provider of 12,000 fits, and the form that a client sends it in. */
const LONGEST = 24_576

/**
 * AES-256-GCM with a key for each secret and purpose. The first secret seals, all of them open: put a new one in front,
 * and remove the old one when what it sealed may stop working.
 *
 * @param issuer - makes the keys of servers that share a secret differ
 * @see [RFC 5869](https://www.rfc-editor.org/rfc/rfc5869)
 */
export function sealer (secrets: readonly BrokerSecret[], issuer: string, now = () => Date.now()): Sealer {
  const ring = new Map(
    secrets.map((
      { id, secret }
    ) => [
      id,
      new Map(
        PURPOSES.map((
          purpose
        ) => [purpose, Buffer.from(hkdfSync('sha256', secret, issuer, `oauth-discovery-shim ${purpose} v1`, 32))])
      )
    ])
  )
  const newest = secrets[0]!.id

  return {
    seal (purpose, value, seconds) {
      const expires = seconds === undefined ? null : Math.floor(now() / 1000) + seconds
      return `${newest}.${wordFrom(encrypt(ring.get(newest)!.get(purpose)!, JSON.stringify([expires, value])))}`
    },

    open<Value extends object> (purpose: Purpose, sealed: string | undefined) {
      if (sealed === undefined || sealed.length > LONGEST) return undefined
      const [, id, word] = /^([\w-]+)\.([\w-]+)$/.exec(sealed) ?? []
      if (id === undefined || word === undefined) return undefined
      const key = ring.get(id)?.get(purpose)
      const encrypted = encryptedFrom(word)
      const text = key && encrypted && decrypt(key, encrypted)
      if (text === undefined) return undefined
      const [expires, value] = JSON.parse(text) as [number | null, Value]
      return expires === null || expires * 1000 > now() ? value : undefined
    }
  }
}
