import type { IncomingHttpHeaders } from 'node:http'

/** What a request presents, before anything about it is believed. */
export type Credential =
  | { readonly kind: 'none' }
  | { readonly kind: 'api-key', readonly value: string }
  | { readonly kind: 'jwt', readonly value: string }
  | { readonly kind: 'malformed', readonly value: string }

/** Characters; longer tokens are refused unread. */
const TOKEN_LIMIT = 8192

// RFC 6750 §2.1; the scheme is case-insensitive (RFC 9110 §11.1). One space, as every client sends it.
const BEARER = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i
const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

const NONE: Credential = Object.freeze({ kind: 'none' })

/**
 * The one credential of a request. An API key in its own header decides alone, even beside a token:
 * what is presented first and is bad must not be saved by what comes after it.
 *
 * @param header The API key's header, lower case.
 * @param marker What the API keys of this server start with.
 */
export function credentialFromHeaders (headers: IncomingHttpHeaders, header: string, marker: string): Credential {
  const own = headers[header]
  const { authorization } = headers
  if (own === undefined && authorization === undefined) return NONE

  const bearer = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
  const bearerKey = bearer?.startsWith(`${marker}_`) === true ? bearer : undefined
  if (own !== undefined) {
    const value = String(own)
    const contradicted = bearerKey !== undefined && bearerKey !== value
    return { kind: contradicted ? 'malformed' : 'api-key', value }
  }
  if (bearerKey !== undefined) return { kind: 'api-key', value: bearerKey }
  if (bearer === undefined || bearer.length > TOKEN_LIMIT || !JWT.test(bearer)) return { kind: 'malformed', value: String(authorization) }
  return { kind: 'jwt', value: bearer }
}

/** Whether two credentials are the same presented twice. */
export function sameCredential (a: Credential, b: Credential): boolean {
  return a.kind !== 'none' && b.kind !== 'none' && a.kind === b.kind && a.value === b.value
}
