import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { fields } from 'mcp-from-routes/fields'

const text = { type: 'string' }
const price = {
  type: 'object',
  properties: { currency: text, amount: { type: 'integer' } },
  required: ['currency', 'amount']
}
const product = {
  type: 'object',
  properties: { id: text, name: text, description: text, prices: { type: 'array', items: price } },
  required: ['id', 'name', 'description', 'prices']
}
const products = [{
  id: '1',
  name: 'Mug',
  description: 'Of stoneware, glazed twice and fired by hand.',
  prices: [{ currency: 'EUR', amount: 1200 }]
}]

const app = Fastify()
await app.register(mcpFromRoutes, {
  serverInfo: { name: 'shop', version: '1.0.0' },
  extensions: [fields()] // For all lists.
})

app.get('/products', {
  schema: {
    operationId: 'list_products',
    description: 'List the products.',
    tags: ['mcp'],
    response: { 200: { type: 'array', items: product } }
  }
}, async () => products)

app.get('/products/:id', {
  schema: { operationId: 'get_product', description: 'Get a product.', tags: ['mcp'], response: { 200: product } },
  // For one record, and only these of its fields.
  config: { mcp: { fields: { names: ['name', 'prices', 'prices.amount'] } } }
}, async () => products[0])

const address = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`list_products and get_product at ${address}/mcp`)
