import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { PresentedCredential } from './credentials.ts'
import { DUAL_AUTH_INVALID_OPTION } from './errors.ts'
import { CORE, type Core } from './core.ts'
import { createGuard } from './guard.ts'
import { createStoreCall } from './keys/call-store.ts'
import { createLastUsed } from './keys/last-used.ts'
import { createMayUse } from './keys/may-use.ts'
import { createQueue } from './keys/queue.ts'
import type { RefusedEvent } from './keys/events.ts'
import type { ReportRefusal } from './keys/refusals.ts'
import { createKeyVerifier } from './keys/verify.ts'
import { createWatch } from './keys/watch.ts'
import { must } from './option-checks.ts'
import { settingsFromOptions, type DualAuthOptions } from './options.ts'
import { keyScopesFromRoute, policyFromRoute, scopesFromRoutes, tokenScopesFromRoute } from './policy.ts'
import { createOwnerReader } from './owner.ts'
import { NO_TOKENS, registerJwt } from './tokens/jwt.ts'
import type { AuthPolicy, AuthRoute, Identity } from './types.ts'

export type { ApiKeyOptions, ClaimName, ClaimNames, DualAuthOptions, JwtOptions, OwnerIds } from './options.ts'
export type { PresentedCredential } from './credentials.ts'
export type { ApiKeyIdentity, AuthPolicy, AuthRoute, Identity, MachineIdentity, UserIdentity } from './types.ts'
export type {
  ApiKeyRecord,
  ApiKeySecrets,
  ApiKeyStore,
  KeyChange,
  KeyField,
  KeyFilter,
  KeyNotice,
  KeyPage,
  KeyQuery,
  KeyStatus,
  KeyUse,
  Leak,
  NewApiKey,
  NotableUse,
  OnKeyChange,
  OnRotated,
  OnStored,
  Rotatable,
  Rotated,
  Rotation,
  StoredApiKey
} from './keys/store.ts'
export type { MayUse, UsedKey } from './keys/may-use.ts'
export type { KeyEvent, OnKeyEvent, RefusalReason, RefusedEvent } from './keys/events.ts'
export type { ChallengeOptions } from './challenge.ts'
export type { MintedKey, Pepper } from './keys/format.ts'
export { createApiKey } from './keys/new-key.ts'
export type { CreatedKey, KeyRequest } from './keys/new-key.ts'
export { scopesFromRoute } from './policy.ts'
export { keyPattern } from './keys/format.ts'
export { memoryStore } from './keys/memory.ts'
export { tableStore } from './keys/key-table.ts'
export type { KeyTable } from './keys/key-table.ts'
export type { FoundRow, KeyRow } from './keys/key-row.ts'
export type { Provider } from './tokens/providers.ts'
export * from './errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether tokens can be verified at the moment: the identity provider's keys were read. For readiness checks. */
    dualAuthReady(): boolean
  }
  interface FastifyContextConfig {
    /** Who may call the route. @default what the `policy` option returns, else 'jwt' */
    auth?: AuthPolicy
    /**
     * Set by the plugin on routes with the policy `any-key`, beside `auth: 'dual'`. Where the path names an owner, a
     * key must still belong to it.
     */
    anyOwner?: boolean
  }
  interface FastifyRequest {
    /** Who is calling; null on public routes, and with `jwt: 'host'` for callers without an API key. */
    identity: Identity | null
    /**
     * The API key with which the request got 401 or 403, if the store has it: `{ id, ownerId }`. For logs: it is no
     * permission. Null for all other requests.
     */
    refusedKey: RefusedEvent['key']
    /**
     * What the request presents where its route looks, valid or not: the value that is about to be verified. For limits
     * before the authentication and for counts of refusals, instead of reading the headers a second time. `none` on
     * public routes and for unknown paths.
     */
    presentedCredential(): PresentedCredential
    /**
     * Whether this caller could call a route: false for an API key that the route does not accept, or whose scopes do
     * not open it. Says nothing about the owner, and is true for tokens, which may get more scopes. The route's own
     * check runs in any case. Cheap: what a route requires is kept for each `route` object.
     *
     * @param route - with `method`, `url`, `schema` and `config`, as the route was registered; `mcpTools[0].route` is
     *   one
     */
    mayCall(route: AuthRoute): boolean
  }
}

