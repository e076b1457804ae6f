/*
 * People and the provider write an e-mail address as they like: blanks around it and its case make no other one.
 */

/** @returns the address as it is compared; undefined if there is none */
export function comparableAddress (email: unknown): string | undefined {
  return typeof email === 'string' ? email.trim().toLowerCase() || undefined : undefined
}

/** @returns the ways to look for an address where only the exact one is found: as it is written, and in lower case */
export function writtenAddresses (email: string): readonly string[] {
  return [...new Set([email.trim(), email.trim().toLowerCase()])].filter((address) => address !== '')
}
