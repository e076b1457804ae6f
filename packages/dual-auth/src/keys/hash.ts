import { createHash, createHmac, scrypt, scryptSync, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'
import * as module from 'scrypt-kdf'

// The package's types list named exports; the module itself has only the default one.
const Scrypt = (module as unknown as { readonly default: typeof module }).default

const derive: (key: string, salt: Uint8Array, length: number, options: ScryptOptions) => Promise<Buffer> = promisify(
  scrypt
)

/** Bytes of a hash in the scrypt file header format: parameters, salt, checksum, MAC. */
const HASH_LENGTH = 96
/** The highest cost that a stored hash may have: 32 MiB for each run. */
export const LOG_N_LIMIT = 15

/** Hashes a key with a new salt. @param logN - cost: 2^logN × 1 KiB of memory */
export async function hashFromKey (key: string, logN: number): Promise<Buffer> {
  return Buffer.from(await Scrypt.kdf(key, { logN }))
}

/**
 * The cost of a stored hash; null if its parameters are none that this package writes. `Scrypt.verify` trusts the
 * parameters in the row, so a tampered row could make it use any amount of memory.
 */
export function costFromHash (hash: Uint8Array): number | null {
  if (hash.length !== HASH_LENGTH) return null
  const { logN, r, p } = paramsFromHash(hash)
  return logN >= 1 && logN <= LOG_N_LIMIT && r === 8 && p === 1 ? logN : null
}

/**
 * The highest cost at which a key is verified on the event loop. Up to here a run takes less processor time than a trip
 * to the thread pool: waking a thread and, with few cores, a context switch.
 */
export const LOG_N_INLINE = 6

/**
 * Whether the hash was made from the key. Check its cost first.
 *
 * Equivalent to `Scrypt.verify`, against which it is tested, but with one trip to the thread pool instead of four: at a
 * low cost the others, one SHA-256 and one HMAC through Web Crypto, take longer than scrypt itself.
 *
 * @see the header of a file in [scrypt's format](https://github.com/Tarsnap/scrypt/blob/master/FORMAT):
 * 16 bytes of parameters, 32 of salt, 16 of the SHA-256 and 32 of the HMAC-SHA-256 of everything before them
 */
export async function hashMatches (hash: Uint8Array, key: string): Promise<boolean> {
  return isIntact(hash) && isSignedWith(hash, await derive(key, saltOf(hash), 64, costOptions(hash)))
}

/** The same, synchronously on the event loop: for costs up to {@link LOG_N_INLINE}. */
export function hashMatchesInline (hash: Uint8Array, key: string): boolean {
  return isIntact(hash) && isSignedWith(hash, scryptSync(key, saltOf(hash), 64, costOptions(hash)))
}

function isIntact (hash: Uint8Array): boolean {
  const checksum = createHash('sha256').update(hash.subarray(0, 48)).digest().subarray(0, 16)
  return timingSafeEqual(checksum, hash.subarray(48, 64))
}

function isSignedWith (hash: Uint8Array, derived: Buffer): boolean {
  const mac = createHmac('sha256', derived.subarray(32)).update(hash.subarray(0, 64)).digest()
  return timingSafeEqual(mac, hash.subarray(64))
}

function saltOf (hash: Uint8Array): Uint8Array {
  return hash.subarray(16, 48)
}

function costOptions (hash: Uint8Array): ScryptOptions {
  const { logN, r, p } = paramsFromHash(hash)
  return { N: 2 ** logN, r, p, maxmem: 2 * 128 * 2 ** LOG_N_LIMIT * r }
}

function paramsFromHash (hash: Uint8Array): { readonly logN: number, readonly r: number, readonly p: number } {
  const view = new DataView(hash.buffer, hash.byteOffset, hash.byteLength)
  return { logN: view.getUint8(7), r: view.getUint32(8), p: view.getUint32(12) }
}
