import { context, metrics, propagation, trace } from '@opentelemetry/api'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { telemetry, type Telemetry } from '../../../src/extensions/telemetry/index.ts'
import type { McpFromRoutesOptions } from '../../../src/index.ts'
import { connect, listen, post } from '../../build.ts'
import { startReceiver } from './otlp.ts'
import { runProgram } from '../../program.ts'

const [TRACE, SPAN] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
const TRACEPARENT = `00-${TRACE}-${SPAN}-01`
const NEWEST = '2026-07-28'

t.test('the program of the documentation sends the span of a call, between that of the client and that of the route', async (t) => {
  const receiver = await startReceiver(t)
  const line = await runProgram(t, 'telemetry', {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '1'
  })
  const url = new URL(line.slice(line.indexOf('http')))
  const client = await connect(t, '2.x 2026-07-28', url)
  await client.callTool(
    { name: 'list_notes', _meta: { traceparent: TRACEPARENT } } as Parameters<typeof client.callTool>[0]
  )
  await post(url, { jsonrpc: '2.0', id: 'second', method: 'tools/call', params: { name: 'list_notes' } })
  const isCall = ({ name }: { name: string }): boolean => name === 'tools/call list_notes'
  const [traced, untraced] = (await receiver.until(isCall, 2)).filter(isCall)
  const spans = await receiver.until(({ spanId }) => spanId === untraced!.parentId)

  t.match(traced, {
    traceId: TRACE,
    parentId: SPAN,
    kind: 2,
    status: 0,
    scope: 'notes',
    attributes: { 'mcp.protocol.version': NEWEST }
  })
  const byId = (id: string | undefined) => spans.find(({ spanId }) => spanId === id)
  const childOf = (parent: string) => spans.find(({ parentId }) => parentId === parent)
  t.match(byId(traced!.links[0])?.attributes, { 'http.route': '/mcp' }, 'the request that brought the call is linked')
  t.match(childOf(traced!.spanId)?.attributes, { 'http.route': '/notes' }, 'the route is inside the call')
  t.same(untraced!.links, [])
  t.match(
    byId(untraced!.parentId)?.attributes,
    { 'http.route': '/mcp' },
    'a message without a trace is inside its request'
  )
  t.match(childOf(untraced!.spanId)?.attributes, { 'http.route': '/notes' })
})

/** Reads when it is told to. */
class Reader extends MetricReader {
  protected override async onForceFlush (): Promise<void> {}
  protected override async onShutdown (): Promise<void> {}
}

const id = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }

function routes (app: FastifyInstance): void {
  app.get<{ Params: { id: string } }>('/notes/:id', {
    schema: { operationId: 'get_note', description: 'Get a note.', tags: ['mcp'], params: id },
    config: { mcp: { arguments: { params: { id: { header: 'Note' } } } } }
  }, async ({ params, headers }, reply) => {
    if (params.id === 'private') return reply.code(401).header('www-authenticate', 'Bearer').send({ message: 'who?' })
    if (!/^\d+$/.test(params.id)) return reply.code(Number(params.id.slice(1)) || 404).send({ message: 'no such note' })
    return { id: params.id, traceparent: headers.traceparent, tracestate: headers.tracestate }
  })
}

/** Test files share a process. */
function unregister (): void {
  for (const api of [trace, context, propagation]) api.disable()
}

/** A server whose spans and measurements are kept in memory. */
async function observed (t: Test, more: Partial<Telemetry> = {}, options: Partial<McpFromRoutesOptions> = {}) {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  provider.register()
  const reader = new Reader()
  const meters = new MeterProvider({ readers: [reader] })
  t.teardown(unregister)
  const { url } = await listen(t, routes, {
    ...options,
    extensions: [telemetry({ tracer: provider.getTracer('test'), meter: meters.getMeter('test'), ...more })]
  })
  const message = (name: string, args: object, meta: object): object => ({
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: { name, arguments: args, ...Object.keys(meta).length > 0 && { _meta: meta } }
  })
  return {
    url,
    message,
    call: async (name: string, args: object, meta: object = {}) =>
      (await post(url, message(name, args, meta), { 'mcp-protocol-version': '2025-11-25' })).body as {
        result: { structuredContent: Record<string, string> }
      },
    spans: () =>
      exporter.getFinishedSpans().map((span) =>
        Object.assign(span, { parentId: span.parentSpanContext?.spanId }, span.spanContext())
      ),
    durations: async () => (await reader.collect()).resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
  }
}

const SHARED = {
  'mcp.method.name': 'tools/call',
  'gen_ai.operation.name': 'execute_tool',
  'network.transport': 'tcp',
  'network.protocol.name': 'http',
  'network.protocol.version': '1.1'
}
const OF_TOOL = { ...SHARED, 'gen_ai.tool.name': 'get_note', 'mcp.protocol.version': '2025-11-25' }
const rpc = (code: number): object => ({ 'error.type': String(code), 'rpc.response.status_code': String(code) })

