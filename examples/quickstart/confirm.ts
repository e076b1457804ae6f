import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { confirm, CONFIRMATION, quoted } from 'mcp-from-routes/confirm'

const app = Fastify()
const notes = new Map([['1', { text: 'Water the plants', readers: 3 }]])
const params = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }

await app.register(mcpFromRoutes, { serverInfo: { name: 'notes', version: '1.0.0' }, extensions: [confirm()] })

function noteOf (id: string): { text: string, readers: number } {
  const note = notes.get(id)
  if (note === undefined) throw Object.assign(new Error(`No note ${id}`), { statusCode: 404 })
  return note
}

app.delete<{ Params: { id: string } }>('/notes/:id', {
  schema: { operationId: 'delete_note', description: 'Delete a note.', tags: ['mcp'], params },
  config: {
    mcp: {
      confirm: (_args, { params }) => {
        const note = noteOf((params as { id: string }).id)
        return `Delete the note ${quoted(note.text)}? ${note.readers} people read it.`
      }
    }
  }
}, async ({ params: { id }, raw, log }, reply) => {
  noteOf(id)
  notes.delete(id)
  log.info({ id, confirmed: raw[CONFIRMATION] }, 'a note was deleted')
  return reply.code(204).send()
})

console.log(`Notes at ${await app.listen({ port: Number(process.env.PORT ?? 3000) })}/mcp`)
