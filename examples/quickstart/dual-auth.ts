import { randomBytes } from 'node:crypto'
import Fastify from 'fastify'
import dualAuth, { createApiKey, memoryStore } from 'dual-auth'

// Stored keys need the same PEPPER after a restart, such as the output of: openssl rand -hex 32
const { PEPPER = randomBytes(32), PORT = '3000' } = process.env

const apiKeys = {
  marker: 'acme',
  peppers: [{ id: '2026-01', secret: PEPPER }],
  store: memoryStore(), // knexStore(knex) from 'dual-auth/knex' stores keys in PostgreSQL
  ownerParam: 'shop_id' // what names the owner of a key in your paths
}

export const app = Fastify({ logger: { level: 'warn' } })

await app.register(dualAuth, {
  apiKeys,
  jwt: false, // No tokens yet: API keys alone.
  // 'dual': for keys of the owner in the path. As `jwt` is false, no credential opens the other routes.
  policy: (route) => route.url.startsWith('/shops/:shop_id/products') ? 'dual' : undefined
})

app.get('/shops/:shop_id/products', async (request) => ({ products: [], caller: request.identity }))
app.get('/orders', async () => ({ orders: [] }))
app.get('/health', { config: { auth: 'public' } }, async () => ({ ok: true }))

await app.listen({ host: '127.0.0.1', port: Number(PORT) })
const { plaintext } = await createApiKey(apiKeys, {
  ownerId: 'blue',
  name: 'Label printer',
  scopes: ['read'], // ['read']: GET and HEAD. ['read', 'write'], or the string 'all': every method
  createdBy: 'me'
})
console.log(`KEY=${plaintext}`)
