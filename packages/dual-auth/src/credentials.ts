import type { IncomingHttpHeaders } from 'node:http'
import { DUAL_AUTH_CREDENTIAL_INVALID } from './errors.ts'

/** What a request presents, before any of it is verified. */
export type Credential =
  | { readonly kind: 'none' }
  | { readonly kind: 'api-key', readonly value: string }
  | { readonly kind: 'jwt', readonly value: string }
  | { readonly kind: 'malformed', readonly value: string }

/** In characters; longer tokens are rejected without being parsed. */
const TOKEN_LIMIT = 8192

// RFC 6750 §2.1; the scheme is case-insensitive (RFC 9110 §11.1). One space, as every client sends it.
const BEARER = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i
const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

const NONE: Credential = Object.freeze({ kind: 'none' })

/**
 * The one credential of a request. If the API key header is set, it alone decides, even beside a token: a bad
 * credential must not be rescued by the next one.
 *
 * @param header the API key's header, lower case
 * @param marker what this server's API keys start with
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

/** Whether the same credential was presented twice. */
export function sameCredential (a: Credential, b: Credential): boolean {
  return b.kind !== 'none' && a.kind === b.kind && a.value === b.value
}

/** The error for a credential that is not valid here. Its reason is logged and never sent. */
export function invalidCredential (reason: string): Error {
  return new DUAL_AUTH_CREDENTIAL_INVALID({ cause: reason })
}
