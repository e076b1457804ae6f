import type { FastifyInstance, FastifyReply } from 'fastify'
import { warnIfClosed } from './closed.ts'
import {
  OAUTH_DISCOVERY_SHIM_INVALID_OPTION,
  OAUTH_DISCOVERY_SHIM_NO_CLIENT_ID,
  OAUTH_DISCOVERY_SHIM_PROVIDER_UNAVAILABLE
} from './errors.ts'
import {
  challenge,
  pathResource,
  registration,
  rootResource,
  rootServer,
  type AuthorizationServerMetadata
} from './metadata.ts'
import type { Settings } from './options.ts'
import { identityProvider, readAtStartup, type Provider } from './provider.ts'
import { isSafeUrl } from './safe-url.ts'
import type { ProviderMetadata } from './provider-metadata.ts'
import * as schemas from './schemas.ts'
import { compileNothing } from './compilers.ts'
import { cors } from './cors.ts'

/**
 * Serves the documents, and the registration of the one client, at the root of the app.
 *
 * @param documentOf - makes the second pair's document of the authorization server from the identity provider's
 * @returns the identity provider, which is read from startup on
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION} under a prefix, where no client looks for a well-known document
 *   (RFC 8615), and for a second time
 */
export async function serveDiscovery (
  app: FastifyInstance,
  settings: Settings,
  documentOf: (provider: ProviderMetadata) => AuthorizationServerMetadata
): Promise<Provider> {
  if (app.prefix !== '') {
    throw new OAUTH_DISCOVERY_SHIM_INVALID_OPTION(`register it at the root, not under the prefix ${app.prefix}`)
  }
  if (app.hasDecorator('oauthChallenge')) {
    throw new OAUTH_DISCOVERY_SHIM_INVALID_OPTION(
      'register one plugin, once: that of oauth-discovery-shim/broker serves the documents of oauth-discovery-shim too'
    )
  }
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
    // Whatever the second pair leads to: who reads the root finds the identity provider.
    const contract = server((metadata) => rootServer(metadata, settings))
    const strict = server(documentOf)

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
  return provider
}

function cached (reply: FastifyReply, document: object): FastifyReply {
  return reply.header('cache-control', 'public, max-age=300').send(document)
}
