import { invalidCredential } from '../credentials.ts'
import { SCOPE_TOKEN } from '../policy.ts'
import type { MachineIdentity, UserIdentity } from '../types.ts'
import {
  claimAt,
  CLIENT_CLAIMS,
  flawOfAny,
  isMarkedAsMachine,
  isRecord,
  type ClaimPaths,
  type Claims,
  type TokenShape
} from './providers.ts'

/** What the claims must be, apart from a valid signature. */
export interface ClaimRules {
  readonly shape: TokenShape
  /** Where the claims are: those of the shape, but for those that the host names. */
  readonly claims: ClaimPaths
  /** Clients whose tokens identify a person; undefined: any client of the issuer. */
  readonly userClients: readonly string[] | undefined
  /** Clients whose tokens may identify a machine; undefined: any client of the issuer. */
  readonly machineClients: readonly string[] | undefined
  /** Whether tokens that name no client are sessions of people, at the provider's own sign-in. */
  readonly sessionTokens: boolean
  /** Whether all claims that name a client count, beside the one in `claims`: that may be the same in all tokens. */
  readonly checkAllClients: boolean
  /** Scopes that make a caller a machine; undefined: those that the shape requires. */
  readonly machineScopes: readonly string[] | undefined
  /** Allowed values of `aud`; undefined: any. */
  readonly audience: readonly string[] | undefined
  /** How far the issuer's clock may be ahead of ours, in milliseconds. */
  readonly clockTolerance: number
}

const MACHINE_SCOPE = /^[^\s/]\S*\/api$/

/** Called with the name of a claim whose value, or part of it, has a shape that nothing is known of. */
export type LeftOut = (claim: string) => void

/**
 * The identity behind claims whose signature and issuer have been verified: a machine if the provider marks it as one
 * and it has a machine's scope, else a person if the client is one that people sign in with.
 *
 * @param now - in milliseconds since the epoch
 * @param leftOut - a name or groups of an unknown shape refuse nobody: without them a person can do less, not more
 * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID} if they identify neither; the cause says why
 */
export function identityFromClaims (
  claims: Claims,
  rules: ClaimRules,
  now: number,
  leftOut: LeftOut = () => {}
): MachineIdentity | UserIdentity {
  const { shape, machineClients, userClients } = rules
  const { iss, sub, iat, exp, aud } = claims
  const flaw = flawOfAny(claims) ?? shape.flaw(claims)
  if (flaw !== undefined) throw invalidCredential(flaw)
  if (!(sub === undefined && shape.machinesLackSubject) && (typeof sub !== 'string' || sub === '')) {
    throw invalidCredential('sub is not a string')
  }
  // RFC 7519 §2: seconds, and fractions of them.
  if (![exp, iat].every((time) => Math.abs(Number(time)) <= Number.MAX_SAFE_INTEGER && typeof time === 'number')) {
    throw invalidCredential('exp or iat is not a time')
  }
  if (Number(iat) * 1000 > now + rules.clockTolerance) throw invalidCredential('iat is in the future')
  if (!audienceMatches(aud, rules)) {
    throw invalidCredential(aud === undefined ? 'aud is missing' : 'aud is another resource')
  }
  const clients = clientsIn(claims, rules)
  const isSession = rules.sessionTokens && clients.length === 0
  const client = isSession ? '' : stringAt(claims, rules, 'client')

  const issuer = String(iss)
  const holder = shape.holder(claims, client, machineClients)
  const isUnclear = holder === undefined || (isSession && holder === 'machine') ||
    (holder === 'user' && isPerhapsMachine(claims, client, rules))
  if (isUnclear) throw invalidCredential('it is unclear whether a person or a machine holds it')
  if (holder === 'machine') {
    const scopes = scopesFromClaim(claimAt(claims, rules.claims.machineScopes))
    if (!hasMachineScope(scopes, rules)) throw invalidCredential('no machine scope')
    if (unlistedIn(clients, machineClients) !== undefined) throw invalidCredential('client is not a known machine')
    return Object.freeze({ kind: 'machine', issuer, clientId: client, scopes })
  }
  if (unlistedIn(clients, userClients) !== undefined) throw invalidCredential('client is not a known app')
  return Object.freeze({
    kind: 'user',
    issuer,
    subject: stringAt(claims, rules, 'subject'),
    username: usernameFromClaim(claimAt(claims, rules.claims.username), () => leftOut(namesOf(rules, 'username'))),
    groups: groupsFromClaim(claimAt(claims, rules.claims.groups), () => leftOut(namesOf(rules, 'groups'))),
    scopes: scopesFromClaim(claimAt(claims, rules.claims.scopes))
  })
}

