import { DUAL_AUTH_CREDENTIAL_INVALID } from '../errors.ts'

/** A caller that presented an API key. */
export interface ApiKeyIdentity {
  readonly kind: 'api-key'
  /** UUID of the key, the one in the management routes; never secret. */
  readonly keyId: string
  /** The one shop the key belongs to. */
  readonly shopId: string
  /** `read`, `write` or operation ids; empty means every operation of the shop. */
  readonly scopes: readonly string[]
}

/** A program that presented a client-credentials access token. */
export interface MachineIdentity {
  readonly kind: 'machine'
  readonly clientId: string
  readonly scopes: readonly string[]
}

/** A person who presented an access token of a known app client. */
export interface UserIdentity {
  readonly kind: 'user'
  /** The `sub` claim: stable and unique at the identity provider. Map your own users by it. */
  readonly subject: string
  /** The name the person signs in with, for display; null when the token has none. */
  readonly username: string | null
  /** The groups claim; empty when the token has none. */
  readonly groups: readonly string[]
  readonly scopes: readonly string[]
}

/** Who is calling. Frozen. */
export type Identity = ApiKeyIdentity | MachineIdentity | UserIdentity

/** The claims of a token whose signature has been verified. */
export type Claims = Readonly<Record<string, unknown>>

/** What the claims must say, beyond a good signature. */
export interface ClaimRules {
  /** Clients whose tokens stand for a person. */
  readonly userClients: readonly string[]
  /** Clients whose tokens may stand for a machine; undefined: any client of the issuer. */
  readonly machineClients?: readonly string[] | undefined
  /** Scopes that make a machine; undefined: any scope that ends in `/api`. */
  readonly machineScopes?: readonly string[] | undefined
  /** Allowed values of `aud`; checked when the token has one. */
  readonly audience?: readonly string[] | undefined
  readonly groupsClaim: string
  /** Seconds that the issuer's clock may be ahead of ours. */
  readonly clockTolerance: number
}

// RFC 6749 §3.3: scope-token *( SP scope-token )
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/
const MACHINE_SCOPE = /^[^\s/]\S*\/api$/

/**
 * The identity that verified claims stand for: a machine if a scope says so and no person is named,
 * else a person if the client is one that people sign in with.
 *
 * @param now Seconds since the epoch.
 * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID} when they stand for neither; the cause says why.
 */
export function identityFromClaims (claims: Claims, rules: ClaimRules, now: number): MachineIdentity | UserIdentity {
  const { sub, client_id: clientId, token_use: use, iat, exp } = claims
  // An ID token says who somebody is to an app; it is no permission to call anything.
  if (use !== 'access') throw refusal('token_use is not access')
  if (typeof sub !== 'string' || sub === '') throw refusal('sub is not a string')
  if (typeof clientId !== 'string') throw refusal('client_id is not a string')
  if (!Number.isSafeInteger(exp) || !Number.isSafeInteger(iat)) throw refusal('exp or iat is not an integer')
  if (Number(iat) > now + rules.clockTolerance) throw refusal('iat is in the future')
  if (!audienceMatches(claims.aud, rules.audience)) throw refusal('aud is another resource')

  const scopes = scopesFromClaim(claims.scope)
  const username = claims.username ?? claims['cognito:username'] ?? null
  if (username !== null && typeof username !== 'string') throw refusal('username is not a string')

  // Both halves: a person's token with such a scope must not become a service.
  if (username === null && sub === clientId) {
    if (!scopes.some(scope => isMachineScope(scope, rules))) throw refusal('no scope of a machine')
    if (rules.machineClients?.includes(clientId) === false) throw refusal('client is not a known machine')
    return Object.freeze({ kind: 'machine', clientId, scopes })
  }
  if (!rules.userClients.includes(clientId)) throw refusal('client is not a known app')
  return Object.freeze({ kind: 'user', subject: sub, username, groups: groupsFromClaim(claims[rules.groupsClaim]), scopes })
}

function isMachineScope (scope: string, { machineScopes }: ClaimRules): boolean {
  return machineScopes === undefined ? MACHINE_SCOPE.test(scope) : machineScopes.includes(scope)
}

function scopesFromClaim (scope: unknown): readonly string[] {
  if (scope === undefined || scope === '') return Object.freeze([])
  if (typeof scope !== 'string' || !SCOPE.test(scope)) throw refusal('scope is not a list of scopes')
  return Object.freeze(scope.split(' '))
}

function groupsFromClaim (groups: unknown): readonly string[] {
  if (groups === undefined) return Object.freeze([])
  if (!Array.isArray(groups) || !groups.every(group => typeof group === 'string')) throw refusal('groups are not strings')
  return Object.freeze([...groups])
}

// Cognito's access tokens have no `aud` unless the client asked for a resource (RFC 8707), so absent is fine.
function audienceMatches (aud: unknown, allowed: readonly string[] | undefined): boolean {
  if (aud === undefined || allowed === undefined) return true
  const values: unknown[] = Array.isArray(aud) ? aud : [aud]
  return values.some(value => typeof value === 'string' && allowed.includes(value))
}

function refusal (reason: string) {
  return new DUAL_AUTH_CREDENTIAL_INVALID({ cause: reason })
}
