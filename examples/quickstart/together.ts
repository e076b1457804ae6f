import dualAuth, { scopesFromRoute } from 'dual-auth'
import { createApiKeysTable, knexStore } from 'dual-auth/knex'
import management from 'dual-auth/management'
import Fastify, { type FastifyRequest } from 'fastify'
import knexFrom from 'knex'
import mcpFromRoutes from 'mcp-from-routes'
import oauthDiscoveryShim from 'oauth-discovery-shim'
import payReconcile from 'pay-reconcile'
import { createPayReconcileTables, knexAccountStore, knexRunStore } from 'pay-reconcile/knex'
import { stripeProvider } from 'pay-reconcile/stripe'

const {
  DATABASE_URL = '',
  IDP_ISSUER = '',
  IDP_MCP_CLIENT_ID = '',
  PEPPER = '',
  PORT = '8080',
  PUBLIC_BASE_URL = `http://localhost:${PORT}`
} = process.env

const knex = knexFrom({ client: 'pg', connection: DATABASE_URL })
await createApiKeysTable(knex) // in your migrations, rather
await createPayReconcileTables(knex)

const app = Fastify({ logger: { level: 'warn' } })
const isEndpoint = (url: string): boolean => url === '/mcp' || url === '/mcp/'
const isAdmin = ({ identity }: FastifyRequest): boolean =>
  identity?.kind === 'user' && identity.groups.includes('admin')

// 1. Authentication first: it guards every route behind it.
await app.register(dualAuth, {
  apiKeys: {
    marker: 'acme',
    peppers: [{ id: '2026-11', secret: PEPPER }],
    store: knexStore(knex),
    ownerParam: 'shop_id',
    ownerIdFromParam: 'slug' // or 'uuid' or 'integer': what ids of shops look like
  },
  jwt: {
    issuer: IDP_ISSUER,
    userClients: [IDP_MCP_CLIENT_ID],
    machineClients: [],
    audience: [PUBLIC_BASE_URL, `${PUBLIC_BASE_URL}/mcp`]
  },
  // The endpoint and the routes behind its tools accept API keys. All other routes accept tokens only.
  policy: ({ url, schema }) => {
    if (isEndpoint(url)) return 'any-key' // It names no shop; its tools do.
    return schema?.tags?.includes('mcp') ? 'dual' : 'jwt'
  },
  // The endpoint is no operation: a key with the scope `read` may reach it, and each route checks the scopes of its own
  // calls.
  scopes: (route) => isEndpoint(route.url) ? null : scopesFromRoute(route),
  challenge: {
    resourceMetadata: `${PUBLIC_BASE_URL}/.well-known/oauth-protected-resource/mcp`,
    scope: 'openid email profile'
  }
})
await app.register(management, { path: '/shops/:shop_id/api-keys', canManage: isAdmin })

// 2. The discovery documents are for clients that have no credentials yet.
await app.register(oauthDiscoveryShim, {
  publicBaseUrl: PUBLIC_BASE_URL,
  issuer: IDP_ISSUER,
  clientId: IDP_MCP_CLIENT_ID,
  config: { auth: 'public' }
})

// 3. The tools, in front of the routes that they are made of.
await app.register(mcpFromRoutes, {
  serverInfo: { name: 'acme', version: '1.0.0' },
  // A key sees the tools that its scopes open. A call of another one is refused by the route, which names the scope.
  canUse: ({ route }, request) => request.mayCall(route) || 'unlisted',
  // A key belongs to one shop, so its agent need not name it.
  impliedArguments: { shop_id: ({ identity }) => identity?.kind === 'api-key' ? identity.ownerId : undefined }
})

app.get<{ Params: { shop_id: string } }>('/shops/:shop_id/products', {
  schema: {
    operationId: 'list_products',
    description: 'List the products of a shop.',
    tags: ['mcp'],
    params: { type: 'object', properties: { shop_id: { type: 'string' } }, required: ['shop_id'] },
    response: {
      200: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } }
    }
  }
}, async ({ params }) => [{ name: `A teapot of ${params.shop_id}` }])

// 4. The accounts of all shops, for admins. No tools, so tokens only.
await app.register(payReconcile, {
  accounts: knexAccountStore(knex),
  runs: knexRunStore(knex),
  provider: stripeProvider(),
  authorize: async (request) => {
    if (!isAdmin(request)) throw Object.assign(new Error('Admins only'), { statusCode: 403 })
  },
  actor: ({ identity }) => identity?.kind === 'user' ? identity.subject : 'nobody'
})

app.addHook('onClose', async () => await knex.destroy())
await app.listen({ port: Number(PORT) })
console.log(`listening at ${PUBLIC_BASE_URL}`)
