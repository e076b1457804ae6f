import { createHmac, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * The format of an API key: `<marker>_<prefix>_<secret><checksum>`, base62 throughout.
 *
 * prefix: 12 characters, public, names the key in listings. secret: 43 characters, 256 bits.
 * checksum: the CRC-32 of everything before it in 6 characters. It is not secret: with it a typo or a fuzzer is
 * rejected before any I/O, and a secret scanner can tell a leaked key from look-alikes offline.
 */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX_LENGTH = 12
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6

/** A secret that keys the fingerprints. Keep it outside the database. */
export interface Pepper {
  /** Stored beside each fingerprint. Never reuse an id. */
  readonly id: string
  /** At least 32 bytes; a string is counted in UTF-8. */
  readonly secret: string | Buffer
}

/** A new key. Its plaintext exists nowhere else. */
export interface MintedKey {
  readonly prefix: string
  readonly plaintext: string
}

/** Generates a key from the system's random source. */
export function mintKey (marker: string): MintedKey {
  const prefix = randomBase62(PREFIX_LENGTH)
  const body = `${marker}_${prefix}_${randomBase62(SECRET_LENGTH)}`
  return { prefix, plaintext: body + checksum(body) }
}

/** Returns a function that tells whether a string has the form and checksum of this marker's keys, without I/O. */
export function keyMatcher (marker: string): (key: string) => boolean {
  const shape = shapeOf(marker)
  return (key) => shape.test(key) && checksum(key.slice(0, -CHECKSUM_LENGTH)) === key.slice(-CHECKSUM_LENGTH)
}

/** Why a key does not match, for the log. */
export function flawOfKey (key: string, marker: string): string {
  if (shapeOf(marker).test(key)) return 'the checksum of the API key is wrong: it was mistyped or cut'
  return otherMarker(key, marker) ?? 'the API key is malformed'
}

const shapeOf = (marker: string): RegExp => new RegExp(`^${keyPattern(marker)}$`)

/** What is wrong with a credential that has the form of another server's keys. */
export function otherMarker (key: string, marker: string): string | undefined {
  const other = /^([a-z][a-z0-9_]{0,15})_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/.exec(key)?.[1]
  return other === undefined || other === marker
    ? undefined
    : `the API key has the marker ${other} instead of ${marker}`
}

/**
 * The source of a regular expression that finds keys of this marker. Pass it to secret scanners, between word
 * boundaries.
 */
export function keyPattern (marker: string): string {
  return `${marker}_[0-9A-Za-z]{${PREFIX_LENGTH}}_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}`
}

/**
 * The value a key is looked up by: HMAC-SHA-256 of the whole key, 32 bytes. It covers the whole key, so that only a
 * holder of a real key can make the server run scrypt. It is keyed with a pepper, so that the table alone does not
 * even tell whether a given key is in it.
 */
export function fingerprint (key: string, pepper: Pepper): Buffer {
  return createHmac('sha256', pepper.secret).update(key).digest()
}

function checksum (text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits
    rest = Math.floor(rest / ALPHABET.length)
  }
  return digits
}

function randomBase62 (length: number): string {
  return Array.from({ length }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('')
}
