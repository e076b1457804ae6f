import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'

const app = Fastify()
const notes = new Map([['1', { id: '1', text: 'Water the plants' }]])
const text = { type: 'string', minLength: 1, description: 'what to remember' }
const note = { type: 'object', properties: { id: { type: 'string' }, text }, required: ['id', 'text'] }
const list = { type: 'array', items: note }

await app.register(mcpFromRoutes, { serverInfo: { name: 'notes', version: '1.0.0' } })

app.get('/notes', {
  schema: { operationId: 'list_notes', description: 'List all notes.', tags: ['mcp'], response: { 200: list } }
}, async () => [...notes.values()])

app.post<{ Body: { text: string } }>('/notes', {
  schema: {
    operationId: 'create_note',
    description: 'Create a note.',
    tags: ['mcp'],
    body: { type: 'object', properties: { text }, required: ['text'] },
    response: { 201: note }
  }
}, async ({ body }, reply) => {
  const created = { id: String(notes.size + 1), text: body.text }
  notes.set(created.id, created)
  return reply.code(201).send(created)
})

app.delete('/notes', async () => notes.clear()) // Not tagged: no tool.

const address = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`${app.mcpTools.map((tool) => tool.name).join(' and ')} at ${address}/mcp`)