/**
 * Whether the token may be a machine's, though not all of its claims say so: by a mark of one, or because its client is
 * listed for machines and nothing says that people sign in with it, too.
 */
function isPerhapsMachine (claims: Claims, client: string, { machineClients, userClients }: ClaimRules): boolean {
  return isMarkedAsMachine(claims) || (userClients === undefined && machineClients?.includes(client) === true)
}

/** The clients that the token names, in each claim of the provider that may. */
export function clientsIn (claims: Claims, rules: Pick<ClaimRules, 'claims' | 'checkAllClients'>): readonly unknown[] {
  const others = rules.checkAllClients ? CLIENT_CLAIMS.map((name) => [name]) : []
  return [...rules.claims.client, ...others].map((path) => claimAt(claims, [path])).filter((value) =>
    value !== undefined
  )
}

/** The first client that is not on the list, if there is a list. */
export function unlistedIn (clients: readonly unknown[], list: readonly unknown[] | undefined): unknown {
  return list === undefined ? undefined : clients.find((client) => !list.includes(client))
}

function stringAt (claims: Claims, rules: ClaimRules, fact: 'client' | 'subject'): string {
  const value = claimAt(claims, rules.claims[fact])
  if (typeof value !== 'string' || value === '') throw invalidCredential(`${namesOf(rules, fact)} is not a string`)
  return value
}

const namesOf = ({ claims }: ClaimRules, fact: keyof ClaimPaths): string =>
  claims[fact].map((path) => path.join('.')).join(' or ')

function hasMachineScope (scopes: readonly string[], { machineScopes, shape }: ClaimRules): boolean {
  if (machineScopes !== undefined) return scopes.some((scope) => machineScopes.includes(scope))
  return !shape.needsMachineScope || scopes.some((scope) => MACHINE_SCOPE.test(scope))
}

/** A string of scopes separated by spaces, or a list of scopes. */
function scopesFromClaim (claim: unknown): readonly string[] {
  if (claim === undefined || claim === '') return Object.freeze([])
  const scopes: unknown[] = Array.isArray(claim) ? claim : typeof claim === 'string' ? claim.split(' ') : [claim]
  if (!scopes.every((scope) => typeof scope === 'string' && SCOPE_TOKEN.test(scope))) {
    throw invalidCredential('scopes are not a list of scopes')
  }
  return Object.freeze(scopes as string[])
}

/** A number counts as its digits. */
function usernameFromClaim (claim: unknown, leaveOut: () => void): string | null {
  if (typeof claim === 'string' || claim === undefined) return claim ?? null
  if (typeof claim === 'number') return String(claim)
  leaveOut()
  return null
}

/**
 * A list of names, an object that has them as keys, unless their value is false or null, or a single name, as many
 * providers write a list of one.
 */
function groupsFromClaim (claim: unknown, leaveOut: () => void): readonly string[] {
  const groups: readonly unknown[] = isRecord(claim)
    ? Object.keys(claim).filter((name) => claim[name] !== false && claim[name] !== null)
    : claim === undefined
    ? []
    : [claim].flat()
  const names = groups.filter((group) => typeof group === 'string' && group !== '') as string[]
  if (names.length < groups.length) leaveOut()
  return Object.freeze(names)
}

function audienceMatches (aud: unknown, { audience, shape }: ClaimRules): boolean {
  if (aud === undefined) return !shape.needsAudience
  if (audience === undefined) return true
  const values: unknown[] = Array.isArray(aud) ? aud : [aud]
  return values.some((value) => typeof value === 'string' && audience.includes(value))
}
