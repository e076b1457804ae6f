import { arrayOf, isFilled } from '#shared/option-table'
import {
  DUAL_AUTH_KEY_NOT_ACCEPTED,
  DUAL_AUTH_SCOPE_INSUFFICIENT,
  DUAL_AUTH_OWNER_FORBIDDEN,
  DUAL_AUTH_TOKEN_SCOPE_INSUFFICIENT
} from './errors.ts'
import { must } from './option-checks.ts'
import { namesOwner } from './path-params.ts'
import type { ApiKeyIdentity, AuthPolicy, AuthRoute, Identity } from './types.ts'

const SCOPES = arrayOf(isFilled, 'scopes')
const POLICIES: readonly unknown[] = ['jwt', 'dual', 'any-key', 'public']

type PolicySettings = Pick<RuleSettings, 'policy' | 'apiKeys'>
type Issuers = { readonly jwt: readonly unknown[] }

/** A policy in the form in which a route's `config` has it: hooks of the host compare with three words. */
export type DecidedPolicy =
  | { readonly auth: 'jwt' | 'public' }
  | { readonly auth: 'dual', readonly anyOwner?: true }

/**
 * The policy of a route when it is registered: its `config.auth`, else what the `policy` option returns, else `jwt`.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION} for a route that asks for tokens where none are accepted, or that would let
 *   keys of every owner in without saying so
 */
export function policyFromRoute (route: AuthRoute, settings: PolicySettings & Issuers): DecidedPolicy {
  const policy = route.config?.auth ?? settings.policy(route)
  const place = `${String(route.method)} ${route.url}`
  const isOpen = policy !== 'jwt' || settings.jwt.length > 0
  must(isOpen, `${place} has the policy 'jwt', but jwt has no issuer: nobody could call it`)
  return decidedPolicy(route, settings)
}

/**
 * The policy of a whole route, also of one that was registered before the plugin.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION} for an unknown policy, and for a route that would let keys of every owner in
 *   without saying so
 */
export function decidedPolicy (route: AuthRoute, settings: PolicySettings): DecidedPolicy {
  const policy = route.config?.auth ?? settings.policy(route) ?? 'jwt'
  must(
    POLICIES.includes(policy),
    `route ${String(route.method)} ${route.url} has the unknown policy '${policy}'; it must be 'jwt', 'dual', ` +
      "'any-key' or 'public'"
  )
  if (policy === 'jwt' || policy === 'public') return { auth: policy }
  const anyOwner = policy === 'any-key' || route.config?.anyOwner === true
  if (!anyOwner) demandOwner(route, settings.apiKeys.ownerParam)
  return { auth: 'dual', ...anyOwner && { anyOwner } }
}

/** @throws {@link DUAL_AUTH_INVALID_OPTION} for a route that takes API keys and whose path names no owner */
function demandOwner ({ method, url }: AuthRoute, ownerParam: string | null): void {
  // Nothing is forgotten where no path names an owner.
  if (ownerParam === null) return
  const named = namesOwner(url, ownerParam)
  const what = named === 'sometimes' ? `may leave out :${ownerParam}` : `has no parameter :${ownerParam}`
  must(
    named === 'always',
    `${[method].flat().join(', ')} ${url} accepts API keys, and its path ${what}, which names their owner: ` +
      'every key would open it. Set apiKeys.ownerParam to the parameter that names owners in your paths, or to ' +
      'null if none does; ' +
      "or give the route the policy 'any-key' if it is for the keys of every owner"
  )
}

/**
 * The scopes that open a route: `read` for GET and HEAD, else `write`, and the route's operation id. For several
 * methods at once, `write` unless all of them read.
 */
export function scopesFromRoute ({ method, schema }: AuthRoute): readonly string[] {
  const methods = typeof method === 'string' ? [method] : method
  const scope = methods.every((name) => name === 'GET' || name === 'HEAD') ? 'read' : 'write'
  const operationId = typeof schema === 'object' && schema !== null && 'operationId' in schema
    ? schema.operationId
    : undefined
  return typeof operationId === 'string' ? [scope, operationId] : [scope]
}

/**
 * Every scope that opens something: those of each `dual` route, for each of its methods.
 *
 * @param scopes - returns the scopes of which a key needs one; null if the route accepts every key
 */
export function scopesFromRoutes (routes: readonly AuthRoute[], scopes: RuleSettings['scopes']): ReadonlySet<string> {
  const dual = routes.filter(({ config }) => config?.auth === 'dual')
  return new Set(
    dual.flatMap((route) =>
      [route.method].flat().flatMap((method) => keyScopesFromRoute({ ...route, method }, scopes) ?? [])
    )
  )
}

/** The functions that decide what a route requires. */
export interface RuleSettings {
  readonly policy: (route: AuthRoute) => AuthPolicy | undefined
  readonly apiKeys: { readonly ownerParam: string | null }
  readonly scopes: (route: AuthRoute) => readonly string[] | null
  readonly tokenScopes: (route: AuthRoute) => readonly string[]
}

