import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client'
import mcpFromRoutes, { type Extension, type McpFromRoutesOptions } from '../src/index.ts'

/** What a test gives: tap's, of which only the end matters here. */
export interface Teardown {
  teardown: (end: () => Promise<void> | void) => void
}

export const SERVER_INFO = { name: 'test', version: '1.2.3' }

/**
 * An application with the plugin and the given routes, closed when the test ends. Not ready yet.
 * @param before - what the host registers before the plugin
 */
export async function build (
  t: Teardown,
  routes: (app: FastifyInstance) => void | Promise<void>,
  options: Partial<McpFromRoutesOptions> = {},
  server: FastifyServerOptions = {},
  before?: (app: FastifyInstance) => void | Promise<void>
): Promise<FastifyInstance> {
  const app = Fastify(server)
  t.teardown(() => app.close())
  await before?.(app)
  await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO, ...options })
  await routes(app)
  return app
}

/** The same, listening on a free port of the loopback interface. */
export async function listen (
  t: Teardown,
  routes: (app: FastifyInstance) => void | Promise<void>,
  options: Partial<McpFromRoutesOptions> = {},
  server: FastifyServerOptions = {},
  before?: (app: FastifyInstance) => void | Promise<void>
): Promise<{ app: FastifyInstance, url: URL }> {
  const app = await build(t, routes, options, server, before)
  return { app, url: new URL('/mcp', await app.listen({ host: '127.0.0.1', port: 0 })) }
}

/** The same for programs that have these extensions, unless they name others. */
export function having (...extensions: readonly Extension[]): {
  readonly build: typeof build,
  readonly listen: typeof listen
} {
  return {
    build: (t, routes, options, ...more) => build(t, routes, { extensions, ...options }, ...more),
    listen: (t, routes, options, ...more) => listen(t, routes, { extensions, ...options }, ...more)
  }
}

/** Both official client lines; the second also pinned to the newest revision. */
export const CLIENTS = ['1.x', '2.x auto', '2.x 2026-07-28'] as const

/** What both lines' clients have in common, as far as tools go. */
export interface AnyClient {
  listTools: () => Promise<{ tools: ReadonlyArray<{ name: string, [key: string]: unknown }> }>
  callTool: (call: { name: string, arguments?: Record<string, unknown> }) => Promise<Record<string, unknown>>
}

export async function connect (
  t: Teardown,
  which: typeof CLIENTS[number],
  url: URL,
  headers: Record<string, string> = {}
): Promise<AnyClient> {
  const info = { name: 'test-client', version: '0.0.0' }
  if (which === '1.x') {
    const client = new ClientV1(info)
    t.teardown(() => client.close())
    // The declaration of its own transport lacks `| undefined`, which exactOptionalPropertyTypes minds.
    await client.connect(
      new TransportV1(url, { requestInit: { headers } }) as unknown as Parameters<ClientV1['connect']>[0]
    )
    return client as unknown as AnyClient
  }
  const client = new ClientV2(
    info,
    which === '2.x auto'
      ? { versionNegotiation: { mode: 'auto' } }
      : { versionNegotiation: { mode: { pin: '2026-07-28' } } }
  )
  t.teardown(() => client.close())
  await client.connect(new TransportV2(url, { requestInit: { headers } }))
  return client as unknown as AnyClient
}

/** The answer of a raw POST: JSON, or the one message of an event stream. */
export interface RawAnswer {
  status: number
  headers: Headers
  body: unknown
}

/** Sends one JSON-RPC message as a client of a 2025 revision would. */
export async function post (
  url: URL | string,
  message: unknown,
  headers: Record<string, string> = {}
): Promise<RawAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof message === 'string' ? message : JSON.stringify(message)
  })
  const text = await response.text()
  const data = text.split('\n').find((line) => line.startsWith('data: '))?.slice(6) ?? text
  return { status: response.status, headers: response.headers, body: data === '' ? undefined : JSON.parse(data) }
}

/** Calls a tool with a raw POST and gives the result. */
export async function call (
  url: URL,
  name: string,
  args: Record<string, unknown> = {},
  headers: Record<string, string> = {}
): Promise<Record<string, unknown>> {
  const { body } = await post(
    url,
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    headers
  )
  return (body as { result: Record<string, unknown> }).result
}
