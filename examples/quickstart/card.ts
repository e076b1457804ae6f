import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { card } from 'mcp-from-routes/card'

const port = Number(process.env.PORT ?? 3000)
const publicUrl = process.env.PUBLIC_URL ?? `http://localhost:${port}`

const app = Fastify()
await app.register(mcpFromRoutes, {
  serverInfo: { name: 'notes', title: 'Notes', version: '1.0.0' },
  extensions: [card({
    name: 'com.example/notes', // A domain of yours, reversed, and the name in serverInfo.
    description: 'Notes that agents write and find again.',
    url: `${publicUrl}/mcp`,
    headers: [{ name: 'Authorization', description: 'Bearer and your token', isRequired: true, isSecret: true }]
  })]
})

app.get(
  '/notes',
  { schema: { operationId: 'list_notes', description: 'List all notes.', tags: ['mcp'] } },
  async () => ['Water the plants']
)

await app.listen({ port })
console.log(`${app.mcpCard?.name} at ${publicUrl}/mcp/server-card`)
