import Fastify, { type FastifyReply } from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'

interface Note {
  readonly id: string
  readonly text: string
  readonly version: number
}

const app = Fastify()
const notes = new Map<string, Note>()
// Where processes end and callers differ, a table: by caller and key, written in the transaction of the note.
const created = new Map<string, Note>()

await app.register(mcpFromRoutes, {
  serverInfo: { name: 'notes', version: '1.0.0' },
  resultHeaders: ['etag', 'retry-after'] // What an agent sends as if_match.
})

const body = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const key = { type: 'string', maxLength: 64, description: 'A new one for each note. Repeat a call with the same one.' }
const match = { type: 'string', description: 'The etag of the note as you read it.' }
const sent = (reply: FastifyReply, note: Note): FastifyReply => reply.header('etag', `"${note.version}"`).send(note)

app.post<{ Body: { text: string }, Headers: { 'idempotency-key': string } }>('/notes', {
  schema: {
    operationId: 'create_note',
    description: 'Create a note.',
    tags: ['mcp'],
    headers: { type: 'object', properties: { 'Idempotency-Key': key }, required: ['Idempotency-Key'] },
    body
  },
  config: { mcp: { arguments: { headers: { 'Idempotency-Key': { name: 'idempotency_key' } } } } }
}, async ({ body: { text }, headers: { 'idempotency-key': key } }, reply) => {
  const note = created.get(key) ?? { id: String(notes.size + 1), text, version: 1 }
  if (note.text !== text) return reply.code(422).send({ message: 'This key belongs to another note' })
  if (!created.has(key)) notes.set(note.id, note)
  created.set(key, note)
  return sent(reply.code(201), note)
})

app.put<{ Params: { id: string }, Body: { text: string }, Headers: { 'if-match'?: string } }>('/notes/:id', {
  schema: {
    operationId: 'change_note',
    description: 'Change a note.',
    tags: ['mcp'],
    headers: { type: 'object', properties: { 'If-Match': match } },
    body
  },
  config: { mcp: { arguments: { headers: { 'If-Match': { name: 'if_match' } } } } }
}, async ({ params: { id }, body: { text }, headers: { 'if-match': tag } }, reply) => {
  const current = notes.get(id)
  if (current === undefined) return reply.code(404).send({ message: `No note ${id}` })
  if (tag !== undefined && tag !== `"${current.version}"`) {
    return reply.code(412).header('etag', `"${current.version}"`).send({ message: 'Somebody changed it', current })
  }
  const note = { ...current, text, version: current.version + 1 }
  notes.set(id, note)
  return sent(reply, note)
})

const address = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`create_note and change_note at ${address}/mcp`)
