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

/** The options without those that Fastify passes on from a registration. */
export function ownOptions (rest: object): object {
  const { logLevel: _logLevel, logSerializers: _logSerializers, ...own } = rest as Record<string, unknown>
  return own
}

export function func<T> (name: string, value: T): T {
  must(typeof value === 'function', `${name} must be a function`)
  return value
}

export function boolean (name: string, value: boolean): boolean {
  must(typeof value === 'boolean', `${name} must be true or false`)
  return value
}

export function string (name: string, value: string): string {
  must(typeof value === 'string' && value !== '', `${name} must be a non-empty string`)
  return value
}

/** A lone string is rejected: it would pass for a list of its letters. */
export function strings<T extends string> (name: string, value: readonly T[], what = 'strings'): readonly T[] {
  must(
    Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== ''),
    `${name} must be a list of ${what}`
  )
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

/**
 * An address that signing keys may come from.
 *
 * @param insecure - the option that allows http on other machines, if there is one
 */
export function safeUrl (
  name: string,
  value: string,
  insecure?: { readonly option: string, readonly isSet: boolean }
): string {
  const hint = insecure !== undefined && /^http:/i.test(value)
    ? `: ${insecure.option} allows http, inside a network of your own`
    : ''
  must(isSafeUrl(value, insecure?.isSet), `${name} must be an https URL, or http on loopback${hint}`)
  must(!hasUser(value), `${name} must have no user and no password`)
  // As at the end of a file. `URL` drops them, and no token has such an issuer.
  must(!/\s/.test(value), `${name} must contain no spaces and no line breaks`)
  return value
}

/**
 * `https`, or `http` on this machine: anybody could have replaced keys that come over anything else.
 *
 * @param http - whether that is accepted
 */
export function isSafeUrl (url: unknown, http = false): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' ||
    (protocol === 'http:' && (http || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)))
}

/** Whether a URL contains credentials, which `fetch` rejects and a log shows. */
export function hasUser (url: string): boolean {
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}
