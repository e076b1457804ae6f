import type { IncomingHttpHeaders } from 'node:http'
import { DUAL_AUTH_CREDENTIAL_INVALID } from './errors.ts'
import { otherMarker } from './keys/format.ts'

/** What a request presents, before any of it is verified. */
export type PresentedCredential =
  | { readonly kind: 'none' }
  /** An API key, or what stands in its place. */
  | { readonly kind: 'api-key', readonly value: string }
  /** A token, or another value of `Authorization`. */
  | { readonly kind: 'token', readonly value: string }

/** The same, for its verification. */
export type Credential =
  | { readonly kind: 'none' }
  | { readonly kind: 'api-key', readonly value: string, readonly isInOwnHeader?: true }
  | { readonly kind: 'jwt', readonly value: string }
  /** A token that only its issuer can read. */
  | { readonly kind: 'opaque', readonly value: string }
  | {
    readonly kind: 'malformed',
    readonly value: string,
    readonly reason: string,
    readonly isKey?: true,
    readonly isInOwnHeader?: true
  }

// RFC 6750 §2.1; the scheme is case-insensitive (RFC 9110 §11.1). One space, as every client sends it.
const BEARER = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i
const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

const NONE: Credential = Object.freeze({ kind: 'none' })

/** Values of a header that is not set: a client whose variable is empty, or two such headers, which Node.js joins. */
const EMPTY = /^[\s,]*$/

/**
 * The one credential of a request. If the API key header is set, it alone decides, even beside a token: a bad
 * credential must not be rescued by the next one.
 *
 * @param header - the API key's header, lower case; null where it is not looked at
 * @param marker - what this server's API keys start with
 */
export function credentialFromHeaders (
  headers: IncomingHttpHeaders,
  header: string | null,
  marker: string
): Credential {
  const own = header === null ? '' : String(headers[header] ?? '')
  const isOwn = !EMPTY.test(own)
  const { authorization } = headers
  if (!isOwn && authorization === undefined) return NONE

  const bearer = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
  const bearerKey = bearer?.startsWith(`${marker}_`) === true ? bearer : undefined
  if (isOwn) {
    const isOther = bearerKey !== undefined && bearerKey !== own
    if (isOther) return { kind: 'malformed', value: own, reason: TWO_KEYS, isKey: true, isInOwnHeader: true }
    return { kind: 'api-key', value: own, isInOwnHeader: true }
  }
  if (bearerKey !== undefined) return { kind: 'api-key', value: bearerKey }
  if (bearer !== undefined && JWT.test(bearer)) return { kind: 'jwt', value: bearer }
  const reason = flawOf(String(authorization), bearer, marker)
  if (bearer !== undefined && reason === undefined) return { kind: 'opaque', value: bearer }
  const value = String(authorization)
  return { kind: 'malformed', value, reason: reason ?? NO_TOKEN, ...value.includes(`${marker}_`) && { isKey: true } }
}

/** What the host may know of a credential. */
export function presentedFrom (credential: Credential): PresentedCredential {
  if (credential.kind === 'none') return credential
  return { kind: isKey(credential) ? 'api-key' : 'token', value: credential.value }
}

/** Whether `Authorization` was presented, which is what a challenge is about. */
export function isBearer (credential: Credential): boolean {
  return credential.kind !== 'none' && !('isInOwnHeader' in credential)
}

/** Whether API keys were presented, however well: one that is wrong must not be rescued by another credential. */
export function isKey (credential: Credential): boolean {
  return credential.kind === 'api-key' || (credential.kind === 'malformed' && credential.isKey === true)
}

/** What clients get wrong, each with what the log says of it; the first that fits. */
const FLAWS: ReadonlyArray<readonly [shape: RegExp, reason: string]> = [
  [
    /^(?:ey[\w-]*\.|[a-z][a-z0-9_]{0,15}_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$)/,
    'Authorization has no scheme: it must start with Bearer'
  ],
  [/^(?!Bearer(?:\s|$))/i, 'Authorization has another scheme than Bearer'],
  [/^Bearer\s*$/i, 'Authorization has nothing after Bearer'],
  // A token may start like one of these words.
  [
    /^Bearer (?:(?:undefined|null|none|nan)$|\[object|[<$%{])/i,
    'Authorization has a placeholder, or a variable that is not set'
  ],
  [/["']/, 'Authorization contains quotes'],
  [/^Bearer ey[\w-]*(?:\.[\w-]*){4}$/i, 'the token is encrypted (JWE)'],
  [/^Bearer ey[\w-]*\.\S*$/i, 'the token is a damaged JWT']
]

const TWO_KEYS = 'two different API keys were presented'
const NO_TOKEN = 'Authorization is not Bearer, one space and a single token'

function flawOf (authorization: string, bearer: string | undefined, marker: string): string | undefined {
  return (bearer === undefined ? undefined : otherMarker(bearer, marker)) ??
    FLAWS.find(([shape]) => shape.test(authorization))?.[1]
}

/** Whether the same credential was presented twice. */
export function sameCredential (a: Credential, b: Credential): boolean {
  return b.kind !== 'none' && a.kind === b.kind && a.value === b.value
}

/** The error for a credential that is not valid here. Its reason is logged and never sent. */
export function invalidCredential (reason: string): Error {
  return new DUAL_AUTH_CREDENTIAL_INVALID({ cause: reason })
}
