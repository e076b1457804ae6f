import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import Fastify, { type FastifyInstance } from 'fastify'
import { callbacks, startIdentityProvider, type IdentityProviderOptions } from 'identity-provider'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import type { Test } from 'tap'
import { freePort } from '../../../shared/free-port.ts'
import { folderWithKey } from '../../../test/signing-key-folder.ts'
import shim, { type OAuthDiscoveryShimOptions } from '../src/index.ts'

/** Somebody who can sign in at the provider of {@link signInWorld}. */
export const ada = { username: 'ada', password: 'correct horse battery' }

const clientId = 'public-client-1'

export interface World {
  /** Origin of the app. */
  readonly baseUrl: string
  readonly issuer: string
  /** Every request the app was sent, `GET /path`, in order. */
  readonly requests: string[]
  /** Tokens that `/mcp` let in. */
  readonly accepted: Set<string>
  /** Tokens that `/mcp` refuses from now on. */
  readonly revoked: Set<string>
}

export interface WorldOptions {
  readonly shimOptions?: Partial<OAuthDiscoveryShimOptions>
  readonly idpOptions?: Partial<IdentityProviderOptions>
  readonly challenge?: boolean
  /** Status and address of a redirect, for URLs that are answered with one. */
  readonly redirect?: (url: string, baseUrl: string) => readonly [number, string] | undefined
  /** Registers the plugin. Default: the shim. */
  readonly register?: (app: FastifyInstance, options: OAuthDiscoveryShimOptions) => Promise<void>
  /** Path of a callback of the app itself, which the provider knows beside those of clients. Default: none. */
  readonly ownCallback?: string
}

async function registerShim (app: FastifyInstance, options: OAuthDiscoveryShimOptions): Promise<void> {
  await app.register(shim, options)
}

/** An app with the plugin and an MCP endpoint behind it, and the identity provider it belongs to. */
export async function signInWorld (
  t: Test,
  {
    shimOptions = {},
    idpOptions = {},
    challenge = true,
    redirect = () => undefined,
    register = registerShim,
    ownCallback
  }: WorldOptions = {}
): Promise<World> {
  const port = await freePort()
  const baseUrl = `http://localhost:${port}`
  const { issuer, close } = await startIdentityProvider({
    port: 0,
    dataDir: await folderWithKey(t),
    users: [ada],
    resource: baseUrl,
    clientId,
    m2m: { clientId: 'machine', clientSecret: 'of no use here' },
    ...ownCallback !== undefined && { redirectUris: [...callbacks, `${baseUrl}${ownCallback}`] },
    ...idpOptions
  })
  t.teardown(close)

  const app = Fastify({ routerOptions: { ignoreTrailingSlash: true }, forceCloseConnections: true })
  t.teardown(() => app.close())
  const requests: string[] = []
  const accepted = new Set<string>()
  const revoked = new Set<string>()
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`))
  // Calls over the network, not those of the server itself.
  app.addHook('onRequest', async ({ method, url, raw }) => {
    if (raw.socket.remotePort !== undefined) requests.push(`${method} ${url}`)
  })
  app.addHook('onRequest', async ({ url }, reply) => {
    const [status, target] = redirect(url, baseUrl) ?? []
    if (target !== undefined) return reply.redirect(target, status)
  })
  await register(app, { publicBaseUrl: baseUrl, issuer, clientId, ...shimOptions })

  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    async onRequest ({ headers }, reply) {
      const [, token = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? []
      const verified = token && !revoked.has(token) &&
        await jwtVerify(token, keys, { issuer, audience: `${baseUrl}/mcp` }).catch(() => false)
      if (verified) {
        accepted.add(token)
        return
      }
      if (challenge) {
        reply.header(
          'www-authenticate',
          token ? app.oauthChallenge.replace('Bearer ', 'Bearer error="invalid_token", ') : app.oauthChallenge
        )
      }
      return reply.code(401).send({ error: 'invalid_token' })
    },
    async handler ({ method, raw, body }, reply) {
      if (method !== 'POST') return reply.code(405).send()
      const server = new McpServer({ name: 'test', version: '1.0.0' })
      server.registerTool(
        'hello',
        { description: 'Says hello' },
        async () => ({ content: [{ type: 'text', text: 'hello' }] })
      )
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
      await server.connect(transport)
      reply.hijack()
      await transport.handleRequest(raw, reply.raw, body)
    }
  })
  await app.listen({ port, host: '127.0.0.1' })
  return { baseUrl, issuer, requests, accepted, revoked }
}
