import type { FastifyReply, FastifyRequest } from 'fastify'
import { headersFromRefusal } from './challenge.ts'
import {
  credentialFromHeaders,
  invalidCredential,
  isBearer,
  isKey,
  presentedFrom,
  sameCredential,
  type Credential,
  type PresentedCredential
} from './credentials.ts'
import { DUAL_AUTH_CREDENTIAL_INVALID, DUAL_AUTH_CREDENTIAL_MISSING } from './errors.ts'
import type { RefusalReason } from './keys/events.ts'
import type { ReportRefusal } from './keys/refusals.ts'
import type { KeyVerifier } from './keys/verify.ts'
import type { Settings } from './options.ts'
import { acceptsKey, authorize, decidedPolicy, rulesFromRoute, type RouteRules } from './policy.ts'
import type { OwnerReader } from './owner.ts'
import type { TokenVerifier } from './tokens/jwt.ts'
import type { AuthPolicy, AuthRoute, Identity } from './types.ts'

/**
 * Set on the raw request of an in-process call: the FastifyRequest of the outer call that makes it. Shared
 * with other plugins through the symbol registry; a client cannot set it.
 */
const PARENT_REQUEST = Symbol.for('mcp-from-routes.parentRequest')

/**
 * For how long that call's check counts for in-process calls, in milliseconds: while one follows work, access may be
 * lost.
 */
const SHARED_FOR = 1000

/** The refusals of a good key by the code of their error. */
const REASONS: Readonly<Record<string, RefusalReason>> = {
  DUAL_AUTH_OWNER_FORBIDDEN: 'wrong_owner',
  DUAL_AUTH_SCOPE_INSUFFICIENT: 'scope'
}

interface Outcome {
  /** When the credential was checked, as `performance.now()`. */
  readonly checked: number
  readonly credential: Credential
  readonly identity: Identity
}

