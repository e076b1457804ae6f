import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { digest } from '../digest.ts'

/** What a browser begins: it is asked whether a client may sign in, or its person is sent to the identity provider. */
export type Begun = 'asked' | 'sign-in'

/** The cookies of one browser. Together they are at most {@link MOST} characters, with their names: the oldest goes. */
export interface Browser {
  /** What it allowed before, sealed. */
  consent(): string | undefined
  /** @param seconds - how long it is kept */
  keepConsent(value: string, seconds: number): void
  /**
   * Gives the browser a value that nobody else knows.
   *
   * @param seconds - how long it is kept
   * @returns what stands for it in sealed values
   */
  begin(kind: Begun, seconds: number): string
  /** Whether the browser has the value that this stands for. */
  hasBegun(kind: Begun, mark: string): boolean
  end(kind: Begun, mark: string): void
  /** Whether it has begun anything that it did not end. */
  isBusy(): boolean
}

/** Cookies with another name than those of the host. */
const NAME = 'oauth-'
const CONSENT = 'consent'
const BEGUN = /^(?:asked|sign-in)-[\w-]{22}$/

/** In characters: proxies accept 4 KiB of headers and more, and the host has cookies, too. */
const MOST = 2000

/** How many cookies a response removes, since each takes a header. Only planted ones are so many. */
const MOST_REMOVED = 4

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
  // Browsers send the oldest first.
  const cookies = new Map<string, string>()
  for (const pair of request.headers.cookie?.split(';') ?? []) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair.trim()) ?? []
    const own = name?.startsWith(prefix) === true ? name.slice(prefix.length) : ''
    // Without the prefix __Host- a cookie for a longer path comes first. Ours is the last one.
    if (own === CONSENT || BEGUN.test(own)) cookies.set(own, value!)
  }
  let removed = 0

  const lengthOf = (name: string, value: string): number => `; ${prefix}${name}=${value}`.length
  const send = (name: string, value: string, seconds: number): void => {
    const attributes = ['Path=/', 'HttpOnly', 'SameSite=Lax', ...isSecure ? ['Secure'] : [], `Max-Age=${seconds}`]
    reply.header('set-cookie', [`${prefix}${name}=${value}`, ...attributes].join('; '))
  }
  function set (name: string, value: string, seconds: number): void {
    const others = [...cookies].filter(([other]) => other !== name)
    let total = others.reduce((sum, cookie) => sum + lengthOf(...cookie), lengthOf(name, value))
    for (const [other, old] of others.filter(([one]) => one !== CONSENT)) {
      if (total <= MOST || removed === MOST_REMOVED) break
      remove(other)
      removed++
      total -= lengthOf(other, old)
    }
    cookies.set(name, value)
    send(name, value, seconds)
  }
  function remove (name: string): void {
    cookies.delete(name)
    send(name, '', 0)
  }

  return {
    consent: () => cookies.get(CONSENT),
    keepConsent: (value, seconds) => {
      set(CONSENT, value, seconds)
    },
    begin (kind, seconds) {
      const value = unguessable()
      const mark = digest(value)
      set(nameOf(kind, mark), value, seconds)
      return mark
    },
    hasBegun (kind, mark) {
      const value = cookies.get(nameOf(kind, mark))
      return value !== undefined && digest(value) === mark
    },
    end: (kind, mark) => {
      remove(nameOf(kind, mark))
    },
    isBusy: () => [...cookies.keys()].some((name) => name !== CONSENT)
  }
}

/** A cookie for each: what is begun at the same time in a new browser must not replace each other. */
function nameOf (kind: Begun, mark: string): string {
  return `${kind}-${mark.slice(0, 22)}`
}

/** A value that nobody can guess: 256 bits, 43 characters. */
export function unguessable (): string {
  return randomBytes(32).toString('base64url')
}
