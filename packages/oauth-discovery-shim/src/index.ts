import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { WithBroker } from './broker/broker.ts'
import { registerBroker } from './broker/index.ts'
import type { OAuthGrants } from './broker/grants/store.ts'
import { brokerServer } from './broker/metadata.ts'
import { warnIfClosed } from './closed.ts'
import {
  OAUTH_DISCOVERY_SHIM_NO_CLIENT_ID,
  OAUTH_DISCOVERY_SHIM_PREFIXED,
  OAUTH_DISCOVERY_SHIM_PROVIDER_UNAVAILABLE
} from './errors.ts'
import {
  challenge,
  pathResource,
  pathServer,
  registration,
  rootResource,
  rootServer,
  type AuthorizationServerMetadata
} from './metadata.ts'
import { settingsFromOptions, type OAuthDiscoveryShimOptions, type Settings } from './options.ts'
import { identityProvider, readAtStartup } from './provider.ts'
import { isSafeUrl } from './safe-url.ts'
import type { ProviderMetadata } from './provider-metadata.ts'
import * as schemas from './schemas.ts'
import { compileNothing, cors } from './scope.ts'

export * from './errors.ts'
export type { OAuthDiscoveryShimOptions } from './options.ts'
export type { BrokerOptions, ClientDocumentOptions, ListedClient } from './broker/options.ts'
export { brokerKeySet } from './broker/assertions/keys.ts'
export type { AssertionClient, AssertionOptions, TrustedIssuer } from './broker/assertions/options.ts'
export {
  createGrantTable,
  knexGrantStore,
  type KnexForGrants,
  type KnexGrantStoreOptions
} from './broker/grants/knex.ts'
export type { GrantHolder, GrantOptions } from './broker/grants/options.ts'
export type {
  AtProvider,
  ConnectedApp,
  EndedGrant,
  Grant,
  GrantStore,
  Issued,
  OAuthGrants
} from './broker/grants/store.ts'
export type { BrokerSecret } from './broker/seal.ts'
export {
  createBrokerTable,
  knexBrokerStore,
  type KnexBrokerStoreOptions,
  type KnexForBroker
} from './broker/store/knex.ts'
export { memoryBrokerStore, type BrokerStore, type Raised } from './broker/store/memory.ts'
export { redisBrokerStore, type RedisForBroker } from './broker/store/redis.ts'
export type { AuthorizationServerMetadata, ClientRegistration, ProtectedResourceMetadata } from './metadata.ts'
export type { ProviderMetadata } from './provider-metadata.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * The `WWW-Authenticate` value for a 401 of the MCP endpoint to a request without credentials:
     * `Bearer resource_metadata="…", scope="…"` ([RFC 9728 §5.1](https://www.rfc-editor.org/rfc/rfc9728#section-5.1)).
     */
    readonly oauthChallenge: string
    /**
     * Which clients people have let in, for routes of your own, such as those of administrators; undefined without
     * `broker.grants`.
     */
    readonly oauthGrants?: OAuthGrants
  }
}

/**
 * Serves the documents through which an MCP client that knows only the URL of the MCP endpoint finds
 * the identity provider's sign-in page, and registers it as the one client that exists there. With `broker` this server
 * signs people in itself, at the identity provider, and clients of any kind register here.
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION} an option is missing, wrong or unknown
 * @throws {@link OAUTH_DISCOVERY_SHIM_PREFIXED} registered under a prefix
 */
