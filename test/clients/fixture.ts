import rateLimit from '@fastify/rate-limit'
import Fastify, { type FastifyInstance } from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { confirm, quoted, type ConfirmOptions } from 'mcp-from-routes/confirm'
import { tasks } from 'mcp-from-routes/tasks'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/** A small server with what the shop does not have. */
export interface Fixture {
  readonly origin: string
  /** Origin of a replica, which shares the secret of confirmations, and what was used. */
  readonly replica: string
  /** Stops the server and starts it again, at the same address. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** The smallest PNG: one transparent pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64'
)

/** Its tools, sorted by name. */
export const fixtureTools = [
  'drop_record',
  'get_document',
  'get_image',
  'get_job',
  'get_large',
  'get_limited',
  'get_note',
  'get_silent',
  'get_slow',
  'start_job'
]

/** Starts it on a free port of this machine. */
export async function startFixture (): Promise<Fixture> {
  const used = new Set<string>()
  let app = await build(used)
  const other = await build(used)
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    origin,
    replica: await other.listen({ host: '127.0.0.1', port: 0 }),
    async restart () {
      await app.close()
      app = await build(used)
      await app.listen({ host: '127.0.0.1', port: Number(new URL(origin).port) })
    },
    async close () {
      await app.close()
      await other.close()
    }
  }
}

const SECRET = 'the secret of all replicas of the lab'

/** @param used - the confirmations that were used */
async function build (used: Set<string>): Promise<FastifyInstance> {
  const app = Fastify({ forceCloseConnections: true })
  await app.register(rateLimit, { global: false })
  await app.register(mcpFromRoutes, {
    serverInfo: { name: 'fixture', version: '1.0.0' },
    instructions: 'Tools to look at.',
    maxResultBytes: 2000,
    keepAliveInterval: 100,
    resultHeaders: ['etag', 'location', 'retry-after'],
    extensions: [confirm(confirmations(used)), tasks({ secret: SECRET })]
  })

  const tool = (operationId: string, description: string) => ({ operationId, description, tags: ['mcp'] })
  const text = { 200: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } }

  app.get('/limited', {
    schema: { ...tool('get_limited', 'Get what can be had once a minute.'), response: text },
    config: { rateLimit: { max: 1, timeWindow: '1 minute' } }
  }, async () => ({ text: 'once' }))

  app.get('/note', {
    schema: {
      ...tool('get_note', 'Get a note.'),
      response: { 200: { ...text[200], additionalProperties: false } }
    }
  }, async (_request, reply) => await reply.header('etag', '"7"').send({ text: 'Buy milk' }))

  app.get<{ Querystring: { limit: number } }>('/large', {
    schema: {
      ...tool('get_large', 'Get a long string.'),
      querystring: {
        type: 'object',
        properties: { limit: { type: 'integer', default: 5000, description: 'how long' } }
      },
      response: text
    }
  }, async ({ query }) => ({ text: 'x'.repeat(query.limit) }))

  app.delete<{ Params: { name: string } }>('/records/:name', {
    schema: {
      ...tool('drop_record', 'Drop a record.'),
      params: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    },
    config: { mcp: { confirm: ({ name }) => `Drop ${quoted(name)}?` } }
  }, async ({ params: { name } }) => `Dropped ${name}`)

  app.get(
    '/image',
    { schema: tool('get_image', 'Get an image.') },
    async (_request, reply) => await reply.type('image/png').send(PIXEL)
  )

  app.get(
    '/document',
    { schema: tool('get_document', 'Get a document.') },
    async (_request, reply) => await reply.type('application/pdf').send(Buffer.from('%PDF-1.7'))
  )

  app.get(
    '/slow',
    { schema: tool('get_slow', 'Get three lines, slowly.') },
    async (_request, reply) => await reply.type('application/x-ndjson').send(Readable.from(lines()))
  )

  app.get('/silent', { schema: { ...tool('get_silent', 'Get a text, late.'), response: text } }, async () => {
    await sleep(500)
    return { text: 'late' }
  })

  const params = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
  app.post(
    '/jobs',
    { schema: tool('start_job', 'Start a job.'), config: { mcp: { task: { status: 'get_job' } } } },
    async (_request, reply) =>
      await reply.code(202).headers({ location: '/jobs/seven', 'retry-after': 2 }).send({ id: 'seven' })
  )
  app.get('/jobs/:id', { schema: { ...tool('get_job', 'Get a job.'), params } }, async () => ({ status: 'done' }))

  return app
}

/** Of all replicas. */
function confirmations (used: Set<string>): ConfirmOptions {
  return {
    secret: SECRET,
    store: { use: (id) => !used.has(id) && used.add(id).size > 0 }
  }
}

async function* lines (): AsyncGenerator<string> {
  for (const line of [1, 2, 3]) {
    await sleep(200)
    yield `{"line":${line}}\n`
  }
}
