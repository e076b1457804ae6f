import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { skills } from 'mcp-from-routes/skills'

const about = { type: 'string', enum: ['plants', 'errands'] }
const notes: Array<{ about: string, text: string }> = []

const app = Fastify()
await app.register(mcpFromRoutes, {
  serverInfo: { name: 'notes', version: '1.0.0' },
  extensions: [skills(new URL('./skills/', import.meta.url))] // A folder with a SKILL.md for each skill.
})

app.get<{ Querystring: { about?: string } }>('/notes', {
  schema: {
    operationId: 'list_notes',
    description: 'List the notes.',
    tags: ['mcp'],
    querystring: { type: 'object', properties: { about } }
  }
}, async ({ query }) => notes.filter((note) => query.about === undefined || note.about === query.about))

app.post<{ Body: { about: string, text: string } }>('/notes', {
  schema: {
    operationId: 'create_note',
    description: 'Write a note.',
    tags: ['mcp'],
    body: { type: 'object', properties: { about, text: { type: 'string', minLength: 1 } }, required: ['about', 'text'] }
  }
}, async ({ body }, reply) => {
  notes.push(body)
  return reply.code(201).send(body)
})

const address = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`${app.mcpSkills.map(({ uri }) => uri).join(' and ')} at ${address}/mcp`)
