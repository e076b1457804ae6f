import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Identity } from './tokens/identity.ts'
import type { DualAuthOptions } from './options.ts'
import { resolveOptions } from './resolve.ts'
import { admit, policyFromRoute, scopesOfRoutes, type AuthPolicy, type AuthRoute, type Demand } from './policy.ts'
import { optionalParamsFromPath, paramsFromPath } from './path-params.ts'
import { createShops } from './shop.ts'
import { credentialFromHeaders, sameCredential, type Credential } from './credentials.ts'
import { headersFromRefusal } from './challenge.ts'
import { createAsk } from './keys/call-store.ts'
import { createQueue } from './keys/queue.ts'
import { createLastUsed } from './keys/last-used.ts'
import { createKeyCheck } from './keys/verify.ts'
import { registerJwt } from './tokens/jwt.ts'
import { managementRoutes } from './management/routes.ts'
import { DUAL_AUTH_CREDENTIAL_INVALID, DUAL_AUTH_CREDENTIAL_MISSING, DUAL_AUTH_OPTION_INVALID } from './errors.ts'

export type { ApiKeyOptions, DualAuthOptions, JwtOptions, ManagementOptions } from './options.ts'
export type { ApiKeyIdentity, Identity, MachineIdentity, UserIdentity } from './tokens/identity.ts'
export type { ApiKeyRecord, ApiKeySecrets, ApiKeyStore, KeyChange, KeyField, KeyFilter, KeyPage, KeyQuery, NewApiKey, OnStored, StoredApiKey } from './keys/store.ts'
export type { AuthPolicy, AuthRoute } from './policy.ts'
export type { ChallengeOptions } from './challenge.ts'
export type { MintedKey, Pepper } from './keys/format.ts'
export { createApiKey } from './keys/new-key.ts'
export type { CreatedKey, KeyRequest } from './keys/new-key.ts'
export { scopesFromRoute } from './policy.ts'
export { keyPattern } from './keys/format.ts'
export { memoryStore } from './keys/memory.ts'
export * from './errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether tokens can be verified at the moment: the identity provider's keys were read. For readiness checks. */
    dualAuthReady (): boolean
  }
  interface FastifyContextConfig {
    /** Who may call the route. @default what the `policy` option says, else 'jwt' */
    auth?: AuthPolicy
    /**
     * Says that API keys of every shop are meant to call the route, whose path names no shop: there is no warning of it at
     * startup. It opens nothing: where the path names a shop, a key still needs to be that shop's. @default false
     */
    anyShop?: boolean
  }
  interface FastifyRequest {
    /** Who is calling; null on public routes only. */
    identity: Identity | null
  }
}

/**
 * Set on the raw request of an in-process call: the FastifyRequest of the outer call that makes it. Shared
 * with other plugins through the registry of symbols; a client cannot set it.
 */
const PARENT_REQUEST = Symbol.for('fastify.parentRequest')
const LAST_USED_INTERVAL = 60_000

interface Outcome {
  readonly credential: Credential
  readonly identity: Identity
}

/**
 * Says who is calling, by API key, machine token or user token, and refuses everybody else. The check runs
 * in `onRequest`, before a body is read, on every route that is not spelled out as public.
 *
 * @throws {@link DUAL_AUTH_OPTION_INVALID}, {@link DUAL_AUTH_POLICY_UNKNOWN} at boot
 */
