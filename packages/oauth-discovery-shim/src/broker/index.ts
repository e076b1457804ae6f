import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { brokerKeySet } from './assertions/keys.ts'
import { brokerFrom } from './broker.ts'
import { registerClient } from './clients/register.ts'
import { grantRoutes, grantsOf } from './grants/routes.ts'
import type { OAuthGrants } from './grants/store.ts'
import { brokerServer, KEYS, REGISTRATION } from './metadata.ts'
import { settingsFromBrokerOptions, type BrokerOptions } from './options.ts'
import { bodyOf, isRefusal, type Refusal } from './refusal.ts'
import * as schemas from './schemas.ts'
import { finishSignIn } from './sign-in/callback.ts'
import { sendProblemPage } from './sign-in/pages.ts'
import { decideSignIn, startSignIn } from './sign-in/start.ts'
import { revokeToken } from './tokens/revoke.ts'
import { issueTokens } from './tokens/token.ts'
import { serveDiscovery } from '../discovery.ts'
import { readAtStartup } from '../provider.ts'
import { compileNothing } from '../compilers.ts'
import { cors } from '../cors.ts'

export * from './errors.ts'
export type { BrokerOptions, ClientDocumentOptions, ClientKey, ListedClient } from './options.ts'
export { brokerKeySet } from './assertions/keys.ts'
export type { AssertionClient, AssertionOptions, TrustedIssuer } from './assertions/options.ts'
export { createGrantTable, knexGrantStore, type KnexForGrants, type KnexGrantStoreOptions } from './grants/knex.ts'
export type { GrantHolder, GrantOptions } from './grants/options.ts'
export type { AtProvider, ConnectedApp, EndedGrant, Grant, GrantStore, Issued, OAuthGrants } from './grants/store.ts'
export type { BrokerSecret } from './seal.ts'
export { createBrokerTable, knexBrokerStore, type KnexBrokerStoreOptions, type KnexForBroker } from './store/knex.ts'
export { memoryBrokerStore, type BrokerStore, type Raised } from './store/memory.ts'
export { redisBrokerStore, type RedisForBroker } from './store/redis.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The `WWW-Authenticate` value for a 401 of the MCP endpoint, as the shim has it. */
    readonly oauthChallenge: string
    /**
     * Which clients people have let in, for routes of your own, such as those of administrators; undefined without the
     * option `grants` of the broker.
     */
    readonly oauthGrants?: OAuthGrants
  }
}

/** In bytes: forms of a few thousand characters. */
const LARGEST_BODY = 65_536

/** The status of refusals that are over in a moment. */
const BUSY = 503

/**
 * Makes this server an authorization server of its own in front of the identity provider, so that clients of any kind
 * register here and any callback signs in. It serves the documents of the shim, too, of which the second pair describes
 * it. The endpoints are in the order in which a sign-in passes them.
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION} an option is missing, wrong or unknown, or the plugin has a
 *   prefix
 */
async function plugin (app: FastifyInstance, options: BrokerOptions): Promise<void> {
  const settings = settingsFromBrokerOptions(options)
  const provider = await serveDiscovery(app, settings, (metadata) => brokerServer(metadata, settings))
  const { config, scopes, publicBaseUrl, registration, appSchemes, remembersAlone, grants } = settings
  const broker = brokerFrom(settings, provider, app.log)

  const { assertions } = broker
  if (remembersAlone) {
    app.log.warn(
      'oauth-discovery-shim: store is not set, so this process alone knows which ' +
        `codes${assertions ? ', assertions' : ''} and refresh tokens were used. With more than one replica, set it`
    )
  }
  if (assertions) readAtStartup(app, assertions.trusted, settings.timeout)

  const route = (schema: object): RouteShorthandOptions => ({ config, schema, bodyLimit: LARGEST_BODY })

  // for programs, also in pages of any origin
  await app.register(async function programs (scope) {
    readText(scope)
    cors(scope, config)
    scope.setErrorHandler((error, request, reply) => {
      if (!isRefusal(error)) throw error
      request.log.info({ err: error }, error.message)
      // RFC 6749 §5.2
      if (assertions && error.statusCode === 401 && request.headers.authorization !== undefined) {
        reply.header('www-authenticate', 'Basic realm="oauth"')
      }
      return retryLater(reply, error).code(error.statusCode).send(bodyOf(error))
    })
    if (registration) {
      scope.post(REGISTRATION, route(schemas.register), registerClient(broker.sealer, appSchemes, scopes))
    }
    scope.post('/oauth/token', route(schemas.token), issueTokens(broker))
    scope.post('/oauth/revoke', route(schemas.revoke), revokeToken(broker))
    if (assertions) {
      const keys = brokerKeySet(assertions.keys, publicBaseUrl)
      scope.get(
        KEYS,
        { config, schema: schemas.keys, exposeHeadRoute: true },
        async (_, reply) => reply.header('cache-control', 'public, max-age=300').send(keys)
      )
    }
  }, { logSerializers })

  if (grants) {
    const own = grantsOf(grants.store, broker, app.log)
    app.decorate('oauthGrants', own)
    await app.register(async (scope) => {
      await grantRoutes(scope, grants, own)
    }, { logSerializers })
  }

  // for browsers
  await app.register(async function people (scope) {
    readText(scope)
    scope.setErrorHandler((error, request, reply) => {
      if (!isRefusal(error)) throw error
      request.log.info({ err: error }, error.message)
      return showRefusal(retryLater(reply, error), error)
    })
    scope.get('/oauth/authorize', route(schemas.authorize), startSignIn(broker))
    scope.post('/oauth/authorize', route(schemas.decide), decideSignIn(broker))
    scope.get(
      '/oauth/callback',
      route(schemas.callback),
      finishSignIn(broker, () => provider.metadata()?.['authorization_response_iss_parameter_supported'] === true)
    )
  }, { logSerializers })
}

/** Endpoints read parameters themselves, whatever media type they come with; the host's parsers may differ. */
function readText (scope: FastifyInstance): void {
  compileNothing(scope)
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body)
  })
  // one that is malformed would be rejected before the parser
  scope.addHook('onRequest', async (request) => {
    delete request.raw.headers['content-type']
  })
}

function retryLater (reply: FastifyReply, { statusCode }: Refusal): FastifyReply {
  return statusCode === BUSY ? reply.header('retry-after', 5) : reply
}

/** A page for a person whose sign-in ends here. */
function showRefusal (reply: FastifyReply, { statusCode, oauth, message }: Refusal): FastifyReply {
  const isBusy = statusCode === BUSY
  return sendProblemPage(reply, {
    statusCode,
    title: isBusy ? 'Signing in does not work at the moment' : 'This app cannot sign in here',
    reason: message,
    advice: isBusy
      ? 'Nothing was sent to the app. Wait a moment, then start again in the app'
      : 'Nothing was sent to the app. Start again in the app; if that does not help, remove this server there and ' +
        'add it again, or tell the maker of the app',
    code: oauth
  })
}

/** What Fastify logs of a request, without the query: it holds codes, states and, by mistake, tokens. */
function withoutQuery ({ method, url, host, ip, socket }: FastifyRequest): object {
  return { method, url: url.split('?')[0], host, remoteAddress: ip, remotePort: socket.remotePort }
}

// its type knows no serializers of objects, which Fastify's own are
const logSerializers = { req: withoutQuery as (request: FastifyRequest) => never }

export default fp(plugin, { fastify: '^5.0.0', name: 'oauth-discovery-shim/broker' })
