import { createError } from '@fastify/error'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { quoted } from 'mcp-from-routes/confirm'

const NOTE_NOT_FOUND = createError('NOTE_NOT_FOUND', 'The team has no such note', 404)

const id = Type.String({ format: 'uuid' })
const title = Type.String({ minLength: 1, maxLength: 200 })
const text = Type.String({ maxLength: 10_000, description: 'Markdown' })
const createdAt = Type.Unsafe<Date>({ type: 'string', format: 'date-time' })
const limit = Type.Integer({ minimum: 1, maximum: 100, default: 20 })
const offset = Type.Integer({ minimum: 0, maximum: 10_000, default: 0 })

const Note = Type.Object({ id, title, text, created_at: createdAt })
const NewNote = Type.Object({ title, text: Type.Optional(text) }, { additionalProperties: false })
const OfTeam = Type.Object({ team_id: id })
const OfNote = Type.Object({ team_id: id, note_id: id })

/** Each route is a tool, too: the operation id is its name, and parameters and body are its arguments. */
export const notes: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const tool = (operationId: string, description: string) => ({ operationId, description, tags: ['mcp'] })
  const find = ({ team_id: team, note_id: note }: Static<typeof OfNote>) =>
    knex('notes').where({ team_id: team, id: note })

  app.get(
    '/',
    {
      schema: {
        ...tool('list_notes', 'List the notes of a team, newest first.'),
        params: OfTeam,
        querystring: Type.Object({ limit, offset }, { additionalProperties: false }),
        response: { 200: Type.Array(Note) }
      }
    },
    async ({ params, query: { limit, offset } }) =>
      await knex('notes').where(params).orderByRaw('created_at desc, id').limit(limit).offset(offset)
  )

  app.post('/', {
    schema: { ...tool('create_note', 'Create a note.'), params: OfTeam, body: NewNote, response: { 201: Note } }
  }, async ({ params, body }, reply) => {
    const [note] = await knex('notes').insert({ ...body, ...params }).returning('*')
    return reply.code(201).send(note)
  })

  /** What the person at the client is asked before an agent deletes. */
  const confirm = async (_args: unknown, { params }: { readonly params: unknown }): Promise<string> => {
    const note = await find(params as Static<typeof OfNote>).first()
    if (note === undefined) throw new NOTE_NOT_FOUND()
    return `Delete the note ${quoted(note.title)}?`
  }

  app.delete('/:note_id', {
    schema: { ...tool('delete_note', 'Delete a note.'), params: OfNote, response: { 204: Type.Null() } },
    config: { mcp: { confirm } }
  }, async ({ params }, reply) => {
    if (await find(params).delete() === 0) throw new NOTE_NOT_FOUND()
    return reply.code(204).send(null)
  })
}
