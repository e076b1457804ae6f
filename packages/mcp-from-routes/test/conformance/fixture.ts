import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import mcpFromRoutes from '../../src/index.ts'

/** A red pixel. */
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64')
/** No sound at all. */
const WAV = Buffer.from('UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==', 'base64')

/** An application whose routes are the tools that the official conformance scenarios call. */
export async function fixture (): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(mcpFromRoutes, { serverInfo: { name: 'conformance', version: '1.0.0' } })
  const tool = (operationId: string, response?: object): { schema: Record<string, unknown> } => ({
    schema: { operationId, description: `What ${operationId} is for.`, tags: ['mcp'], ...response && { response } }
  })
  app.get('/simple-text', tool('test_simple_text'), async () => 'This is a simple text response for testing.')
  app.get('/image', tool('test_image_content'), async (_request, reply) => reply.type('image/png').send(PNG))
  app.get('/audio', tool('test_audio_content'), async (_request, reply) => reply.type('audio/wav').send(WAV))
  app.get('/error', tool('test_error_handling'), async (_request, reply) => reply.code(400).send({ message: 'This tool intentionally returns an error for testing' }))
  app.get('/progress', tool('test_tool_with_progress', { 200: { content: { 'application/x-ndjson': { schema: { type: 'string' } } } } }), async (_request, reply) => {
    const steps = async function * (): AsyncGenerator<string> {
      for (const progress of [0, 50, 100]) {
        yield `${JSON.stringify({ progress, total: 100 })}\n`
        await delay(50)
      }
    }
    return reply.type('application/x-ndjson').send(Readable.from(steps()))
  })
  // Two tools that could send what they should not: requests on the stream of a call, and log messages nobody asked for.
  app.get('/streaming', tool('test_streaming_elicitation', { 200: { content: { 'application/x-ndjson': { schema: { type: 'string' } } } } }), async (_request, reply) => reply.type('application/x-ndjson').send('{"message":"one"}\n'))
  app.get('/logging', tool('test_logging_tool'), async ({ log }) => { log.info('a line of the log'); return 'logged' })
  return app
}