/** What a route requires of an identity. */
export interface RouteRules {
  readonly policy: DecidedPolicy['auth']
  /** Any of these opens the route to an API key for the method of the request; null: any key does. */
  readonly scopes: readonly string[] | null
  /** A token needs all of these. */
  readonly tokenScopes: readonly string[]
  /** What messages call the route: its operation id, else method and path. */
  readonly label: string
}

/**
 * @param route - with the one method that is called
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 */
export function rulesFromRoute (route: AuthRoute, settings: RuleSettings): RouteRules {
  // Decided when the route was registered; a description of a route may come from elsewhere.
  const { auth: policy } = decidedPolicy(route, settings)
  return {
    policy,
    scopes: policy === 'dual' ? keyScopesFromRoute(route, settings.scopes) : null,
    tokenScopes: policy === 'public' ? [] : tokenScopesFromRoute(route, settings.tokenScopes),
    label: route.schema?.operationId ?? `${[route.method].flat().join(', ')} ${route.url}`
  }
}

/** What scopes of keys mean beside operation ids. */
const WORDS: readonly unknown[] = ['read', 'write', 'all']

/** @throws {@link DUAL_AUTH_INVALID_OPTION} also for an operation id that is a word for scopes */
export function keyScopesFromRoute (route: AuthRoute, scopes: RuleSettings['scopes']): readonly string[] | null {
  const id = route.schema?.operationId
  const place = `${String(route.method)} ${route.url}`
  // A key for this operation would open more.
  must(
    !WORDS.includes(id),
    `${place} must have another operationId than '${id}', which is a word for the scopes of API keys`
  )
  const found = scopes(route)
  if (found === null) return null
  must(SCOPES.holds(found), `scopes of ${place} ${SCOPES.rule}, or null for any key`)
  must(
    !found.includes('all'),
    `scopes of ${place} must not contain 'all', which means every operation in the scopes of a key`
  )
  return found
}

/** RFC 6749 §3.3, scope-token: what a token and a challenge can contain. */
export const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** @throws {@link DUAL_AUTH_INVALID_OPTION} for a scope that no token can have */
export function tokenScopesFromRoute (route: AuthRoute, tokenScopes: RuleSettings['tokenScopes']): readonly string[] {
  const scopes = tokenScopes(route)
  must(SCOPES.holds(scopes), `tokenScopes of ${String(route.method)} ${route.url} ${SCOPES.rule}`)
  for (const scope of scopes) {
    must(
      SCOPE_TOKEN.test(scope),
      `tokenScopes of ${String(route.method)} ${route.url} must not contain '${scope}': a scope is printable ` +
        'ASCII without spaces, " and \\'
    )
  }
  return scopes
}

/**
 * Throws unless an identity may call a route. Tokens are not bound to an owner here: only the host knows which owners a
 * person belongs to.
 *
 * @param isAllowedOwner - whether a key of this owner may call the path of the request
 * @throws {@link DUAL_AUTH_KEY_NOT_ACCEPTED}, {@link DUAL_AUTH_OWNER_FORBIDDEN}, {@link DUAL_AUTH_SCOPE_INSUFFICIENT},
 *   {@link DUAL_AUTH_TOKEN_SCOPE_INSUFFICIENT}
 */
export function authorize (
  identity: Identity,
  { policy, scopes, tokenScopes, label }: RouteRules,
  isAllowedOwner: (ownerId: string) => boolean
): void {
  if (identity.kind !== 'api-key') {
    const missing = tokenScopes.filter((scope) => !identity.scopes.includes(scope))
    if (missing.length > 0) {
      throw new DUAL_AUTH_TOKEN_SCOPE_INSUFFICIENT(label, inWords(tokenScopes, 'and'), missing.join(', '))
    }
    return
  }
  // Only of in-process calls: others were refused before the key was verified.
  if (policy !== 'dual') throw new DUAL_AUTH_KEY_NOT_ACCEPTED(label)
  if (!isAllowedOwner(identity.ownerId)) throw new DUAL_AUTH_OWNER_FORBIDDEN()
  if (!scopesOpen(identity, scopes)) {
    const needed = scopes === null || scopes.length === 0 ? "a key with the scopes 'all'" : inWords(scopes, 'or')
    throw new DUAL_AUTH_SCOPE_INSUFFICIENT(label, needed, inWords(identity.scopes, 'and'))
  }
}

/** Whether a route accepts an API key with these scopes, in its own owner. */
export function acceptsKey ({ policy, scopes }: RouteRules, key: ApiKeyIdentity): boolean {
  return policy === 'public' || (policy === 'dual' && scopesOpen(key, scopes))
}

function scopesOpen ({ scopes: own }: ApiKeyIdentity, scopes: RouteRules['scopes']): boolean {
  return scopes === null || own.length === 0 || scopes.some((scope) => own.includes(scope))
}

/** `the scope read`, `the scopes read and write`. */
function inWords (scopes: readonly string[], joint: 'and' | 'or'): string {
  const list = scopes.length < 2 ? scopes.join() : `${scopes.slice(0, -1).join(', ')} ${joint} ${scopes.at(-1)}`
  return `the scope${joint === 'and' && scopes.length > 1 ? 's' : ''} ${list}`
}
