import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import shim, { type OAuthDiscoveryShimOptions } from '../src/index.ts'

/** Serves `listener` on a free loopback port until the test ends, and returns its origin. */
export async function serve (t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** What an Amazon Cognito user pool says about itself. */
export function userPool (issuer: string): Record<string, unknown> {
  return {
    authorization_endpoint: 'https://shop.auth.eu-west-1.example.com/oauth2/authorize',
    end_session_endpoint: 'https://shop.auth.eu-west-1.example.com/logout',
    id_token_signing_alg_values_supported: ['RS256'],
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    response_types_supported: ['code', 'token'],
    revocation_endpoint: 'https://shop.auth.eu-west-1.example.com/oauth2/revoke',
    scopes_supported: ['openid', 'email', 'phone', 'profile'],
    subject_types_supported: ['public'],
    token_endpoint: 'https://shop.auth.eu-west-1.example.com/oauth2/token',
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    userinfo_endpoint: 'https://shop.auth.eu-west-1.example.com/oauth2/userInfo'
  }
}

/** An identity provider that serves one document, and counts how often it was asked. */
export async function provider (
  t: Test,
  change: (document: Record<string, unknown>) => unknown = (document) => document
) {
  const counter = { reads: 0 }
  const issuer = await serve(t, (request, response) => {
    counter.reads += 1
    response.setHeader('content-type', 'application/json')
    if (request.url === '/pool/.well-known/openid-configuration') {
      response.end(JSON.stringify(change(userPool(`${issuer}/pool`))))
    } else response.writeHead(404).end('{}')
  })
  return { issuer: `${issuer}/pool`, counter }
}

/** A ready app with the plugin, closed when the test ends. */
export async function build (
  t: Test,
  { server = {}, ...options }: OAuthDiscoveryShimOptions & { server?: FastifyServerOptions }
): Promise<FastifyInstance> {
  const app = Fastify(server)
  t.teardown(() => app.close())
  await app.register(shim, options)
  await app.ready()
  return app
}

/** Options with which everything works, for a provider at `issuer`. */
export const options = (issuer: string): OAuthDiscoveryShimOptions => ({
  publicBaseUrl: 'https://shop.example.com',
  issuer,
  clientId: 'public-client-1'
})

/** Whether a schema accepts a body. */
export async function acceptor (t: Test, schema: object): Promise<(body: object) => Promise<boolean>> {
  const app = Fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } })
  t.teardown(() => app.close())
  app.post('/', { schema: { body: schema } }, async () => '')
  return async (body) => (await app.inject({ method: 'POST', url: '/', payload: body })).statusCode === 200
}
