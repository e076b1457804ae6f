import { invalidCredential } from './credentials.ts'
import { DUAL_AUTH_POLICY_UNKNOWN, DUAL_AUTH_SCOPE_INSUFFICIENT, DUAL_AUTH_SHOP_FORBIDDEN } from './errors.ts'
import type { AuthPolicy, AuthRoute, Identity } from './types.ts'

const POLICIES: readonly unknown[] = ['jwt', 'dual', 'public']

/**
 * The policy of a route: its `config.auth`, else what the `policy` option returns, else `jwt`.
 *
 * @throws {@link DUAL_AUTH_POLICY_UNKNOWN}
 */
export function policyFromRoute (route: AuthRoute, decide?: (route: AuthRoute) => AuthPolicy | undefined): AuthPolicy {
  const policy = route.config?.auth ?? decide?.(route) ?? 'jwt'
  if (!POLICIES.includes(policy)) throw new DUAL_AUTH_POLICY_UNKNOWN(route.method, route.url, policy)
  return policy
}

/**
 * The scopes that open a route: `read` for GET and HEAD, else `write`, and the route's operation id. For several
 * methods at once, `write` unless all of them read.
 */
export function scopesFromRoute ({ method, schema }: AuthRoute): readonly string[] {
  const methods = typeof method === 'string' ? [method] : method
  const scope = methods.every(name => name === 'GET' || name === 'HEAD') ? 'read' : 'write'
  const operationId = typeof schema === 'object' && schema !== null && 'operationId' in schema ? schema.operationId : undefined
  return typeof operationId === 'string' ? [scope, operationId] : [scope]
}

/**
 * Every scope that opens something: those of each `dual` route, for each of its methods.
 *
 * @param scopesOf the scopes of which a key needs one; null for a route that accepts every key
 */
export function scopesFromRoutes (routes: readonly AuthRoute[], scopesOf: (route: AuthRoute) => readonly string[] | null): ReadonlySet<string> {
  const dual = routes.filter(({ config }) => config?.auth === 'dual')
  return new Set(dual.flatMap(route => [route.method].flat().flatMap(method => scopesOf({ ...route, method }) ?? [])))
}

/** What a route requires of an identity. */
export interface RouteRules {
  readonly policy: AuthPolicy
  /** Any of these opens the route for the method of the request; null: any key does. */
  readonly scopes: readonly string[] | null
}

/**
 * Throws unless an identity may call a route. Tokens are not bound to a shop here: only the host knows which shops a
 * person belongs to.
 *
 * @param isAllowedShop whether a key of this shop may call the path of the request
 * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID}, {@link DUAL_AUTH_SHOP_FORBIDDEN}, {@link DUAL_AUTH_SCOPE_INSUFFICIENT}
 */
export function authorize (identity: Identity, { policy, scopes }: RouteRules, isAllowedShop: (shopId: string) => boolean): void {
  if (identity.kind !== 'api-key') return
  if (policy !== 'dual') throw invalidCredential('the route accepts no API keys')
  if (!isAllowedShop(identity.shopId)) throw new DUAL_AUTH_SHOP_FORBIDDEN()
  if (scopes === null || identity.scopes.length === 0) return
  if (!scopes.some(scope => identity.scopes.includes(scope))) throw new DUAL_AUTH_SCOPE_INSUFFICIENT(scopes.join(', '))
}
