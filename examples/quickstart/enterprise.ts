import dualAuth, { memoryStore } from 'dual-auth'
import Fastify from 'fastify'
import oauthBroker, { brokerKeySet } from 'oauth-discovery-shim/broker'

const {
  PORT = '8080',
  PUBLIC_BASE_URL = `http://localhost:${PORT}`,
  IDP_ISSUER = '',
  IDP_MCP_CLIENT_ID = '',
  ORGANIZATION = '',
  AGENT_SECRET = '',
  BROKER_SECRET = '',
  KEY_SECRET = '',
  PEPPER = ''
} = process.env

const app = Fastify({ logger: { level: 'warn' } })
const resource = `${PUBLIC_BASE_URL}/mcp`
const keys = [{ id: '2026-11', secret: KEY_SECRET }]

await app.register(dualAuth, {
  apiKeys: { marker: 'acme', peppers: [{ id: '2026-11', secret: PEPPER }], store: memoryStore() },
  jwt: [
    // People who sign in with a browser.
    { issuer: IDP_ISSUER, userClients: [IDP_MCP_CLIENT_ID], audience: [resource] },
    // People of the organization. This server issues their tokens, so it knows the keys.
    {
      provider: 'rfc9068',
      issuer: `${PUBLIC_BASE_URL}/oauth`,
      jwks: brokerKeySet(keys, PUBLIC_BASE_URL),
      algorithms: ['EdDSA'],
      machineClients: [],
      audience: [resource]
    }
  ],
  challenge: { resourceMetadata: `${PUBLIC_BASE_URL}/.well-known/oauth-protected-resource/mcp` }
})

await app.register(oauthBroker, {
  publicBaseUrl: PUBLIC_BASE_URL,
  issuer: IDP_ISSUER,
  clientId: IDP_MCP_CLIENT_ID,
  config: { auth: 'public' },
  secrets: [{ id: '2026-11', secret: BROKER_SECRET }],
  assertions: { issuers: [{ issuer: ORGANIZATION }], keys, clients: [{ id: 'agent', secrets: [AGENT_SECRET] }] }
})

// Stands for your MCP endpoint.
app.post<{ Body: { id: number } }>(
  '/mcp',
  async ({ body, identity }) => ({ jsonrpc: '2.0', id: body.id, result: { identity } })
)

await app.listen({ port: Number(PORT) })
console.log(`listening at ${PUBLIC_BASE_URL}`)
