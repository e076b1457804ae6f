// The shop on a database of its own, in a process of its own: the load comes from another. Says where it is, and what
// it uses when asked.
import { randomBytes } from 'node:crypto'
import { buildApp } from '../src/app.ts'
import { settingsFromEnvironment } from '../src/settings/settings.ts'
import { openDatabase, openEmbedded } from '../src/database/index.ts'
import { migrate } from '../src/migrations/migrate.ts'

const [target = '', base = '', issuer = '', token = '', settings = '{}'] = process.argv.slice(2)
const database = target.startsWith('postgres')
  ? await openDatabase({ DATABASE_URL: target, DATA_DIR: '', ...JSON.parse(settings) })
  : await openEmbedded(target)
await migrate(database)
const [{ id: shopId }] = await database.knex('shops').insert({
  slug: `bench-${randomBytes(4).toString('hex')}`,
  name: 'Bench',
  currency: 'EUR'
}).returning('id')
const products = Array.from({ length: 300 }, (_, n) => ({
  shop_id: shopId,
  name: `Product ${n}`,
  slug: `product-${n}`,
  sku: `SKU-${n}`,
  description: 'A thing to sell. '.repeat(8),
  price_amount: 100 * n,
  currency: 'EUR'
}))
const [{ id: productId }] = await database.knex('products').insert(products).returning('id')
const { tagId, categoryId } = await database.knex.transaction(async (trx) => {
  const one = { shop_id: shopId, name: 'A tenth', slug: 'a-tenth' }
  const [[{ id: tagId }], [{ id: categoryId }]] = [
    await trx('tags').insert(one).returning('id'),
    await trx('categories').insert(one).returning('id')
  ]
  const tenth = await trx('products').where({ shop_id: shopId }).whereRaw('price_amount % 1000 = 0').select(
    'shop_id',
    'id as product_id'
  )
  await trx('product_tags').insert(tenth.map((link) => ({ ...link, tag_id: tagId })))
  await trx('product_categories').insert(tenth.map((link) => ({ ...link, category_id: categoryId })))
  return { tagId, categoryId }
})
for (const table of ['products', 'product_tags', 'product_categories']) {
  await database.knex.raw('vacuum analyze ??', [table])
}

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
  method: 'POST',
  url: `/shops/${shopId}/api-keys/`,
  headers: { authorization: `Bearer ${token}` },
  payload: { name: 'bench' }
})).json()

process.on('message', (message) => {
  const cpu = process.cpuUsage()
  // Collected only when asked: a collection while no request is in flight makes V8 forget the code that it has
  // optimized for what requests are made of, and a round after it measures compiling.
  if (message === 'collect') globalThis.gc?.()
  process.send?.({ cpu, memory: process.memoryUsage(), handles: process.getActiveResourcesInfo().length })
})
process.on('disconnect', () => {
  app.close().then(() => database.close()).finally(() => process.exit())
})
const first = await app.inject({ url: `/shops/${shopId}/products?limit=10`, headers: { 'x-api-key': key } })
const cursor = {
  after: new URL(/<(.*?)>; rel="next"/.exec(String(first.headers['link']))![1]!, base).searchParams.get('after'),
  productId: first.json().at(-1).id
}
process.send?.({ address, shopId, productId, tagId, categoryId, cursor, key })
