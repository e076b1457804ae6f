import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { search } from 'mcp-from-routes/search'

const app = Fastify()
await app.register(mcpFromRoutes, {
  serverInfo: { name: 'office', version: '1.0.0' },
  extensions: [search({ path: '/mcp/search' })]
})

const KINDS = [
  'account',
  'asset',
  'budget',
  'contract',
  'customer',
  'delivery note',
  'employee',
  'expense',
  'invoice',
  'order',
  'payment',
  'project',
  'quote',
  'supplier',
  'task'
]
const kept: Array<{ kind: string, title: string }> = []
const title = { type: 'string', minLength: 1 }

for (const kind of KINDS) {
  const [name, url] = [kind.replace(' ', '_'), `/${kind.replace(' ', '-')}s`]
  app.get<{ Querystring: { title?: string } }>(
    url,
    {
      schema: {
        operationId: `list_${name}s`,
        description: `List the ${kind}s.`,
        tags: ['mcp'],
        querystring: { type: 'object', properties: { title } }
      }
    },
    async ({ query }) =>
      kept.filter((one) => one.kind === kind && (query.title === undefined || one.title === query.title))
  )
  app.post<{ Body: { title: string } }>(url, {
    schema: {
      operationId: `create_${name}`,
      description: `Create a new ${kind}.`,
      tags: ['mcp'],
      body: { type: 'object', properties: { title }, required: ['title'] }
    }
  }, async ({ body }) => {
    kept.push({ kind, title: body.title })
    return { kind, title: body.title }
  })
}

const address = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(
  `${app.mcpTools.length} tools at ${address}/mcp, and ${app.mcpSearchTools.length} that find them at ` +
    `${address}/mcp/search`
)