const LAST_USED_INTERVAL = 60_000

/**
 * Identifies the caller of every route by API key, machine token or user token, and rejects everybody else. The check
 * runs in `onRequest`, before a body is read, on every route that is not explicitly public.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION} at startup
 */
const plugin: FastifyPluginAsync<DualAuthOptions> = async (app, options) => {
  must(
    !app.hasDecorator('dualAuthReady'),
    'this app has it already: register it once, with several issuers in jwt'
  )
  const settings = settingsFromOptions(options)
  const { apiKeys } = settings
  const { store } = apiKeys
  const tokens = settings.jwt.length === 0 ? NO_TOKENS : await registerJwt(app, settings.jwt)
  const callStore = createStoreCall(apiKeys.storeTimeout, app.log)
  const queue = createQueue(apiKeys.concurrency, apiKeys.queueLength)
  const watch = createWatch(settings.onKeyEvent, store, callStore, apiKeys.storeTimeout, app.log)
  const lastUsed = createLastUsed(store, callStore, app.log, LAST_USED_INTERVAL, ({ key, isFirst, newNetworks }) => {
    if (isFirst) watch.emit({ type: 'first_used', key })
    for (const network of newNetworks) watch.emit({ type: 'new_network', key, network })
  })
  const report: ReportRefusal = (reason, key, request) => {
    request.refusedKey = key && { id: key.id, ownerId: key.ownerId }
    watch.report(reason, key, request.ip)
  }
  const keys = createKeyVerifier({
    settings: apiKeys,
    callStore,
    mayUse: createMayUse(apiKeys, app.log),
    queue,
    lastUsed,
    report,
    log: app.log
  })
  const owners = createOwnerReader(apiKeys)
  const routes: AuthRoute[] = []
  const guard = createGuard(settings, tokens, keys, owners, report)

  let scopes: ReadonlySet<string> | undefined
  const knownScopes = (): ReadonlySet<string> => {
    scopes ??= scopesFromRoutes(routes, settings.scopes)
    return scopes
  }
  const core: Core = {
    apiKeys,
    acceptsTokens: settings.jwt.length > 0,
    owners,
    routes,
    knownScopes,
    callStore,
    queue,
    lastUsed,
    emit: watch.emit
  }

  app.decorate(CORE, core)
  app.decorate('dualAuthReady', tokens.ready)
  app.decorateRequest('identity', null)
  app.decorateRequest('refusedKey', null)
  app.decorateRequest(guard.outcome, null)
  app.decorateRequest('presentedCredential', function (this: FastifyRequest) {
    return guard.presented(this)
  })
  app.decorateRequest('mayCall', function (this: FastifyRequest, route: AuthRoute) {
    return guard.mayCall(this.identity, route)
  })
  app.addHook('onRoute', (route) => {
    const decided = policyFromRoute(route, settings)
    const { auth: policy } = decided
    if (policy === 'dual' && decided.anyOwner !== true) owners.demandOneKind(route)
    route.config = { ...route.config, ...decided }
    routes.push(route)
    // A wrong scope must fail startup, not the first call.
    for (const method of [route.method].flat()) {
      if (policy !== 'public') tokenScopesFromRoute({ ...route, method }, settings.tokenScopes)
      if (policy === 'dual') keyScopesFromRoute({ ...route, method }, settings.scopes)
    }
  })
  app.addHook('onReady', async () => {
    // A database that is down now may come up later, and `callStore` has logged the failure.
    await callStore(async () => store.ready?.()).catch((error) => {
      if (error instanceof DUAL_AUTH_INVALID_OPTION) throw error
    })
    watch.start()
  })
  app.addHook('onRequest', guard.onRequest)
  app.addHook('onClose', async () => {
    await keys.settled()
    await lastUsed.flush()
    await watch.stop()
  })
}

export default fp(plugin, { fastify: '^5.0.0', name: 'dual-auth' })
