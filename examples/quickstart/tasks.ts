import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { tasks } from 'mcp-from-routes/tasks'

const app = Fastify()
const reports = new Map<string, { year: number, ready: number }>()
const params = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }

await app.register(mcpFromRoutes, { serverInfo: { name: 'reports', version: '1.0.0' }, extensions: [tasks()] })

app.post<{ Body: { year: number } }>('/reports', {
  schema: {
    operationId: 'write_report',
    description: 'Write the report of a year.',
    tags: ['mcp'],
    body: { type: 'object', properties: { year: { type: 'integer' } }, required: ['year'] }
  },
  config: { mcp: { task: { status: 'GET /reports/:id' } } }
}, async ({ body: { year } }, reply) => {
  const id = String(reports.size + 1)
  reports.set(id, { year, ready: Date.now() + 2000 })
  return reply.code(202).headers({ location: `/reports/${id}`, 'retry-after': 1 }).send({ id })
})

app.get<{ Params: { id: string } }>('/reports/:id', {
  schema: { operationId: 'get_report', description: 'Get a report, or how far it is.', tags: ['mcp'], params }
}, async ({ params: { id } }, reply) => {
  const report = reports.get(id)
  if (report === undefined) return reply.code(404).send({ message: `No report ${id}` })
  if (report.ready > Date.now()) {
    return reply.header('retry-after', 1).send({ status: 'running', message: `Counting ${report.year}` })
  }
  return { status: 'done', text: `${report.year} was a good year.` }
})

app.delete<{ Params: { id: string } }>('/reports/:id', { schema: { params } }, async ({ params: { id } }, reply) => {
  reports.delete(id)
  return reply.code(204).send()
})

console.log(`Reports at ${await app.listen({ port: Number(process.env.PORT ?? 3000) })}/mcp`)
