import Fastify from 'fastify'
import dualAuth, { memoryStore } from 'dual-auth'
import management from 'dual-auth/management'

const { ISSUER = '', CLIENT_ID = '', PORT = '3000', PEPPER = '' } = process.env

export const app = Fastify({ logger: { level: 'warn' } })

await app.register(dualAuth, {
  apiKeys: {
    marker: 'acme',
    peppers: [{ id: '2026-01', secret: PEPPER }],
    store: memoryStore(), // knexStore(knex) from 'dual-auth/knex' stores keys in PostgreSQL
    ownerParam: 'shop_id', // what names the owner of a key in your paths
    ownerIdFromParam: 'slug' // or 'uuid' or 'integer': what ids of shops look like
  },
  jwt: { issuer: ISSUER, userClients: [CLIENT_ID] },
  // Products accept API keys too. Everything else accepts only tokens, unless its route says otherwise.
  policy: (route) => route.url.startsWith('/shops/:shop_id/products') ? 'dual' : undefined
})
await app.register(management, {
  path: '/shops/:shop_id/api-keys',
  // Check in your own records whether this person belongs to this shop.
  canManage: (request, shopId) => request.identity?.kind === 'user' && request.identity.groups.includes(shopId)
})

app.get('/shops/:shop_id/products', async (request) => ({ products: [], caller: request.identity }))
app.get('/orders', async () => ({ orders: [] }))
app.get('/health', { config: { auth: 'public' } }, async () => ({ ok: true }))

await app.listen({ host: '127.0.0.1', port: Number(PORT) })
