import Fastify, { type FastifyInstance } from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { confirm, quoted } from 'mcp-from-routes/confirm'

const text = { type: 'string', minLength: 1, description: 'what to remember' }
const note = { type: 'object', properties: { id: { type: 'string' }, text }, required: ['id', 'text'] }
const params = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }

/** @returns an app with notes of its own, which does not listen */
export async function buildApp (): Promise<FastifyInstance> {
  const app = Fastify()
  const notes = new Map([['1', { id: '1', text: 'Water the plants' }]])
  const noteOf = (id: string): { text: string } => {
    const note = notes.get(id)
    if (note === undefined) throw Object.assign(new Error(`No note ${id}`), { statusCode: 404 })
    return note
  }

  await app.register(mcpFromRoutes, { serverInfo: { name: 'notes', version: '1.0.0' }, extensions: [confirm()] })

  app.get('/notes', {
    schema: {
      operationId: 'list_notes',
      description: 'List all notes.',
      tags: ['mcp'],
      response: { 200: { type: 'array', items: note } }
    }
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

  app.delete<{ Params: { id: string } }>('/notes/:id', {
    schema: { operationId: 'delete_note', description: 'Delete a note.', tags: ['mcp'], params },
    config: { mcp: { confirm: ({ id }) => `Delete the note ${quoted(noteOf(String(id)).text)}?` } }
  }, async ({ params: { id } }, reply) => {
    noteOf(id)
    notes.delete(id)
    return reply.code(204).send()
  })

  return app
}
