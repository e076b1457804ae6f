import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** The cookies of one browser. */
export interface Browser {
  /** The value of a cookie of this plugin. */
  get (name: string): string | undefined
  /** Those whose names begin so, oldest first, each with its length. */
  startingWith (beginning: string): ReadonlyArray<readonly [name: string, length: number]>
  /** @param seconds - how long it is kept; by default until the browser is closed */
  set (name: string, value: string, seconds?: number): void
  remove (name: string): void
}

/** Cookies with another name than those of the host. */
const NAME = 'oauth-'

/** In characters: browsers keep 4,096 bytes of a cookie, with its name and attributes. What is longer is kept in several. */
const PART = 3500

/** The name of a part; the first has the name itself. */
const partOf = (name: string, part: number): string => part === 0 ? name : `${name}.${part}`

/**
 * Cookies that only this origin can set and read: with the prefix `__Host-` no other host, not even a subdomain, can
 * plant one. Over plain http, which only a server on this machine may have, browsers refuse the prefix: there, every
 * port of this machine shares them.
 *
 * `Lax`: they come along when the identity provider sends the browser back, and not with forms of other sites.
 *
 * @see [RFC 6265bis §4.1.3.2](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-4.1.3.2)
 */
export function browserOf (request: FastifyRequest, reply: FastifyReply, isSecure: boolean): Browser {
  const prefix = isSecure ? `__Host-${NAME}` : NAME
  const cookies = new Map<string, string>()
  for (const pair of request.headers.cookie?.split(';') ?? []) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair.trim()) ?? []
    // Without the prefix __Host- a cookie for a longer path comes first. Ours is the last one.
    if (name?.startsWith(prefix)) cookies.set(name.slice(prefix.length), value!)
  }
  const send = (name: string, value: string, ...attributes: readonly string[]): void => {
    reply.header('set-cookie', [`${prefix}${name}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax', ...isSecure ? ['Secure'] : [], ...attributes].join('; '))
  }
  const partsOf = (name: string): readonly string[] => {
    const parts: string[] = []
    for (let value = cookies.get(name); value !== undefined; value = cookies.get(partOf(name, parts.length))) parts.push(value)
    return parts
  }
  return {
    get: (name) => cookies.has(name) ? partsOf(name).join('') : undefined,
    startingWith: (beginning) => [...cookies.keys()].filter((name) => name.startsWith(beginning) && !name.includes('.')).map((name) => [name, partsOf(name).join('').length]),
    set (name, value, seconds) {
      for (let part = 0; part * PART < value.length; part++) send(partOf(name, part), value.slice(part * PART, (part + 1) * PART), ...seconds === undefined ? [] : [`Max-Age=${seconds}`])
    },
    remove (name) {
      for (const part of partsOf(name).keys()) send(partOf(name, part), '', 'Max-Age=0')
    }
  }
}

/** A value that nobody can guess: 256 bits, 43 characters. */
export function unguessable (): string {
  return randomBytes(32).toString('base64url')
}