/** The check that every request passes. */
export interface Guard {
  /** Sets `request.identity`, or rejects with the headers of the refusal set on the reply. */
  onRequest(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** The property of a request that the hook stores its outcome in; decorate requests with it. */
  readonly outcome: symbol
  /** See `request.presentedCredential`. */
  presented(request: FastifyRequest): PresentedCredential
  /** See `request.mayCall`. */
  mayCall(identity: Identity | null, route: AuthRoute): boolean
}

export function createGuard (
  settings: Settings,
  tokens: TokenVerifier,
  keys: KeyVerifier,
  owners: OwnerReader,
  report: ReportRefusal
): Guard {
  const { apiKeys, challenge, hostSignsIn } = settings
  // A yes of `mayUse` counts for no longer here than in the next call, and for no other request if none is kept.
  const keySharedFor = apiKeys.mayUse === undefined ? SHARED_FOR : apiKeys.mayUseCacheTime
  const rules = new WeakMap<object, Map<string, RouteRules>>()
  const rulesOfRoutes = new WeakMap<AuthRoute, RouteRules>()
  // On the request and not in a WeakMap: it is written once per request, and lives exactly as long.
  const outcome = Symbol('dual-auth.outcome')
  interface Verified extends FastifyRequest {
    [outcome]?: Outcome | null
  }

  async function onRequest (request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // Without a route there is nothing to protect: a 401 would send clients to sign in for a page that does not exist.
    if (request.is404) return
    // On routes of a plugin that was registered before, requests have no decoration: it would be undefined, which is
    // not null.
    request.identity = null
    request.refusedKey = null
    const rules = rulesFor(request)
    if (rules.policy === 'public') return
    const credential = credentialOf(request, rules)
    let identity: Identity | undefined
    try {
      // Its own hooks decide about everybody else. `dual` only: a route without a policy stays closed.
      if (hostSignsIn && rules.policy === 'dual' && !isKey(credential)) return
      identity = await identify(request, credential, rules.policy)
      authorize(identity, rules, (ownerId) => owners.isAllowed(request.params, ownerId))
      request.identity = identity
    } catch (error) {
      if (error instanceof DUAL_AUTH_CREDENTIAL_INVALID) request.log.info({ reason: error.cause }, 'credential refused')
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      const reason = REASONS[code]
      if (reason !== undefined && identity?.kind === 'api-key') {
        report(reason, { id: identity.keyId, ownerId: identity.ownerId }, request)
      }
      reply.headers(headersFromRefusal(error, challenge, { scopes: rules.tokenScopes, isBearer: isBearer(credential) }))
      throw error
    }
  }

  /** Where tokens alone count, the header for keys is not looked at. */
  function credentialOf ({ headers }: FastifyRequest, { policy }: RouteRules): Credential {
    return credentialFromHeaders(headers, policy === 'dual' ? apiKeys.headerName : null, apiKeys.marker)
  }

  function presented (request: FastifyRequest): PresentedCredential {
    if (request.is404) return { kind: 'none' }
    const rules = rulesFor(request)
    return rules.policy === 'public' ? { kind: 'none' } : presentedFrom(credentialOf(request, rules))
  }

  /** Computed once for each method of a route: routes do not change once the server listens. */
  function rulesFor ({ routeOptions, method }: FastifyRequest): RouteRules {
    const { config } = routeOptions
    let byMethod = rules.get(config)
    if (byMethod === undefined) {
      // Undecided on a route from before the plugin, and the hooks of the host read it too: who sees no `dual` there
      // asks nobody.
      const { method: methods = method, url = '', schema } = routeOptions
      const route = { method: methods, url, schema, config }
      const decided = decidedPolicy(route, settings)
      if (decided.auth === 'dual' && decided.anyOwner !== true) owners.demandOneKind(route)
      Object.assign(config, decided)
      rules.set(config, byMethod = new Map())
    }
    let found = byMethod.get(method)
    if (found === undefined) {
      // The policy is that of the whole route, as decided when it was registered; scopes are those of the method.
      found = rulesFromRoute({ method, url: routeOptions.url ?? '', schema: routeOptions.schema, config }, settings)
      byMethod.set(method, found)
    }
    return found
  }

  function mayCall (identity: Identity | null, route: AuthRoute): boolean {
    if (identity?.kind !== 'api-key') return true
    let found = rulesOfRoutes.get(route)
    if (found === undefined) rulesOfRoutes.set(route, found = rulesFromRoute(route, settings))
    return acceptsKey(found, identity)
  }

  async function identify (request: FastifyRequest, credential: Credential, policy: AuthPolicy): Promise<Identity> {
    const known = outcomeOfParent(request, credential) ?? await verify(request, credential, policy)
    const verified: Verified = request
    verified[outcome] = known
    return known.identity
  }

  /**
   * An in-process call with the credential of the request that makes it, which was just verified, is not verified
   * again.
   */
  function outcomeOfParent (request: FastifyRequest, credential: Credential): Outcome | undefined {
    const parent = (request.raw as { [PARENT_REQUEST]?: Verified })[PARENT_REQUEST]
    const known = parent?.[outcome]
    if (known == null || !sameCredential(known.credential, credential)) return undefined
    const sharedFor = known.identity.kind === 'api-key' ? keySharedFor : SHARED_FOR
    return performance.now() - known.checked < sharedFor ? known : undefined
  }

  async function verify (request: FastifyRequest, credential: Credential, policy: AuthPolicy): Promise<Outcome> {
    const checked = performance.now()
    switch (credential.kind) {
      case 'none':
        throw new DUAL_AUTH_CREDENTIAL_MISSING()
      case 'malformed':
        throw invalidCredential(credential.reason)
      case 'jwt':
        return { credential, identity: await tokens.identityFromToken(request, credential.value), checked }
      case 'opaque':
        return { credential, identity: await tokens.identityFromOpaque(credential.value), checked }
      case 'api-key':
        // Before any work: a route that accepts no keys must not reveal which are valid.
        if (policy !== 'dual') throw invalidCredential('the route accepts no API keys')
        return { credential, ...await keys.identityFromKey(credential.value, request) }
    }
  }

  return { onRequest, outcome, presented, mayCall }
}
