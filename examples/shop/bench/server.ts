// The shop on a database of its own, in a process of its own: the load comes from another. Says where it is, and what
// it uses or a new token when asked.
import { randomBytes } from 'node:crypto'
import { buildApp } from '../src/app.ts'
import { configFromEnvironment } from '../src/config.ts'
import { openEmbedded, openPostgres } from '../src/database/index.ts'
import { migrate } from '../src/database/migrate.ts'
import { startIdentityProvider } from '../src/demo/identity-provider.ts'
import { machineToken } from '../src/demo/keys.ts'

const [target = ''] = process.argv.slice(2)
const database = target.startsWith('postgres') ? openPostgres(target) : await openEmbedded(target)
await migrate(database)
const [{ id: shopId }] = await database.knex('shops').insert({ slug: 'bench', name: 'Bench', currency: 'EUR' }).returning('id')
const products = Array.from({ length: 300 }, (_, n) => ({
  shop_id: shopId, name: `Product ${n}`, slug: `product-${n}`, sku: `SKU-${n}`, description: 'A thing to sell. '.repeat(8), price_amount: 100 * n, currency: 'EUR'
}))
const [{ id: productId }] = await database.knex('products').insert(products).returning('id')
await database.knex.raw('vacuum analyze products')

const base = 'http://localhost'
const m2m = { clientId: 'bench', clientSecret: randomBytes(32).toString('hex') }
const { issuer } = await startIdentityProvider({ port: 0, users: [], resource: base, clientId: 'bench-mcp', m2m })
const config = configFromEnvironment({}, {
  MCP_ENABLED: true,
  PUBLIC_BASE_URL: base,
  IDP_ISSUER: issuer,
  IDP_MCP_CLIENT_ID: 'bench-mcp',
  API_KEY_PEPPERS: `bench:${randomBytes(32).toString('hex')}`,
  PAY_KEY_SECRETS: `bench:${randomBytes(32).toString('hex')}`,
  RATE_LIMIT_MAX: 1_000_000_000,
  LOG_LEVEL: 'warn'
})
const app = await buildApp({ config, database })
const address = await app.listen({ host: '127.0.0.1', port: 0 })
const newToken = async (): Promise<string> =>
  await machineToken({ issuer, mcp_client_id: 'bench-mcp', m2m: { client_id: m2m.clientId, client_secret: m2m.clientSecret, scope: `${base}/api` } })
const { plaintext: key } = (await app.inject({
  method: 'POST', url: `/shops/${shopId}/api-keys/`, headers: { authorization: `Bearer ${await newToken()}` }, payload: { name: 'bench' }
})).json()

process.on('message', async (what) => {
  if (what === 'token') {
    process.send?.(await newToken())
    return
  }
  const cpu = process.cpuUsage()
  globalThis.gc?.()
  process.send?.({ cpu, memory: process.memoryUsage(), handles: process.getActiveResourcesInfo().length })
})
process.on('disconnect', () => { app.close().then(() => database.close()).finally(() => process.exit()) })
process.send?.({ address, shopId, productId, key })