const plugin: FastifyPluginAsync<DualAuthOptions> = async (app, options) => {
  const { apiKeys, jwt, policy: decide, scopes: scopesOf, challenge, management } = resolveOptions(options)
  const tokenCheck = await registerJwt(app, jwt)
  const ask = createAsk(apiKeys.storeTimeout, app.log)
  const queue = createQueue(apiKeys.concurrency, apiKeys.queueLength)
  const lastUsed = createLastUsed(apiKeys.store, ask, app.log, LAST_USED_INTERVAL)
  const keyCheck = createKeyCheck({ options: apiKeys, store: apiKeys.store, ask, queue, lastUsed, log: app.log })
  const shops = createShops(apiKeys)
  const demands = new WeakMap<object, Map<string, Demand>>()
  const warned = new Set<string>()
  // On the request and not in a WeakMap: it is written once per request, and lives exactly as long.
  const outcome = Symbol('dual-auth.outcome')
  interface Verified extends FastifyRequest { [outcome]?: Outcome | null }

  app.decorate('dualAuthReady', tokenCheck.ready)
  app.decorateRequest('identity', null)
  app.decorateRequest(outcome, null)
  app.addHook('onRoute', route => {
    const policy = policyFromRoute(route, decide)
    route.config = { ...route.config, auth: policy }
    if (policy === 'dual' && route.config.anyShop !== true) warnOfOtherParams(route.url)
  })
  app.addHook('onReady', async () => {
    // A database that is away now may come later, and `ask` has logged it.
    await ask(async () => apiKeys.store.ready?.()).catch(error => { if (error instanceof DUAL_AUTH_OPTION_INVALID) throw error })
  })
  app.addHook('onRequest', guard)
  app.addHook('onClose', async () => {
    await keyCheck.settled()
    await lastUsed.flush()
  })

  if (management !== undefined) {
    const { path, ...decisions } = management
    // Known when the server is ready: the host's routes are defined after these, in plugins of their own too.
    const routes: AuthRoute[] = []
    let scopes: ReadonlySet<string> = new Set()
    app.addHook('onRoute', route => { routes.push(route) })
    app.addHook('onReady', async () => { scopes = scopesOfRoutes(routes, scopesOf) })
    await app.register(managementRoutes, { prefix: path, host: app, options: apiKeys, shops, ...decisions, isScope: scope => scopes.has(scope), ask, queue, lastUsed, challenge })
  }

  /** Where the shop is spelt otherwise, or left out, it would go unchecked without a word; the twins of a path are one. */
  function warnOfOtherParams (url: string): void {
    const { shopParam } = apiKeys
    const path = url.replace(/\/$/, '')
    const params = paramsFromPath(path)
    const isNamed = params.includes(shopParam)
    if (params.length === 0 || (isNamed && !optionalParamsFromPath(path).includes(shopParam)) || warned.has(path)) return
    warned.add(path)
    app.log.warn({ path, params }, `dual-auth: ${path} takes the API keys of every shop${isNamed ? ` where ${shopParam} is left out` : `: no parameter of its path is named ${shopParam}`}`)
  }

  async function guard (request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // No route, nothing to protect: a 401 here would send clients to sign in for what is not there.
    if (request.is404) return
    const demand = demandOf(request)
    if (demand.policy === 'public') return
    try {
      const identity = await identify(request, demand.policy)
      admit(identity, demand, request.params, shops.isAllowed)
      request.identity = identity
    } catch (error) {
      refuse(error, request, reply, demand)
    }
  }

  /** What the route asks; worked out once for each of its methods, as routes do not change after the boot. */
  function demandOf (request: FastifyRequest): Demand {
    const { routeOptions, method } = request
    const { config } = routeOptions
    let byMethod = demands.get(config)
    if (byMethod === undefined) demands.set(config, byMethod = new Map())
    let demand = byMethod.get(method)
    if (demand === undefined) {
      const route = { method: routeOptions.method ?? [], url: routeOptions.url ?? '', schema: routeOptions.schema, config }
      // The policy is that of the route as a whole, as it was decided when the route was defined.
      demand = { policy: policyFromRoute(route, decide), scopes: scopesOf({ ...route, method }) }
      byMethod.set(method, demand)
    }
    return demand
  }

  async function identify (request: FastifyRequest, policy: AuthPolicy): Promise<Identity> {
    const credential = credentialFromHeaders(request.headers, apiKeys.headerName, apiKeys.marker)
    const identity = identityFromParent(request, credential) ?? await verify(request, credential, policy)
    const verified: Verified = request
    verified[outcome] = { credential, identity }
    return identity
  }

  /** A call that a request makes in process, with the credential it came with, is that request going on. */
  function identityFromParent (request: FastifyRequest, credential: Credential): Identity | undefined {
    const parent = (request.raw as { [PARENT_REQUEST]?: Verified })[PARENT_REQUEST]
    const known = parent?.[outcome]
    return known != null && sameCredential(known.credential, credential) ? known.identity : undefined
  }

  async function verify (request: FastifyRequest, credential: Credential, policy: AuthPolicy): Promise<Identity> {
    switch (credential.kind) {
      case 'none': throw new DUAL_AUTH_CREDENTIAL_MISSING()
      case 'malformed': throw new DUAL_AUTH_CREDENTIAL_INVALID({ cause: 'the credential is malformed' })
      case 'jwt': return tokenCheck.identityFromToken(request)
      case 'api-key':
        // Before any work: where keys are not taken nobody shall learn which are good.
        if (policy !== 'dual') throw new DUAL_AUTH_CREDENTIAL_INVALID({ cause: 'the route takes no API keys' })
        return keyCheck.identityFromKey(credential.value)
    }
  }

  function refuse (error: unknown, request: FastifyRequest, reply: FastifyReply, { scopes }: Demand): never {
    if (error instanceof DUAL_AUTH_CREDENTIAL_INVALID) request.log.info({ reason: error.cause }, 'credential refused')
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    reply.headers(headersFromRefusal(code, challenge, scopes))
    throw error
  }
}

export default fp(plugin, { fastify: '5.x', name: 'dual-auth' })
