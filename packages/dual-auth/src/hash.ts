import * as module from 'scrypt-kdf'

// The package's types list named exports; the module itself has only the default one.
const Scrypt = (module as unknown as { readonly default: typeof module }).default

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
  const { logN, r, p } = Scrypt.viewParams(hash)
  return logN >= 1 && logN <= LOG_N_LIMIT && r === 8 && p === 1 ? logN : null
}

/** Whether the hash was made from the key. Its cost must have been checked. */
export async function hashMatches (hash: Uint8Array, key: string): Promise<boolean> {
  return Scrypt.verify(hash, key)
}
