import { context, propagation, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { resources } from '../../../src/extensions/resources/index.ts'
import { search } from '../../../src/extensions/search/index.ts'
import { telemetry } from '../../../src/extensions/telemetry/index.ts'
import { listen, post } from '../../build.ts'

/* The spans of what other extensions answer. */

const [TRACE, SPAN] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
const traced = { _meta: { traceparent: `00-${TRACE}-${SPAN}-01` } }
const params = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }

/** @returns what sends a message, and the spans that have ended since the last time */
async function recorded (t: Test, routes: (app: FastifyInstance) => void) {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  provider.register()
  // Test files share a process.
  t.teardown(() => [trace, context, propagation].forEach((api) => api.disable()))
  const { url } = await listen(t, routes, {
    extensions: [telemetry({ tracer: provider.getTracer('test') }), search({ path: '/mcp/search' }), resources()]
  })
  return {
    async send (method: string, params?: object, path = '/mcp') {
      await post(new URL(path, url), { jsonrpc: '2.0', id: 3, method, ...params && { params } })
    },
    spans () {
      const spans = exporter.getFinishedSpans()
      exporter.reset()
      return spans
    }
  }
}

t.test('a resource that is read is a span with its URI, around what its route does', async (t) => {
  const { send, spans } = await recorded(t, (app) => {
    app.get<{ Params: { id: string } }>('/files/:id', {
      schema: { operationId: 'file', description: 'F.', tags: ['mcp-resource'], params },
      config: { mcp: { resource: { uri: 'shop://files/{id}', name: 'file' } } }
    }, async ({ params }, reply) => {
      if (params.id === 'private') return reply.code(401).header('www-authenticate', 'Bearer').send({ message: 'who?' })
      trace.getTracer('route').startSpan('inside').end()
      return params.id
    })
  })
  for (
    const [method, uri, error] of [
      ['resources/list', undefined, undefined],
      ['resources/read', 'shop://none', '-32602'],
      ['resources/read', 'shop://files/private', '-32000']
    ] as const
  ) {
    await send(method, { ...uri !== undefined && { uri } })
    t.strictSame(
      spans().map(({ name, attributes }) => [name, attributes['mcp.resource.uri'], attributes['error.type']]),
      [[method, uri, error]]
    )
  }
  await send('resources/read', { uri: 'shop://files/1', ...traced })
  const [inside, read] = spans()
  t.match(
    [read!.name, read!.spanContext().traceId, read!.parentSpanContext?.spanId],
    ['resources/read', TRACE, SPAN],
    'the message names its parent'
  )
  t.equal(inside!.parentSpanContext?.spanId, read!.spanContext().spanId, 'what the route does is inside')
})

t.test('a call that a search leads to is that of the tool', async (t) => {
  const { send, spans } = await recorded(t, (app) => {
    app.get('/notes/:id', {
      schema: { operationId: 'get_note', description: 'Get a note.', tags: ['mcp'], params }
    }, async () => ({}))
  })
  for (
    const [name, args, named, error] of [
      ['search_tools', { query: 'note' }, 'search_tools', undefined],
      ['search_tools', {}, 'search_tools', 'tool_error'],
      ['call_reading_tool', { name: 'nobody' }, 'call_reading_tool', 'tool_error'],
      ['call_reading_tool', { name: 'get_note', arguments: { id: '1' } }, 'get_note', undefined]
    ] as const
  ) {
    await send('tools/call', { name, arguments: args, ...traced }, '/mcp/search')
    t.strictSame(
      spans().map((span) => [
        span.name,
        span.attributes['gen_ai.tool.name'],
        span.attributes['error.type'],
        span.spanContext().traceId
      ]),
      [[`tools/call ${named}`, named, error, TRACE]]
    )
  }
})
