import { setTimeout as delay } from 'node:timers/promises'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { createMcpHandler, Server as ServerV2 } from '@modelcontextprotocol/server'
import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import type mcpFromRoutesOfSources from '../src/index.ts'
import { lightLoopback } from '../src/call/loopback.ts'
import { Stop } from '../src/call/stop.ts'
import { CALL, recordedCalls } from './messages.ts'
import { telemetry } from '../src/extensions/telemetry/index.ts'

/** Another build of the plugin, if one is raced. */
const { default: mcpFromRoutes } = await import(process.env.BENCH_PLUGIN ?? '../src/index.ts') as {
  readonly default: typeof mcpFromRoutesOfSources
}

/**
 * The servers that are measured. All serve the same routes; the last six serve them as the same tools. The two before
 * them do only what no tool call can be without: `bare POST` takes the message and answers with the bytes that the
 * plugin answers with, written before; `bare loopback` asks the route by way of the router. What comes from which part
 * of the plugin is seen beside it with `inject` as its way to the route, and beside the SDK with the plugin's own.
 */
export const CONTENDERS = [
  'plain route',
  'bare POST',
  'bare loopback',
  'mcp-from-routes',
  'with telemetry',
  'mcp-from-routes + inject',
  'SDK 2.x + light request',
  'SDK 2.x + inject',
  'SDK 1.x + inject'
] as const
export type Contender = typeof CONTENDERS[number]

/** The revision whose answers differ from those before. */
const NEWEST = '2026-07-28'
const SERVER_INFO = { name: 'bench', version: '1.0.0' }

/** Routes that look like a catalog's; `tool_0` takes one path parameter and answers a small object. */
function addRoutes (app: FastifyInstance, count: number, config = {}): void {
  for (let n = 0; n < count; n++) {
    app.get<{ Params: { id: string } }>(`/things_${n}/:id`, {
      config,
      schema: {
        operationId: `tool_${n}`,
        description: `Get one of the things of kind ${n}.`,
        tags: ['mcp'],
        params: { type: 'object', properties: { id: { type: 'string', maxLength: 40 } }, required: ['id'] },
        querystring: {
          type: 'object',
          properties: {
            fields: { type: 'array', items: { type: 'string' } },
            locale: { type: 'string', default: 'en' }
          }
        },
        response: {
          200: {
            type: 'object',
            properties: { id: { type: 'string' }, name: { type: 'string' } },
            required: ['id', 'name']
          }
        }
      }
    }, async ({ params }) => ({ id: params.id, name: `thing ${n}` }))
  }
  // For clients that vanish in the middle of a call.
  app.get('/slow', { schema: { operationId: 'slow', description: 'Takes a while.', tags: ['mcp'] } }, async () => {
    await delay(200)
    return {}
  })
}

/** What a tool list is made of, taken from the plugin so that all contenders send the same one. */
async function definitions (count: number): Promise<Array<Record<string, unknown>>> {
  const app = Fastify()
  await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  addRoutes(app, count)
  await app.ready()
  const tools = app.mcpTools.map(({ route, ...definition }) => ({ ...definition }))
  await app.close()
  return tools
}

async function callThroughInject (
  app: FastifyInstance,
  name: string,
  args: Record<string, unknown>,
  authorization: string | undefined
): Promise<Record<string, unknown>> {
  const url = `/things_${name.slice('tool_'.length)}/${encodeURIComponent(String(args.id))}`
  const response = await app.inject({
    method: 'GET',
    url,
    headers: authorization === undefined ? {} : { authorization }
  })
  return { content: [{ type: 'text', text: response.body }], structuredContent: response.json<unknown>() }
}

async function callThroughLightRequest (
  app: FastifyInstance,
  name: string,
  args: Record<string, unknown>,
  authorization: string | undefined,
  outer: FastifyRequest
): Promise<Record<string, unknown>> {
  const url = `/things_${name.slice('tool_'.length)}/${encodeURIComponent(String(args.id))}`
  const headers = { accept: 'application/json', ...authorization !== undefined && { authorization } }
  const inner = { method: 'GET', url, params: new Map(), headers, body: undefined }
  const response = await lightLoopback(app, inner, { outer, stop: new Stop(), maxBytes: 1_000_000 })
  const text = String(response?.body)
  return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) as unknown }
}