t.test('each outcome of a call is a span and a measurement, by the attributes of the conventions', async (t) => {
  const { call, spans, durations, url, message } = await observed(t)
  const outcomes: ReadonlyArray<readonly [args: Record<string, string>, outcome: object]> = [
    [{ id: '1' }, {}],
    [{ id: 'x404' }, { 'error.type': 'tool_error' }],
    [{ id: 'x500' }, { 'error.type': 'tool_error' }],
    [{ id: '..' }, { 'error.type': 'tool_error' }],
    [{ id: 'private' }, rpc(-32000)]
  ]
  for (const [args] of outcomes) await call('get_note', args)
  await call('delete_note', { id: '1' })
  const newest = {
    'io.modelcontextprotocol/protocolVersion': NEWEST,
    'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {}
  }
  await post(url, message('get_note', { id: '1' }, newest), {
    'mcp-protocol-version': NEWEST,
    'mcp-method': 'tools/call',
    'mcp-name': 'get_note',
    'mcp-param-note': '2'
  })
  await post(url, message('get_note', { id: '1' }, newest), {
    'mcp-protocol-version': 'made up',
    'mcp-method': 'tools/call',
    'mcp-name': 'get_note',
    'mcp-param-note': '2'
  })
  // The SDK answers batches.
  await post(url, [message('get_note', { id: '1' }, {})])

  const unversioned = { ...SHARED, 'gen_ai.tool.name': 'get_note' }
  const unknown = { ...SHARED, 'mcp.protocol.version': '2025-11-25', ...rpc(-32602) }
  const refused = { ...unversioned, 'mcp.protocol.version': NEWEST, ...rpc(-32020) }
  const expected = [
    ...outcomes.map(([, outcome]) => ['tools/call get_note', { ...OF_TOOL, ...outcome }] as const),
    ['tools/call', { ...unknown, 'gen_ai.tool.name': 'delete_note' }] as const,
    ['tools/call get_note', refused] as const,
    ['tools/call get_note', { ...unversioned, ...rpc(-32020) }] as const,
    ['tools/call get_note', unversioned] as const
  ]
  t.strictSame(
    spans().map(({ name, kind, attributes, status }) => [name, kind, attributes, status]),
    expected.map(([name, attributes]) => [
      name,
      1,
      { ...attributes, 'jsonrpc.request.id': '7' },
      { code: 'error.type' in attributes ? 2 : 0 }
    ])
  )
  const [histogram, ...others] = await durations()
  t.match(histogram, {
    descriptor: {
      name: 'mcp.server.operation.duration',
      unit: 's',
      advice: { explicitBucketBoundaries: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] }
    }
  })
  t.same(others, [])
  // A name or a revision that a client made up is in no measurement: each would be a series of its own.
  t.strictSame(histogram!.dataPoints.map(({ attributes, value }) => [attributes, (value as { count: number }).count]), [
    [OF_TOOL, 1],
    [{ ...OF_TOOL, 'error.type': 'tool_error' }, 3],
    [{ ...OF_TOOL, ...rpc(-32000) }, 1],
    [unknown, 1],
    [refused, 1],
    [{ ...unversioned, ...rpc(-32020) }, 1],
    [unversioned, 1]
  ])
})

t.test('arguments and results are in a span only on request', async (t) => {
  for (const content of [false, true]) {
    const { call, spans, url } = await observed(t, { content })
    await call('get_note', { id: '1234567' })
    await call('get_note', { id: 'canary' })
    const [done, failed] = spans().map(({ attributes }) => attributes)
    t.equal(done!['gen_ai.tool.call.arguments'], content ? '{"id":"1234567"}' : undefined)
    t.match(String(done!['gen_ai.tool.call.result']), content ? /^\{"id":"1234567",/ : /^undefined$/)
    t.equal(failed!['gen_ai.tool.call.result'], undefined, 'an error quotes arguments')
    const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_note","arguments":{"id":${
      '['.repeat(5000)
    }${']'.repeat(5000)}}}}`
    t.match(
      await post(url, deep),
      { status: 200, body: { result: { isError: true } } },
      'arguments that cannot be written are left out'
    )
    if (!content) {
      t.notMatch(
        JSON.stringify(spans().map(({ name, attributes, status, events }) => [name, attributes, status, events])),
        /1234567|canary|no such note/
      )
    }
    unregister()
  }
})

t.test('the request of the route continues the trace from the span of the call', async (t) => {
  const { call, spans } = await observed(t)
  const sent: string[] = []
  for (
    const meta of [
      { traceparent: TRACEPARENT, tracestate: 'a=b' },
      {},
      { traceparent: '00-0-0-01', tracestate: 'a=b' },
      { traceparent: TRACEPARENT.replace(/01$/, '00') }
    ]
  ) {
    const { result: { structuredContent: { traceparent, tracestate } } } = await call('get_note', { id: '1' }, meta)
    sent.push(`${traceparent} ${tracestate}`)
  }
  const [first, second, third, ...others] = spans()
  t.strictSame([first!.traceId, first!.parentId], [TRACE, SPAN])
  t.strictSame(sent.slice(0, 3), [
    `00-${TRACE}-${first!.spanId}-01 a=b`,
    `00-${second!.traceId}-${second!.spanId}-01 undefined`,
    `00-${third!.traceId}-${third!.spanId}-01 undefined`
  ])
  t.match([second!.parentId, third!.parentId], [undefined, undefined])
  t.same(others, [], 'the client does not want the last one to be recorded')
  t.match(sent[3], new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-00 `))
})

