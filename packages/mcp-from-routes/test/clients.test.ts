import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { CLIENTS, connect, listen } from './build.ts'

const Note = Type.Object({
  id: Type.Integer(),
  text: Type.String({ minLength: 1 }),
  tag: Type.Union([Type.String(), Type.Null()])
})

function notes (app: FastifyInstance): void {
  const rows = new Map([[1, { id: 1, text: 'first', tag: null as string | null }]])
  app.get('/notes', {
    schema: {
      operationId: 'list_notes',
      description: 'List notes.',
      tags: ['mcp', 'large'],
      querystring: Type.Object({
        limit: Type.Optional(Type.Integer({ minimum: 1 })),
        sort: Type.Optional(Type.String())
      }),
      response: { 200: Type.Array(Note) }
    }
  }, async (_request, reply) => {
    reply.header('content-range', `notes 0-${rows.size}/${rows.size}`)
    return [...rows.values()]
  })
  app.get<{ Params: { id: number } }>(
    '/notes/:id',
    {
      schema: {
        operationId: 'get_note',
        description: 'Get a note.',
        tags: ['mcp'],
        params: Type.Object({ id: Type.Integer() }),
        response: {
          200: Note,
          404: Type.Object({
            statusCode: Type.Integer(),
            code: Type.String(),
            error: Type.String(),
            message: Type.String()
          })
        }
      }
    },
    async ({ params }, reply) =>
      rows.get(params.id) ??
        reply.code(404).send({
          statusCode: 404,
          code: 'NOT_FOUND',
          error: 'Not Found',
          message: `no note ${params.id}`
        })
  )
  app.post<{ Body: { text: string, tag?: string } }>('/notes', {
    schema: {
      operationId: 'create_note',
      description: 'Create a note.',
      tags: ['mcp'],
      body: Type.Object({ text: Type.String({ minLength: 1 }), tag: Type.Optional(Type.String()) }, {
        additionalProperties: false
      }),
      response: { 201: Note }
    }
  }, async ({ body }, reply) => {
    const row = { id: rows.size + 1, text: body.text, tag: body.tag ?? null }
    rows.set(row.id, row)
    return reply.code(201).header('location', `/notes/${row.id}`).send(row)
  })
  app.delete<{ Params: { id: number } }>('/notes/:id', {
    schema: {
      operationId: 'delete_note',
      summary: 'Delete a note.',
      tags: ['mcp'],
      params: Type.Object({ id: Type.Integer() }),
      response: { 204: Type.Null() }
    }
  }, async ({ params }, reply) => {
    rows.delete(params.id)
    return reply.code(204).send()
  })
  app.get('/private', { schema: { operationId: 'private', description: 'Not a tool.' } }, async () => 'private')
}

for (const which of CLIENTS) {
  t.test(`client ${which}`, async (t) => {
    const { url } = await listen(t, notes)
    const client = await connect(t, which, url)

    await t.test('tools/list shows the tagged routes, sorted, with full schemas', async (t) => {
      const { tools } = await client.listTools()
      t.strictSame(tools.map((tool) => tool.name), ['create_note', 'delete_note', 'get_note', 'list_notes'])
      const note = {
        type: 'object',
        properties: {
          id: { type: 'integer' },
          text: { type: 'string' },
          tag: { anyOf: [{ type: 'string' }, { type: 'null' }] }
        },
        required: ['id', 'text', 'tag']
      }
      t.strictSame(tools.find((tool) => tool.name === 'list_notes'), {
        name: 'list_notes',
        description: 'List notes. The result can be large: narrow it with limit.',
        inputSchema: {
          type: 'object',
          properties: { limit: { type: 'integer', minimum: 1 }, sort: { type: 'string' } },
          additionalProperties: false
        },
        outputSchema: { type: 'object', properties: { result: { type: 'array', items: note } }, required: ['result'] },
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
        _meta: { 'mcp-from-routes/large': true, 'anthropic/maxResultSizeChars': 500000 }
      })
      t.strictSame(tools.find((tool) => tool.name === 'delete_note'), {
        name: 'delete_note',
        description: 'Delete a note.',
        inputSchema: {
          type: 'object',
          properties: { id: { type: 'integer' } },
          required: ['id'],
          additionalProperties: false
        },
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }
      })
    })

    await t.test('create, get, list and delete work', async (t) => {
      t.match(await client.callTool({ name: 'create_note', arguments: { text: 'second' } }), {
        structuredContent: { id: 2, text: 'second', tag: null },
        content: [{ type: 'text', text: '{"id":2,"text":"second","tag":null}' }, {
          type: 'text',
          text: 'location: /notes/2'
        }],
        _meta: { 'mcp-from-routes/headers': { location: '/notes/2' } }
      })
      t.match(await client.callTool({ name: 'get_note', arguments: { id: 2 } }), {
        structuredContent: { id: 2, text: 'second', tag: null }
      })
      const rows = [{ id: 1, text: 'first', tag: null }, { id: 2, text: 'second', tag: null }]
      t.match(await client.callTool({ name: 'list_notes' }), {
        structuredContent: { result: rows, headers: { 'content-range': 'notes 0-2/2' } },
        content: [{ type: 'text', text: JSON.stringify(rows) }, { type: 'text', text: 'content-range: notes 0-2/2' }]
      })
      const gone = await client.callTool({ name: 'delete_note', arguments: { id: 2 } })
      t.match(gone, { content: [{ type: 'text', text: '204 No Content: done, and there is nothing to return.' }] })
      t.equal(gone.isError, undefined)
      t.equal(gone.structuredContent, undefined)
    })

    await t.test('errors come back as tool errors that name the argument', async (t) => {
      const texts = async (name: string, args: Record<string, unknown>): Promise<unknown> => {
        const result = await client.callTool({ name, arguments: args })
        t.equal(result.isError, true)
        t.equal(result.structuredContent, undefined)
        return result.content
      }
      t.strictSame(await texts('get_note', { id: 99 }), [{
        type: 'text',
        text: '404 Not Found: no note 99 (NOT_FOUND)'
      }])
      t.strictSame(await texts('get_note', { id: 'x' }), [{
        type: 'text',
        text: '400 Bad Request: id must be integer (FST_ERR_VALIDATION)'
      }])
      t.strictSame(await texts('create_note', { text: '' }), [{
        type: 'text',
        text: '400 Bad Request: text must NOT have fewer than 1 characters (FST_ERR_VALIDATION)'
      }])
      t.strictSame(await texts('create_note', {}), [{
        type: 'text',
        text: "400 Bad Request: arguments must have required property 'text' (FST_ERR_VALIDATION)"
      }])
      t.strictSame(await texts('create_note', { text: 'x', colour: 'red' }), [{
        type: 'text',
        text: 'Unknown argument "colour". This tool takes text, tag'
      }])
      t.strictSame(await texts('get_note', {}), [{ type: 'text', text: 'id is missing' }])
    })

    await t.test('an unknown tool and an untagged route are both unknown', async (t) => {
      await t.rejects(client.callTool({ name: 'nothing' }), { code: -32602, message: /Unknown tool: nothing/ })
      await t.rejects(client.callTool({ name: 'private' }), { code: -32602, message: /Unknown tool: private/ })
    })
  })
}
