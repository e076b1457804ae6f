import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { views } from 'mcp-from-routes/views'

const app = Fastify()
await app.register(mcpFromRoutes, { serverInfo: { name: 'shop', version: '1.0.0' }, extensions: [views()] })

app.get('/products', {
  schema: {
    operationId: 'list_products',
    description: 'The products with their prices.',
    tags: ['mcp'],
    response: {
      200: {
        type: 'array',
        items: { type: 'object', properties: { name: { type: 'string' }, price: { type: 'number' } } }
      }
    }
  },
  config: { mcp: { view: 'GET /views/products' } }
}, async () => [{ name: 'Kettle', price: 39 }, { name: 'Cup', price: 8 }])

app.get('/views/products', {
  schema: {
    operationId: 'view_products',
    description: 'The products as a list.',
    tags: ['mcp-resource'],
    response: { 200: { content: { 'text/html': { schema: { type: 'string' } } } } }
  },
  config: { mcp: { resource: { uri: 'ui://shop/products', name: 'products', ui: { prefersBorder: true } } } }
}, async (_request, reply) => reply.type('text/html').header('cache-control', 'max-age=3600').send(VIEW))

const VIEW = `<!doctype html>
<html lang="en"><title>Products</title>
<ul></ul>
<script>
  const send = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
  addEventListener('message', ({ source, data }) => {
    if (source !== parent) return
    if (data.id === 1) send({ method: 'ui/notifications/initialized', params: {} })
    if (data.method === 'ui/notifications/tool-result') show(data.params.structuredContent.result)
  })
  const show = (products) => document.querySelector('ul').replaceChildren(...products.map(({ name, price }) => {
    const item = document.createElement('li')
    item.textContent = name + ': ' + price
    return item
  }))
  const appInfo = { name: 'products', version: '1.0.0' }
  send({ id: 1, method: 'ui/initialize', params: { protocolVersion: '2026-01-26', appInfo, appCapabilities: {} } })
</script>
`

const address = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`list_products has the view ${app.mcpResources.map(({ uri }) => uri).join()} at ${address}/mcp`)
