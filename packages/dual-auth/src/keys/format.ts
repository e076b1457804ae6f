import { createHmac, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * The format of an API key: `<marker>_<prefix>_<secret><checksum>`, base62 throughout.
 *
 * prefix: 12 characters, public, names the key in listings. secret: 43 characters, 256 bits.
 * checksum: the CRC-32 of everything before it in 6 characters. It is no secret: it lets a typo or a fuzzer
 * be refused before any I/O, and lets a secret scanner tell a leaked key from look-alikes, offline.
 */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX_LENGTH = 12
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6

/** A secret that keys the fingerprints. Keep it outside the database. */
export interface Pepper {
  /** Stored beside each fingerprint; names the pepper, never reuse it. */
  readonly id: string
  /** At least 32 bytes; a string counts in UTF-8. */
  readonly secret: string | Buffer
}

/** A key that was just made. Its plaintext exists nowhere else. */
export interface MintedKey {
  readonly prefix: string
  readonly plaintext: string
}

/** Makes a key from the system's random source. */
export function mintKey (marker: string): MintedKey {
  const prefix = randomBase62(PREFIX_LENGTH)
  const body = `${marker}_${prefix}_${randomBase62(SECRET_LENGTH)}`
  return { prefix, plaintext: body + checksum(body) }
}

/** Makes the test for keys of this marker: shape and checksum, no I/O. */
export function keyChecker (marker: string): (key: string) => boolean {
  const length = marker.length + PREFIX_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH + 2
  const shape = new RegExp(`^${keyPattern(marker)}$`)
  return key => key.length === length && shape.test(key) && checksum(key.slice(0, -CHECKSUM_LENGTH)) === key.slice(-CHECKSUM_LENGTH)
}

/**
 * The regular expression, as text, that finds keys of this marker: give it to secret scanners,
 * between word boundaries.
 */
export function keyPattern (marker: string): string {
  return `${marker}_[0-9A-Za-z]{${PREFIX_LENGTH}}_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}`
}

/**
 * What a key is looked up by: HMAC-SHA-256 of the whole key, 32 bytes. Of the whole key, because then only
 * somebody who holds a real key can make the server run scrypt; with a pepper, because then the table alone
 * cannot even tell whether a found key is in it.
 */
export function fingerprint (key: string, pepper: Pepper): Buffer {
  return createHmac('sha256', pepper.secret).update(key).digest()
}

function checksum (text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

function randomBase62 (length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte: above it the remainder would favour some characters.
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62)
    }
  }
  return text
}
