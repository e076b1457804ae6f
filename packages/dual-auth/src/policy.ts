import type { FastifyContextConfig, FastifySchema } from 'fastify'
import { DUAL_AUTH_CREDENTIAL_INVALID, DUAL_AUTH_POLICY_UNKNOWN, DUAL_AUTH_SCOPE_INSUFFICIENT, DUAL_AUTH_SHOP_FORBIDDEN } from './errors.ts'
import type { Identity } from './tokens/identity.ts'
import type { ShopCheck } from './shop.ts'

/**
 * Who may call a route. `jwt`: machines and people with a token. `dual`: those and API keys.
 * `public`: everybody; credentials are not even looked at.
 */
export type AuthPolicy = 'jwt' | 'dual' | 'public'

/** What is known of a route when its policy is decided. */
export interface AuthRoute {
  readonly method: string | readonly string[]
  readonly url: string
  /** With what OpenAPI adds to a schema, whether or not the host registers @fastify/swagger, which declares it too. */
  readonly schema?: FastifySchema & { readonly tags?: readonly string[], readonly operationId?: string } | undefined
  readonly config?: FastifyContextConfig | undefined
}

const POLICIES: readonly unknown[] = ['jwt', 'dual', 'public']

/**
 * The policy of a route: what its `config.auth` says, else what the host's function says, else `jwt`.
 *
 * @throws {@link DUAL_AUTH_POLICY_UNKNOWN}
 */
export function policyFromRoute (route: AuthRoute, decide?: (route: AuthRoute) => AuthPolicy | undefined): AuthPolicy {
  const policy = route.config?.auth ?? decide?.(route) ?? 'jwt'
  if (!POLICIES.includes(policy)) throw new DUAL_AUTH_POLICY_UNKNOWN(route.method, route.url, policy)
  return policy
}

/**
 * The scopes of which a key needs one, if it carries any: `read` for GET and HEAD, else `write`, and the
 * route's operation id. Of several methods at once, `write` unless all of them read.
 */
export function scopesFromRoute ({ method, schema }: AuthRoute): readonly string[] {
  const methods = typeof method === 'string' ? [method] : method
  const scope = methods.every(name => name === 'GET' || name === 'HEAD') ? 'read' : 'write'
  const operationId = typeof schema === 'object' && schema !== null && 'operationId' in schema ? schema.operationId : undefined
  return typeof operationId === 'string' ? [scope, operationId] : [scope]
}

/**
 * The scopes that open something: those of every route that API keys may call, by each of its methods.
 *
 * @param scopesOf what a key needs one of; null for a route that takes every key
 */
export function scopesOfRoutes (routes: readonly AuthRoute[], scopesOf: (route: AuthRoute) => readonly string[] | null): ReadonlySet<string> {
  const dual = routes.filter(({ config }) => config?.auth === 'dual')
  return new Set(dual.flatMap(route => [route.method].flat().flatMap(method => scopesOf({ ...route, method }) ?? [])))
}

/** What a route asks of an identity. */
export interface Demand {
  readonly policy: AuthPolicy
  /** Any of these opens the route by the method of the request; null: any key does. */
  readonly scopes: readonly string[] | null
}

/**
 * Lets an identity pass or throws. Tokens are not bound to a shop here: which shops a person belongs to is
 * the host's to know.
 *
 * @param params the parameters in the path of the request
 * @param isOfShop whether a key of this shop may call with such parameters
 * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID}, {@link DUAL_AUTH_SHOP_FORBIDDEN}, {@link DUAL_AUTH_SCOPE_INSUFFICIENT}
 */
export function admit (identity: Identity, { policy, scopes }: Demand, params: unknown, isOfShop: ShopCheck): void {
  if (identity.kind !== 'api-key') return
  if (policy !== 'dual') throw new DUAL_AUTH_CREDENTIAL_INVALID({ cause: 'the route takes no API keys' })
  if (!isOfShop(params, identity.shopId)) throw new DUAL_AUTH_SHOP_FORBIDDEN()
  if (scopes === null || identity.scopes.length === 0) return
  if (!scopes.some(scope => identity.scopes.includes(scope))) throw new DUAL_AUTH_SCOPE_INSUFFICIENT(scopes.join(', '))
}
