import Fastify from 'fastify'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import oauthDiscoveryShim from 'oauth-discovery-shim'

const {
  PORT = '8080',
  PUBLIC_BASE_URL = `http://localhost:${PORT}`,
  IDP_ISSUER = 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_EXAMPLE',
  IDP_MCP_CLIENT_ID = ''
} = process.env

const app = Fastify({ logger: true })

await app.register(oauthDiscoveryShim, {
  publicBaseUrl: PUBLIC_BASE_URL,
  issuer: IDP_ISSUER,
  clientId: IDP_MCP_CLIENT_ID,
  resourceName: 'Quickstart'
})

const document = await fetch(`${IDP_ISSUER.replace(/\/$/, '')}/.well-known/openid-configuration`)
const { jwks_uri: keysUri } = await document.json() as { jwks_uri: string }
const keys = createRemoteJWKSet(new URL(keysUri))

// Stands for your MCP endpoint: a request without a valid token leads to the sign-in page.
app.post<{ Body: { id: number } }>('/mcp', {
  async onRequest ({ headers, log }, reply) {
    const token = headers.authorization?.replace(/^Bearer /, '') ?? ''
    const verified = await jwtVerify(token, keys, { issuer: IDP_ISSUER }).catch((error) => {
      log.info(error.message)
    })
    // Providers name the client in one of these. Yours has to check more, such as aud: dual-auth does.
    const named = ['client_id', 'azp', 'cid', 'appid'].map((claim) => verified?.payload[claim])
    const client = named.find((id) => id !== undefined)
    if (client !== IDP_MCP_CLIENT_ID) {
      return reply.code(401).header('www-authenticate', app.oauthChallenge).send({ error: 'invalid_token' })
    }
  }
}, async ({ body }) => ({ jsonrpc: '2.0', id: body.id, result: {} }))

await app.listen({ port: Number(PORT) })
