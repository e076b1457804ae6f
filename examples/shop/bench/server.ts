// The shop on a database of its own, in a process of its own: the load comes from another. Says where it is, and what
// it uses when asked.
import { randomBytes } from 'node:crypto'
import { buildApp } from '../src/app.ts'
import { settingsFromEnvironment } from '../src/settings/settings.ts'
import { openEmbedded, openPostgres } from '../src/database/index.ts'
import { migrate } from '../src/database/migrate.ts'

const [target = '', base = '', issuer = '', token = '', settings = '{}'] = process.argv.slice(2)
const database = target.startsWith('postgres') ? openPostgres(target) : await openEmbedded(target)
await migrate(database)
const [{ id: shopId }] = await database.knex('shops').insert({ slug: `bench-${randomBytes(4).toString('hex')}`, name: 'Bench', currency: 'EUR' }).returning('id')
const products = Array.from({ length: 300 }, (_, n) => ({
  shop_id: shopId, name: `Product ${n}`, slug: `product-${n}`, sku: `SKU-${n}`, description: 'A thing to sell. '.repeat(8), price_amount: 100 * n, currency: 'EUR'
}))
const [{ id: productId }] = await database.knex('products').insert(products).returning('id')
await database.knex.raw('vacuum analyze products')

const config = settingsFromEnvironment({}, {
  MCP_ENABLED: true,
  PUBLIC_BASE_URL: base,
  IDP_ISSUER: issuer,
  IDP_MCP_CLIENT_ID: 'bench-mcp',
  API_KEY_PEPPERS: `bench:${randomBytes(32).toString('hex')}`,
  PAY_KEY_SECRETS: `bench:${randomBytes(32).toString('hex')}`,
  LOG_LEVEL: 'warn',
  ...JSON.parse(settings)
})
const app = await buildApp({ config, database })
const address = await app.listen({ host: '127.0.0.1', port: 0 })
const { plaintext: key } = (await app.inject({
  method: 'POST', url: `/shops/${shopId}/api-keys/`, headers: { authorization: `Bearer ${token}` }, payload: { name: 'bench' }
})).json()

process.on('message', (message) => {
  const cpu = process.cpuUsage()
  // Collected only when asked: a collection while no request is in flight makes V8 forget the code that it has optimized
  // for what requests are made of, and a round after it measures compiling.
  if (message === 'collect') globalThis.gc?.()
  process.send?.({ cpu, memory: process.memoryUsage(), handles: process.getActiveResourcesInfo().length })
})
process.on('disconnect', () => { app.close().then(() => database.close()).finally(() => process.exit()) })
process.send?.({ address, shopId, productId, key })
