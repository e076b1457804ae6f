import { createHash, createHmac, scrypt, scryptSync, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'
import * as module from 'scrypt-kdf'

// The package's types list named exports; the module itself has only the default one.
const Scrypt = (module as unknown as { readonly default: typeof module }).default

const derive: (key: string, salt: Uint8Array, length: number, options: ScryptOptions) => Promise<Buffer> = promisify(scrypt)

/** Bytes of a hash in the scrypt file header format: parameters, salt, checksum, MAC. */
const HASH_LENGTH = 96
/** The highest cost a stored hash may ask for: 32 MiB a run. */
export const LOG_N_LIMIT = 15

/** The hash of a key with a salt of its own. @param logN Cost: 2^logN × 1 KiB of memory. */
export async function hashFromKey (key: string, logN: number): Promise<Buffer> {
  return Buffer.from(await Scrypt.kdf(key, { logN }))
}

/**
 * The cost a stored hash asks for, or null when it asks for what this package never wrote:
 * `Scrypt.verify` trusts the parameters in the row, so a tampered row would be a memory bomb.
 */
export function costFromHash (hash: Uint8Array): number | null {
  if (hash.length !== HASH_LENGTH) return null
  const { logN, r, p } = paramsFromHash(hash)
  return logN >= 1 && logN <= LOG_N_LIMIT && r === 8 && p === 1 ? logN : null
}

/**
 * The highest cost at which a key is verified on the event loop. Up to here a run takes less time than a trip to the
 * thread pool costs the processor: waking a thread, and being put aside for it where there are few cores.
 */
export const LOG_N_INLINE = 6

/**
 * Whether the hash was made from the key. Its cost must have been checked.
 *
 * Does what `Scrypt.verify` does, which is the oracle of the tests, but in one run of scrypt: its other three trips to
 * the thread pool, through Web Crypto for one SHA-256 and one HMAC, take longer than scrypt itself at a low cost.
 *
 * @see the header of a file in [scrypt's format](https://github.com/Tarsnap/scrypt/blob/master/FORMAT):
 * 16 bytes parameters, 32 salt, 16 of the SHA-256 of all before, 32 HMAC-SHA-256 of all before
 */
export async function hashMatches (hash: Uint8Array, key: string): Promise<boolean> {
  return isWhole(hash) && signedBy(hash, await derive(key, saltOf(hash), 64, costOptions(hash)))
}

/** The same at once, on the event loop: for costs up to {@link LOG_N_INLINE}. */
export function hashMatchesInline (hash: Uint8Array, key: string): boolean {
  return isWhole(hash) && signedBy(hash, scryptSync(key, saltOf(hash), 64, costOptions(hash)))
}

function isWhole (hash: Uint8Array): boolean {
  const checksum = createHash('sha256').update(hash.subarray(0, 48)).digest().subarray(0, 16)
  return timingSafeEqual(checksum, hash.subarray(48, 64))
}

function signedBy (hash: Uint8Array, derived: Buffer): boolean {
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
