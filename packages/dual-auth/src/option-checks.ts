import { DUAL_AUTH_OPTION_INVALID } from './errors.ts'

/*
 * What a single option may be. Each check names the option in full, and takes what is given for unknown: options come
 * from JavaScript and from the environment too, where no compiler looks at them.
 */

/** @throws {@link DUAL_AUTH_OPTION_INVALID} unless it is so; the message begins with the option's name. */
export function demand (ok: boolean, message: string): asserts ok {
  if (!ok) throw new DUAL_AUTH_OPTION_INVALID(message)
}

/** An object to take options from. */
export function record<T extends object> (name: string, value: T): T {
  demand(value !== undefined, `${name} is required`)
  demand(typeof value === 'object' && value !== null && !Array.isArray(value), `${name} must be an object`)
  return value
}

/** Refuses what is left of an object when every option that there is was taken: a misspelt one would be off in silence. */
export function nothingElse (prefix: string, rest: object): void {
  for (const name of Object.keys(rest)) demand(false, `${prefix}${name} is not an option`)
}

export function callable<T> (name: string, value: T): T {
  demand(typeof value === 'function', `${name} must be a function`)
  return value
}

export function text (name: string, value: string): string {
  demand(typeof value === 'string' && value !== '', `${name} must be a text that is not empty`)
  return value
}

/** A text would pass for a list of its letters, and be searched for parts of it. */
export function texts<T extends string> (name: string, value: readonly T[], what = 'texts'): readonly T[] {
  demand(Array.isArray(value) && value.every(item => typeof item === 'string' && item !== ''), `${name} must be a list of ${what}`)
  return value
}

export function integer (name: string, value: number, minimum: number): number {
  demand(Number.isSafeInteger(value) && value >= minimum, `${name} must be a whole number, at least ${minimum}`)
  return value
}

/** A wait that a timer can hold: a longer one would be taken for none at all. */
export function duration (name: string, value: number): number {
  demand(integer(name, value, 1) < 2 ** 31, `${name} must be less than 2^31 milliseconds`)
  return value
}

/** An address that keys may come from. */
export function provider (name: string, value: string): string {
  demand(isTrustworthy(value), `${name} must be an https URL, or http on loopback`)
  return value
}

/** https, or http on this machine: keys that come over anything else can be anybody's. */
export function isTrustworthy (url: unknown): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname))
}
