import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import mcpFromRoutes from '../../../../src/index.ts'
import { resources as resourcesExtension } from '../../../../src/extensions/resources/index.ts'
import { tasks as tasksExtension } from '../../../../src/extensions/tasks/index.ts'

/** A red pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64'
)
/** No sound at all. */
const WAV = Buffer.from('UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==', 'base64')

/** An application whose routes are the tools that the official conformance scenarios call. */
export async function fixture (): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(mcpFromRoutes, {
    serverInfo: { name: 'conformance', version: '1.0.0' },
    extensions: [resourcesExtension(), tasksExtension()]
  })
  const tool = (operationId: string, response?: object): { schema: Record<string, unknown> } => ({
    schema: { operationId, description: `What ${operationId} is for.`, tags: ['mcp'], ...response && { response } }
  })
  app.get('/simple-text', tool('test_simple_text'), async () => 'This is a simple text response for testing.')
  app.get('/image', tool('test_image_content'), async (_request, reply) => reply.type('image/png').send(PNG))
  app.get('/audio', tool('test_audio_content'), async (_request, reply) => reply.type('audio/wav').send(WAV))
  app.get(
    '/error',
    tool('test_error_handling'),
    async (_request, reply) => reply.code(400).send({ message: 'This tool intentionally returns an error for testing' })
  )
  app.get(
    '/progress',
    tool('test_tool_with_progress', { 200: { content: { 'application/x-ndjson': { schema: { type: 'string' } } } } }),
    async (_request, reply) => {
      const steps = async function* (): AsyncGenerator<string> {
        for (const progress of [0, 50, 100]) {
          yield `${JSON.stringify({ progress, total: 100 })}\n`
          await delay(50)
        }
      }
      return reply.type('application/x-ndjson').send(Readable.from(steps()))
    }
  )
  // Two tools that could send what they should not: requests on the stream of a call, and log messages nobody asked
  // for.
  app.get(
    '/streaming',
    tool('test_streaming_elicitation', {
      200: { content: { 'application/x-ndjson': { schema: { type: 'string' } } } }
    }),
    async (_request, reply) => reply.type('application/x-ndjson').send('{"message":"one"}\n')
  )
  app.get('/logging', tool('test_logging_tool'), async ({ log }) => {
    log.info('a line of the log')
    return 'logged'
  })
  // An argument that clients repeat in a header (SEP-2243).
  app.get('/regions', {
    config: { mcp: { arguments: { querystring: { region: { header: 'Region' } } } } },
    schema: { ...tool('in_region').schema, querystring: { type: 'object', properties: { region: { type: 'string' } } } }
  }, async ({ query }) => query)
  tasks(app)
  resources(app)
  return app
}

/** The tools of the scenarios of the tasks extension. Their work takes so long as is asked for. */
function tasks (app: FastifyInstance): void {
  interface Work {
    readonly end: number
    readonly done: 'done' | 'failed' | 'nowhere'
    isCancelled?: boolean
  }
  const works = new Map<string, Work>()
  const tool = (operationId: string, properties?: object): object => ({
    operationId,
    description: `What ${operationId} is for.`,
    tags: ['mcp'],
    ...properties && { body: { type: 'object', properties } }
  })
  const config = { mcp: { task: { status: 'GET /works/:id' } } }
  const start = (reply: FastifyReply, seconds: number, done: Work['done']): unknown => {
    const id = String(works.size + 1)
    works.set(id, { end: Date.now() + seconds * 1000, done })
    return reply.code(202).header('location', `/works/${id}`).send({ id })
  }
  app.post<{ Body: { name: string } }>(
    '/greet',
    { schema: tool('greet', { name: { type: 'string' } }) },
    async ({ body }) => `Hello, ${body.name}!`
  )
  app.post(
    '/deletions',
    { schema: tool('confirm_delete', { filename: { type: 'string' } }) },
    async () => 'A route cannot ask its caller back.'
  )
  app.post<{ Body: { seconds: number, label: string } }>('/computations', {
    config,
    schema: tool('slow_compute', { seconds: { type: 'number' }, label: { type: 'string' } })
  }, async ({ body: { seconds, label } }, reply) => seconds === 0 ? `Computed ${label}` : start(reply, seconds, 'done'))
  app.post('/failing', { config, schema: tool('failing_job') }, async (_request, reply) => start(reply, 1, 'failed'))
  app.post(
    '/broken',
    { config, schema: tool('protocol_error_job') },
    async (_request, reply) => start(reply, 0.5, 'nowhere')
  )
  app.get<{ Params: { id: string } }>('/works/:id', async ({ params: { id } }, reply) => {
    const work = works.get(id)
    if (work === undefined) return reply.callNotFound()
    if (work.isCancelled) return { status: 'cancelled' }
    if (work.end > Date.now()) return reply.header('retry-after', '1').send({ status: 'running' })
    return work.done === 'nowhere' ? reply.code(303).header('location', '/nowhere').send() : { status: work.done }
  })
  app.delete<{ Params: { id: string } }>('/works/:id', async ({ params: { id } }, reply) => {
    const work = works.get(id)
    if (work !== undefined) work.isCancelled = true
    return reply.code(204).send()
  })
}

/** The resources of the scenarios. */
function resources (app: FastifyInstance): void {
  const resource = (name: string, uri: string, mimeType: string): object => ({
    config: { mcp: { resource: { uri, name, mimeType } } },
    schema: { operationId: name, description: `What ${name} is for.`, tags: ['mcp-resource'] }
  })
  app.get(
    '/static-text',
    resource('static_text', 'test://static-text', 'text/plain'),
    async () => 'This is the content of the static text resource.'
  )
  app.get(
    '/static-binary',
    resource('static_binary', 'test://static-binary', 'image/png'),
    async (_request, reply) => reply.type('image/png').send(PNG)
  )
  app.get<{ Params: { id: string } }>(
    '/template/:id',
    resource('template', 'test://template/{id}/data', 'application/json'),
    async ({ params: { id } }) => ({ id, templateTest: true, data: `Data for ID: ${id}` })
  )
}
