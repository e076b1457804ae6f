import rateLimit from '@fastify/rate-limit'
import Fastify, { type FastifyInstance } from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/** A small server with what the shop does not have. */
export interface Fixture {
  readonly origin: string
  /** Stops the server and starts it again, at the same address. */
  restart (): Promise<void>
  close (): Promise<void>
}

/** The smallest PNG: one transparent pixel. */
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64')

/** Its tools, sorted by name. */
export const fixtureTools = ['get_document', 'get_image', 'get_large', 'get_limited', 'get_slow']

/** Starts it on a free port of this machine. */
export async function startFixture (): Promise<Fixture> {
  let app = await build()
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    origin,
    async restart () {
      await app.close()
      app = await build()
      await app.listen({ host: '127.0.0.1', port: Number(new URL(origin).port) })
    },
    close: async () => await app.close()
  }
}

async function build (): Promise<FastifyInstance> {
  const app = Fastify({ forceCloseConnections: true })
  await app.register(rateLimit, { global: false })
  await app.register(mcpFromRoutes, { serverInfo: { name: 'fixture', version: '1.0.0' }, instructions: 'Tools to look at.', maxResultBytes: 2000 })

  const tool = (operationId: string, description: string) => ({ operationId, description, tags: ['mcp'] })
  const text = { 200: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } }

  app.get('/limited', {
    schema: { ...tool('get_limited', 'Get what can be had once a minute.'), response: text },
    config: { rateLimit: { max: 1, timeWindow: '1 minute' } }
  }, async () => ({ text: 'once' }))

  app.get<{ Querystring: { limit: number } }>('/large', {
    schema: {
      ...tool('get_large', 'Get a long string.'),
      querystring: { type: 'object', properties: { limit: { type: 'integer', default: 5000, description: 'how long' } } },
      response: text
    }
  }, async ({ query }) => ({ text: 'x'.repeat(query.limit) }))

  app.get('/image', { schema: tool('get_image', 'Get an image.') }, async (_request, reply) => await reply.type('image/png').send(PIXEL))

  app.get('/document', { schema: tool('get_document', 'Get a document.') }, async (_request, reply) => await reply.type('application/pdf').send(Buffer.from('%PDF-1.7')))

  app.get('/slow', { schema: tool('get_slow', 'Get three lines, slowly.') }, async (_request, reply) =>
    await reply.type('application/x-ndjson').send(Readable.from(lines())))

  return app
}

async function * lines (): AsyncGenerator<string> {
  for (const line of [1, 2, 3]) {
    await sleep(200)
    yield `{"line":${line}}\n`
  }
}
