import Fastify from 'fastify'
import { sessions } from './sessions'

interface Note {
  readonly id: number
  readonly text: string
  readonly created_at: string
}

const id = { type: 'integer', minimum: 1 }
const text = { type: 'string', minLength: 1, maxLength: 500 }

export async function build () {
  const app = Fastify({ ajv: { customOptions: { removeAdditional: false, coerceTypes: 'array' } } })
  await app.register(sessions)
  app.addSchema({
    $id: 'Note',
    type: 'object',
    required: ['id', 'text', 'created_at'],
    properties: { id, text, created_at: { type: 'string', format: 'date-time' } }
  })
  const notes = new Map<string, Note[]>()

  app.get<{ Querystring: { page: number, order: 'asc' | 'desc' } }>('/notes', {
    preHandler: (request, reply) => app.signedIn(request, reply),
    schema: {
      operationId: 'list_notes',
      description: 'List your notes.',
      tags: ['notes'],
      querystring: {
        type: 'object',
        additionalProperties: false,
        properties: {
          page: { type: 'integer', minimum: 1, default: 1 },
          order: { type: 'string', enum: ['asc', 'desc'], default: 'asc' }
        }
      },
      response: { 200: { type: 'array', items: { $ref: 'Note#' } } }
    }
  }, async ({ person, query: { page, order } }) => {
    const mine = notes.get(person ?? '') ?? []
    return (order === 'asc' ? mine : [...mine].reverse()).slice((page - 1) * 100, page * 100)
  })

  app.post<{ Body: { text: string } }>('/notes', {
    preHandler: (request, reply) => app.signedIn(request, reply),
    schema: {
      operationId: 'create_note',
      description: 'Write a note.',
      tags: ['notes'],
      body: { type: 'object', required: ['text'], additionalProperties: false, properties: { text } },
      response: { 201: { $ref: 'Note#' } }
    }
  }, async ({ person, body }, reply) => {
    const mine = notes.get(person ?? '') ?? []
    const note = { id: mine.length + 1, text: body.text, created_at: new Date().toISOString() }
    notes.set(person ?? '', [...mine, note])
    return reply.code(201).send(note)
  })

  return app
}
