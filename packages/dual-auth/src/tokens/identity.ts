import { invalidCredential } from '../credentials.ts'
import type { MachineIdentity, UserIdentity } from '../types.ts'

/** The claims of a token whose signature has been verified. */
export type Claims = Readonly<Record<string, unknown>>

/** What the claims must be, apart from a valid signature. */
export interface ClaimRules {
  /** Clients whose tokens identify a person. */
  readonly userClients: readonly string[]
  /** Clients whose tokens may identify a machine; undefined: any client of the issuer. */
  readonly machineClients?: readonly string[] | undefined
  /** Scopes that make a caller a machine; undefined: any scope that ends in `/api`. */
  readonly machineScopes?: readonly string[] | undefined
  /** Allowed values of `aud`, checked if the token has one. */
  readonly audience?: readonly string[] | undefined
  readonly groupsClaim: string
  /** How far the issuer's clock may be ahead of ours, in milliseconds. */
  readonly clockTolerance: number
}

// RFC 6749 §3.3: scope-token *( SP scope-token )
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/
const MACHINE_SCOPE = /^[^\s/]\S*\/api$/

/**
 * The identity behind verified claims: a machine if it has a machine's scope and names no person, else a person if the
 * client is one that people sign in with.
 *
 * @param now in milliseconds since the epoch
 * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID} if they identify neither; the cause says why
 */
export function identityFromClaims (claims: Claims, rules: ClaimRules, now: number): MachineIdentity | UserIdentity {
  const { sub, client_id: clientId, token_use: use, iat, exp } = claims
  // An ID token tells an app who signed in; it is not a permission to call anything.
  if (use !== 'access') throw invalidCredential('token_use is not access')
  if (typeof sub !== 'string' || sub === '') throw invalidCredential('sub is not a string')
  if (typeof clientId !== 'string') throw invalidCredential('client_id is not a string')
  if (!Number.isSafeInteger(exp) || !Number.isSafeInteger(iat)) throw invalidCredential('exp or iat is not an integer')
  if (Number(iat) * 1000 > now + rules.clockTolerance) throw invalidCredential('iat is in the future')
  if (!audienceMatches(claims.aud, rules.audience)) throw invalidCredential('aud is another resource')

  const scopes = scopesFromClaim(claims.scope)
  const username = claims.username ?? claims['cognito:username'] ?? null
  if (username !== null && typeof username !== 'string') throw invalidCredential('username is not a string')

  // Both conditions: a person's token with a machine's scope must not become a machine.
  if (username === null && sub === clientId) {
    if (!scopes.some(scope => isMachineScope(scope, rules))) throw invalidCredential('no machine scope')
    if (rules.machineClients?.includes(clientId) === false) throw invalidCredential('client is not a known machine')
    return Object.freeze({ kind: 'machine', clientId, scopes })
  }
  if (!rules.userClients.includes(clientId)) throw invalidCredential('client is not a known app')
  return Object.freeze({ kind: 'user', subject: sub, username, groups: groupsFromClaim(claims[rules.groupsClaim]), scopes })
}

function isMachineScope (scope: string, { machineScopes }: ClaimRules): boolean {
  return machineScopes === undefined ? MACHINE_SCOPE.test(scope) : machineScopes.includes(scope)
}

function scopesFromClaim (scope: unknown): readonly string[] {
  if (scope === undefined || scope === '') return Object.freeze([])
  if (typeof scope !== 'string' || !SCOPE.test(scope)) throw invalidCredential('scope is not a list of scopes')
  return Object.freeze(scope.split(' '))
}

function groupsFromClaim (groups: unknown): readonly string[] {
  if (groups === undefined) return Object.freeze([])
  if (!Array.isArray(groups) || !groups.every(group => typeof group === 'string')) throw invalidCredential('groups are not strings')
  return Object.freeze([...groups])
}

// Cognito's access tokens have no `aud` unless the client asked for a resource (RFC 8707), so absent is fine.
function audienceMatches (aud: unknown, allowed: readonly string[] | undefined): boolean {
  if (aud === undefined || allowed === undefined) return true
  const values: unknown[] = Array.isArray(aud) ? aud : [aud]
  return values.some(value => typeof value === 'string' && allowed.includes(value))
}
