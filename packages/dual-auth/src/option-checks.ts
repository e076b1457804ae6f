import { DUAL_AUTH_INVALID_OPTION } from './errors.ts'

/*
 * Checks for single options. Each names the option in full and trusts no type: options come from JavaScript and from
 * the environment too, where no compiler checks them.
 */

/** @throws {@link DUAL_AUTH_INVALID_OPTION} unless the condition holds; the message starts with the option's name */
export function must (condition: boolean, message: string): asserts condition {
  if (!condition) throw new DUAL_AUTH_INVALID_OPTION(message)
}

export function object<T extends object> (name: string, value: T): T {
  must(value !== undefined, `${name} is required`)
  must(typeof value === 'object' && value !== null && !Array.isArray(value), `${name} must be an object`)
  return value
}

/** Rejects options that are left over after every known one was taken: a misspelt option would silently do nothing. */
export function noOthers (prefix: string, rest: object): void {
  for (const name of Object.keys(rest)) must(false, `${prefix}${name} is not an option`)
}

export function func<T> (name: string, value: T): T {
  must(typeof value === 'function', `${name} must be a function`)
  return value
}

export function string (name: string, value: string): string {
  must(typeof value === 'string' && value !== '', `${name} must be a non-empty string`)
  return value
}

/** A lone string is rejected: it would pass for a list of its letters. */
export function strings<T extends string> (name: string, value: readonly T[], what = 'strings'): readonly T[] {
  must(Array.isArray(value) && value.every(item => typeof item === 'string' && item !== ''), `${name} must be a list of ${what}`)
  return value
}

export function integer (name: string, value: number, minimum: number): number {
  must(Number.isSafeInteger(value) && value >= minimum, `${name} must be a whole number, at least ${minimum}`)
  return value
}

/** Milliseconds that a timer can hold: it treats a longer wait as none. */
export function duration (name: string, value: number): number {
  must(integer(name, value, 1) < 2 ** 31, `${name} must be less than 2^31 milliseconds`)
  return value
}

/** An address that signing keys may come from. */
export function safeUrl (name: string, value: string): string {
  must(isSafeUrl(value), `${name} must be an https URL, or http on loopback`)
  must(!hasUser(value), `${name} must have no user and no password`)
  return value
}

/** `https`, or `http` on this machine: anybody could have replaced keys that come over anything else. */
export function isSafeUrl (url: unknown): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname))
}

/** Whether a URL contains credentials, which `fetch` rejects and a log shows. */
export function hasUser (url: string): boolean {
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}