t.test('without an SDK of OpenTelemetry, calls are what they are without telemetry', async (t) => {
  const { url } = await listen(t, routes, {
    extensions: [telemetry({ tracer: trace.getTracer('none'), meter: metrics.getMeter('none') })]
  })
  const { body } = await post(url, {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'get_note', arguments: { id: '1' }, _meta: { traceparent: TRACEPARENT, tracestate: 'a=b' } }
  })
  t.match(body, { result: { structuredContent: { id: '1', traceparent: TRACEPARENT, tracestate: 'a=b' } } })
})

t.test('every other message is a span and a measurement of its method', async (t) => {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  provider.register()
  const reader = new Reader()
  const meters = new MeterProvider({ readers: [reader] })
  t.teardown(unregister)
  const { url } = await listen(t, routes, {
    extensions: [telemetry({ tracer: provider.getTracer('test'), meter: meters.getMeter('test') })]
  })
  const send = async (method: string, params?: object): Promise<void> => {
    await post(url, { jsonrpc: '2.0', id: 3, method, ...params && { params } }, {
      'mcp-protocol-version': '2025-11-25'
    })
  }
  const messages: ReadonlyArray<readonly [method: string, params: object | undefined, name: string, outcome: object]> =
    [
      ['tools/list', undefined, 'tools/list', {}],
      ['tools/list', { cursor: 'x' }, 'tools/list', rpc(-32602)],
      ['ping', undefined, 'ping', {}],
      [
        'initialize',
        { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
        'initialize',
        {}
      ],
      ['resources/read', { uri: 'shop://none' }, 'resources/read', {
        'mcp.resource.uri': 'shop://none',
        ...rpc(-32601)
      }],
      ['made/up', undefined, '_OTHER', rpc(-32601)],
      ['x'.repeat(1000), undefined, '_OTHER', rpc(-32601)]
    ]
  for (const [method, params] of messages) await send(method, params)
  const { 'gen_ai.operation.name': _, ...shared } = { ...SHARED, 'mcp.protocol.version': '2025-11-25' }
  t.strictSame(
    exporter.getFinishedSpans().map(({ name, attributes, status, kind }) => [name, attributes, status.code, kind]),
    messages.map((
      [, , name, outcome]
    ) => [
      name,
      { ...shared, 'mcp.method.name': name, 'jsonrpc.request.id': '3', ...outcome },
      'error.type' in outcome ? 2 : 0,
      1
    ])
  )
  const [histogram] = (await reader.collect()).resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
  t.strictSame(histogram!.dataPoints.map(({ attributes }) => attributes['mcp.method.name']), [
    'tools/list',
    'tools/list',
    'ping',
    'initialize',
    'resources/read',
    '_OTHER'
  ], 'no URI, and no method that a client made up')
  t.notMatch(JSON.stringify(histogram!.dataPoints.map(({ attributes }) => attributes)), /shop:|x{20}|made/)
})

t.test('what is no tracer, no meter or no option stops the start', async (t) => {
  for (
    const [options, rule] of [
      [null, 'telemetry must be an object (got null)'],
      [{}, 'telemetry must have a tracer or a meter'],
      [{ content: true }, 'telemetry must have a tracer or a meter'],
      [{ api: {} }, 'telemetry.api is not an option. Known: tracer, meter, content'],
      [{ tracer: {} }, 'telemetry.tracer must be a tracer of OpenTelemetry (got {})'],
      [{ tracer: null }, 'telemetry.tracer must be a tracer of OpenTelemetry (got null)'],
      [{ meter: true }, 'telemetry.meter must be a meter of OpenTelemetry (got true)'],
      [{ meter: { createHistogram () {} }, content: 'all' }, "telemetry.content must be true or false (got 'all')"]
    ] as const
  ) {
    await t.rejects(listen(t, () => {}, { extensions: [telemetry(options as unknown as Telemetry)] }), {
      code: 'MCP_FROM_ROUTES_INVALID_OPTION',
      message: `mcp-from-routes: ${rule}`
    })
  }
})
