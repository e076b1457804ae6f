import { hkdfSync } from 'node:crypto'
import { decrypt, encrypt } from '#shared/aes-gcm'
import { SHOP_PAY_KEY_UNREADABLE, SHOP_SETTINGS } from '../errors.ts'
import { ambiguousIds, secretFromText } from '../settings/secrets.ts'

/** Encrypts the secret keys of shops for the database. */
export interface KeyRing {
  /** @returns the encrypted key, as it is stored: `v1:<id of the secret>:<iv>:<ciphertext>:<tag>`, base64url */
  seal(secretKey: string, shopId: string): string
  /**
   * @returns the key that was sealed for this shop
   * @throws {@link SHOP_PAY_KEY_UNREADABLE} if it was encrypted for another shop or with an unknown secret, or was
   *   tampered with
   */
  open(sealed: string, shopId: string): string
  /** Whether {@link KeyRing.open} returns a key. */
  opens(sealed: string, shopId: string): boolean
  /** Whether it is encrypted with the newest secret. */
  isCurrent(sealed: string): boolean
  /** The id of the secret that it is encrypted with. */
  secretOf(sealed: string): string
}

/**
 * Keys are bound to the id of their shop: a value that is copied to another shop cannot be decrypted there.
 *
 * @param secrets - `id:secret`, newest first; the first one encrypts, all of them decrypt
 * @throws {@link SHOP_SETTINGS} if an id stands for two secrets: keys would be encrypted with one and looked up with
 *   the other
 */
export function keyRing (secrets: readonly string[]): KeyRing {
  const ambiguous = ambiguousIds(secrets)
  if (ambiguous.length > 0) {
    throw new SHOP_SETTINGS(
      `  PAY_KEY_SECRETS has several secrets with the id ${ambiguous.join(', ')}: give each secret its own id`
    )
  }
  const keys = new Map(secrets.map(keyFromText))
  const [[newestId, newest]] = [...keys] as [[string, Buffer]]

  const ring: KeyRing = {
    seal (secretKey, shopId) {
      const { iv, text, tag } = encrypt(newest, secretKey, shopId)
      return ['v1', newestId, ...[iv, text, tag].map((part) => part.toString('base64url'))].join(':')
    },

    opens (sealed, shopId) {
      try {
        ring.open(sealed, shopId)
        return true
      } catch {
        return false
      }
    },

    secretOf: (sealed) => sealed.split(':')[1] ?? '',

    isCurrent: (sealed) => sealed.startsWith(`v1:${newestId}:`),

    open (sealed, shopId) {
      const [version, id = '', ...parts] = sealed.split(':')
      const key = keys.get(id)
      const [iv, text, tag, ...rest] = parts.map((part) => Buffer.from(part, 'base64url'))
      const isWhole = version === 'v1' && key && iv && text && tag && rest.length === 0
      const secretKey = isWhole ? decrypt(key, { iv, text, tag }, shopId) : undefined
      if (secretKey === undefined) throw new SHOP_PAY_KEY_UNREADABLE(shopId)
      return secretKey
    }
  }
  return ring
}

function keyFromText (text: string): [string, Buffer] {
  const { id, secret } = secretFromText(text)
  return [id, Buffer.from(hkdfSync('sha256', secret, '', 'shop pay_secret_key v1', 32))]
}
