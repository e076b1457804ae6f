import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { DUAL_AUTH_INVALID_OPTION } from './errors.ts'
import { createGuard } from './guard.ts'
import { createStoreCall } from './keys/call-store.ts'
import { createLastUsed } from './keys/last-used.ts'
import { createQueue } from './keys/queue.ts'
import { createKeyVerifier } from './keys/verify.ts'
import { managementRoutes } from './management/routes.ts'
import { settingsFromOptions, type DualAuthOptions } from './options.ts'
import { policyFromRoute, scopesFromRoutes } from './policy.ts'
import { createShopReader, unboundPathWarner } from './shop.ts'
import { registerJwt } from './tokens/jwt.ts'
import type { AuthPolicy, AuthRoute, Identity } from './types.ts'

export type { ApiKeyOptions, DualAuthOptions, JwtOptions, ManagementOptions } from './options.ts'
export type { ApiKeyIdentity, AuthPolicy, AuthRoute, Identity, MachineIdentity, UserIdentity } from './types.ts'
export type { ApiKeyRecord, ApiKeySecrets, ApiKeyStore, KeyChange, KeyField, KeyFilter, KeyPage, KeyQuery, NewApiKey, OnStored, StoredApiKey } from './keys/store.ts'
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
    /** Who may call the route. @default what the `policy` option returns, else 'jwt' */
    auth?: AuthPolicy
    /**
     * Silences the startup warning about a `dual` route whose path names no shop, so that API keys of every shop may call
     * it. It opens nothing: where the path names a shop, a key must still belong to it. @default false
     */
    anyShop?: boolean
  }
  interface FastifyRequest {
    /** Who is calling; null on public routes only. */
    identity: Identity | null
  }
}

const LAST_USED_INTERVAL = 60_000

/**
 * Identifies the caller of every route by API key, machine token or user token, and rejects everybody else. The check
 * runs in `onRequest`, before a body is read, on every route that is not explicitly public.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION}, {@link DUAL_AUTH_POLICY_UNKNOWN} at startup
 */
const plugin: FastifyPluginAsync<DualAuthOptions> = async (app, options) => {
  const settings = settingsFromOptions(options)
  const { apiKeys, challenge, management } = settings
  const { store } = apiKeys
  const tokens = await registerJwt(app, settings.jwt)
  const callStore = createStoreCall(apiKeys.storeTimeout, app.log)
  const queue = createQueue(apiKeys.concurrency, apiKeys.queueLength)
  const lastUsed = createLastUsed(store, callStore, app.log, LAST_USED_INTERVAL)
  const keys = createKeyVerifier({ settings: apiKeys, callStore, queue, lastUsed, log: app.log })
  const shops = createShopReader(apiKeys)
  const warnIfUnbound = unboundPathWarner(apiKeys, app.log)
  const guard = createGuard(settings, tokens, keys, shops)

  app.decorate('dualAuthReady', tokens.ready)
  app.decorateRequest('identity', null)
  app.decorateRequest(guard.outcome, null)
  app.addHook('onRoute', route => {
    const policy = policyFromRoute(route, settings.policy)
    route.config = { ...route.config, auth: policy }
    if (policy === 'dual' && route.config.anyShop !== true) warnIfUnbound(route.url)
  })
  app.addHook('onReady', async () => {
    // A database that is down now may come up later, and `callStore` has logged the failure.
    await callStore(async () => store.ready?.()).catch(error => { if (error instanceof DUAL_AUTH_INVALID_OPTION) throw error })
  })
  app.addHook('onRequest', guard.onRequest)
  app.addHook('onClose', async () => {
    await keys.settled()
    await lastUsed.flush()
  })

  if (management !== undefined) {
    const { path, canManage, onKeyChange } = management
    // Complete once the server is ready: the host registers its routes after these, in plugins of its own too.
    const routes: AuthRoute[] = []
    let scopes: ReadonlySet<string> = new Set()
    app.addHook('onRoute', route => { routes.push(route) })
    app.addHook('onReady', async () => { scopes = scopesFromRoutes(routes, settings.scopes) })
    await app.register(managementRoutes, { prefix: path, host: app, settings: apiKeys, shops, canManage, onKeyChange, knownScopes: () => scopes, callStore, queue, lastUsed, challenge })
  }
}

export default fp(plugin, { fastify: '5.x', name: 'dual-auth' })