async function plugin (app: FastifyInstance, options: OAuthDiscoveryShimOptions): Promise<void> {
  if (app.prefix !== '') throw new OAUTH_DISCOVERY_SHIM_PREFIXED(app.prefix)
  const settings = settingsFromOptions(options)
  const { clientId, mcpPath, config, strictDiscovery } = settings
  const provider = identityProvider(settings, app.log)

  app.decorate('oauthChallenge', challenge(settings))
  readAtStartup(app, provider, settings.timeout)
  app.addHook('onListen', async () => await warnIfClosed(app))
  if (!isSafeUrl(settings.publicBaseUrl)) {
    app.log.warn(
      'publicBaseUrl is http on another machine: anybody on the way can replace the sign-in page that clients ' +
        'find. Use https'
    )
  }
  if (clientId === '') app.log.warn('clientId is empty: MCP clients cannot sign in through a browser')

  // a scope of its own: neither compilers, CORS nor the parser below may touch the host's routes
  await app.register(async function discovery (scope) {
    compileNothing(scope)
    cors(scope, config)

    // HEAD too, whatever the host's default is.
    const document = { config, exposeHeadRoute: true }
    const resource = (document: object) => async (_: unknown, reply: FastifyReply) => cached(reply, document)
    const server =
      (documentFrom: (provider: ProviderMetadata) => AuthorizationServerMetadata) =>
      async (_: unknown, reply: FastifyReply) => {
        const metadata = provider.metadata()
        if (metadata === undefined) {
          reply.header('retry-after', provider.retryAfter())
          throw new OAUTH_DISCOVERY_SHIM_PROVIDER_UNAVAILABLE()
        }
        return cached(reply, documentFrom(metadata))
      }
    // The broker is under its own issuer: who reads the root finds the identity provider, with the broker as without
    // it.
    const contract = server((metadata) => rootServer(metadata, settings))
    const strict = server((metadata) =>
      hasBroker(settings) ? brokerServer(metadata, settings) : pathServer(metadata, settings)
    )

    // RFC 9728 §3.1: at the root, and with the resource's path behind the well-known one
    scope.get(
      '/.well-known/oauth-protected-resource',
      { ...document, schema: schemas.protectedResource },
      resource(rootResource(settings))
    )
    if (mcpPath !== '') {
      // '/' under a prefix also serves the prefix alone: a client that was given /mcp/ keeps the slash
      await scope.register(async (own) => {
        own.get(
          '/',
          { ...document, schema: schemas.alias(schemas.protectedResource) },
          resource(pathResource(settings))
        )
      }, { prefix: `/.well-known/oauth-protected-resource${mcpPath}` })
    }

    // RFC 8414 §3, and where OpenID Connect Discovery 1.0 §4 has it
    scope.get('/.well-known/oauth-authorization-server', { ...document, schema: schemas.authorizationServer }, contract)
    scope.get(
      '/.well-known/openid-configuration',
      { ...document, schema: schemas.alias(schemas.authorizationServer) },
      contract
    )
    if (strictDiscovery === 'path') {
      scope.get('/.well-known/oauth-authorization-server/oauth', {
        ...document,
        schema: schemas.alias(schemas.authorizationServer)
      }, strict)
      scope.get('/.well-known/openid-configuration/oauth', {
        ...document,
        schema: schemas.alias(schemas.authorizationServer)
      }, strict)
      scope.get('/oauth/.well-known/openid-configuration', {
        ...document,
        schema: schemas.alias(schemas.authorizationServer)
      }, strict)
    }

    // RFC 7591 §3. The body is ignored, so none within the host's bodyLimit may fail: without a media type Fastify
    // validates nothing. The parser makes Fastify read the body and count its bytes
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => {
      done(null)
    })
    scope.addHook('onRequest', async (request) => {
      delete request.raw.headers['content-type']
    })
    scope.post('/oauth/register', { config, schema: schemas.registration }, async (_, reply) => {
      reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
      if (clientId !== '') return reply.code(201).send(registration(settings, provider.metadata()))
      const { code, message } = new OAUTH_DISCOVERY_SHIM_NO_CLIENT_ID()
      // RFC 6749 §5.2 requires a code of OAuth's own under `error`, where Fastify has the status text
      return reply.code(503).send({
        statusCode: 503,
        code,
        error: 'temporarily_unavailable',
        message,
        error_description: message
      })
    })
  })
  if (hasBroker(settings)) await registerBroker(app, settings, provider)
}

function hasBroker (settings: Settings): settings is WithBroker {
  return settings.broker !== undefined
}

function cached (reply: FastifyReply, document: object): FastifyReply {
  return reply.header('cache-control', 'public, max-age=300').send(document)
}

export default fp(plugin, { fastify: '^5.0.0', name: 'oauth-discovery-shim' })