/** A server on the official SDK, which calls a route in one of two ways. */
async function onSdk (app: FastifyInstance, count: number, callRoute: typeof callThroughLightRequest): Promise<void> {
  addRoutes(app, count)
  const tools = await definitions(count)
  const called = new WeakMap<Request, FastifyRequest>()
  const handler = createMcpHandler(({ requestInfo }) => {
    const server = new ServerV2(SERVER_INFO, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', () => ({ tools: tools as never }))
    server.setRequestHandler(
      'tools/call',
      async ({ params }) =>
        await callRoute(
          app,
          params.name,
          params.arguments ?? {},
          requestInfo?.headers.get('authorization') ?? undefined,
          called.get(requestInfo as Request) as FastifyRequest
        ) as never
    )
    return server
  })
  app.post('/mcp', async (request, reply) => {
    const headers = new Headers(
      Object.entries(request.headers).filter(([name]) => name !== 'content-length') as Array<[string, string]>
    )
    const message = new Request('http://localhost/mcp', { method: 'POST', headers })
    called.set(message, request)
    return reply.send(await handler.fetch(message, { parsedBody: request.body }))
  })
}

const BUILDERS: Record<Contender, (app: FastifyInstance, count: number) => Promise<void>> = {
  async 'plain route' (app, count) {
    addRoutes(app, count)
    // The bytes of the list, for a static route that sends the same.
    const list = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: await definitions(count) } }))
    app.post('/mcp', async (_request, reply) => reply.type('application/json').send(list))
  },
  async 'bare POST' (app, count) {
    addRoutes(app, count)
    const plugin = Fastify()
    await BUILDERS['mcp-from-routes'](plugin, count)
    const answers = new Map<boolean, string>()
    for (const { headers, body = '' } of [CALL, ...recordedCalls().values()]) {
      const { body: answer } = await plugin.inject({ method: 'POST', url: '/mcp', headers, payload: body })
      answers.set(headers['mcp-protocol-version'] === NEWEST, answer)
    }
    const [older, newest] = [answers.get(false), answers.get(true)]
    app.post(
      '/mcp',
      async ({ headers }, reply) =>
        reply.type('application/json').send(headers['mcp-protocol-version'] === NEWEST ? newest : older)
    )
  },
  async 'bare loopback' (app, count) {
    addRoutes(app, count)
    app.post<{ Body: { params: { name?: string, arguments?: { id: string } } } }>('/mcp', async (request, reply) => {
      const { name = '', arguments: args } = request.body.params
      const url = `/things_${name.slice('tool_'.length)}/${args?.id}`
      const inner = { method: 'GET', url, params: new Map(), headers: { accept: 'application/json' }, body: undefined }
      const response = await lightLoopback(app, inner, { outer: request, stop: new Stop(), maxBytes: 1_000_000 })
      return reply.type('application/json').send(response?.body)
    })
  },
  async 'mcp-from-routes' (app, count) {
    await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
    addRoutes(app, count)
  },
  async 'with telemetry' (app, count) {
    // What exporters do with the spans and measurements is not the plugin's.
    const exporter = {
      export: (_batch: unknown, done: (result: { code: number }) => void) => done({ code: 0 }),
      forceFlush: async () => {},
      shutdown: async () => {}
    }
    const traces = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] })
    traces.register()
    const meters = new MeterProvider({
      readers: [new PeriodicExportingMetricReader({ exporter: exporter as unknown as PushMetricExporter })]
    })
    app.addHook('onClose', async () => {
      await Promise.all([traces.shutdown(), meters.shutdown()])
    })
    await app.register(mcpFromRoutes, {
      serverInfo: SERVER_INFO,
      extensions: [telemetry({ tracer: traces.getTracer('bench'), meter: meters.getMeter('bench') })]
    })
    addRoutes(app, count)
  },
  async 'mcp-from-routes + inject' (app, count) {
    await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
    addRoutes(app, count, { mcp: { loopback: 'inject' } })
  },
  'SDK 2.x + light request': async (app, count) => await onSdk(app, count, callThroughLightRequest),
  'SDK 2.x + inject': async (app, count) => await onSdk(app, count, callThroughInject),
  async 'SDK 1.x + inject' (app, count) {
    addRoutes(app, count)
    const tools = await definitions(count)
    app.post('/mcp', async (request, reply) => {
      const server = new ServerV1(SERVER_INFO, { capabilities: { tools: {} } })
      server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools as never }))
      server.setRequestHandler(
        CallToolRequestSchema,
        async ({ params }) =>
          await callThroughInject(app, params.name, params.arguments ?? {}, request.headers.authorization)
      )
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
      await server.connect(transport as never)
      reply.hijack()
      await transport.handleRequest(request.raw, reply.raw, request.body)
      await server.close()
    })
  }
}

/** Starts one contender with so many tools on a free port. */
export async function start (contender: Contender, count: number): Promise<{ app: FastifyInstance, address: string }> {
  const app = Fastify()
  await BUILDERS[contender](app, count)
  await app.ready()
  return { app, address: await app.listen({ host: '127.0.0.1', port: 0 }) }
}

/**
 * What the plugin adds to the boot of an application with so many routes, in seconds of CPU; the least of three tries
 * of each.
 */
export async function bootCost (count: number): Promise<number> {
  const boot = async (withPlugin: boolean): Promise<number> => {
    const app = Fastify()
    if (withPlugin) await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
    addRoutes(app, count)
    const before = process.cpuUsage()
    await app.ready()
    const { user, system } = process.cpuUsage(before)
    await app.close()
    return (user + system) / 1e6
  }
  const tries: Array<[number, number]> = []
  await boot(true)
  for (let n = 0; n < 3; n++) tries.push([await boot(true), await boot(false)])
  return Math.min(...tries.map(([withPlugin]) => withPlugin)) - Math.min(...tries.map(([, without]) => without))
}
