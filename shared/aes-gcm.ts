import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/** What {@link encrypt} makes of a text. */
export interface Encrypted {
  /** 12 random bytes. */
  readonly iv: Buffer
  readonly text: Buffer
  /** 16 bytes, by which {@link decrypt} knows that nothing was changed. */
  readonly tag: Buffer
}

/**
 * Encrypts a text with AES-256-GCM.
 *
 * @param key - 32 bytes
 * @param bound - must be the same to decrypt it, such as who it is for; not part of the result
 * @see [NIST SP 800-38D](https://csrc.nist.gov/pubs/sp/800/38/d/final)
 */
export function encrypt (key: Buffer, text: string, bound = ''): Encrypted {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(bound))
  return { iv, text: Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]), tag: cipher.getAuthTag() }
}

/** @returns the text; undefined if it was encrypted with another key or `bound`, or was changed. */
export function decrypt (key: Buffer, { iv, text, tag }: Encrypted, bound = ''): string | undefined {
  try {
    const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(bound))
      .setAuthTag(tag)
    return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** As one word of base64url: the initialization vector, the encrypted text, the tag. */
export function wordFrom ({ iv, text, tag }: Encrypted): string {
  return Buffer.concat([iv, text, tag]).toString('base64url')
}

/** The reverse of {@link wordFrom}; undefined for anything that it does not return. */
export function encryptedFrom (word: string): Encrypted | undefined {
  const bytes = Buffer.from(word, 'base64url')
  // Decoding skips what is not base64url and ignores the last bits, so other letters would give the same bytes.
  if (bytes.length <= IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== word) return undefined
  return {
    iv: bytes.subarray(0, IV_BYTES),
    text: bytes.subarray(IV_BYTES, -TAG_BYTES),
    tag: bytes.subarray(-TAG_BYTES)
  }
}
