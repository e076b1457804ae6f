import type { FastifyRequest } from 'fastify'
import { classifyInboundRequest, createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import type { CallToolResult, ListToolsResult, McpHttpHandler, McpRequestContext } from '@modelcontextprotocol/server'
import { isObject } from './json-schema.ts'
import { pageOf } from './list.ts'
import { progressReader } from './progress.ts'
import type { Progress } from './progress.ts'
import { resultFor } from './result.ts'
import type { Served } from './served.ts'
import { Stop } from './stop.ts'
import { definitionFor } from './tool.ts'
import { PROTOCOL_VERSION } from './wire.ts'

/** The SDK's view of the plugin: what it answers in the plugin's name, and how one message is handed to it. */
export interface SdkHandler {
  /**
   * Answers one message of any kind.
   * @param body - the parsed body, or undefined when it could not be parsed
   * @param stop - ends the exchange
   */
  readonly fetch: (request: FastifyRequest, body: unknown, stop: Stop) => Promise<Response>
  readonly close: McpHttpHandler['close']
}

/**
 * Everything but well-formed `tools/list` and `tools/call` is answered by the SDK, whose handlers call the same
 * functions as the direct answers do.
 */
export function sdkHandler (served: Served, onerror: (error: Error) => void): SdkHandler {
  const exchanges = new WeakMap<Request, Exchange>()
  const handler = createMcpHandler((context) => serverFor(served, context, exchanges), { onerror })
  return {
    async fetch (request, body, stop) {
      const instructions = await instructionsFor(served, request, body)
      const abort = new AbortController()
      stop.onStop(() => abort.abort())
      const web = webRequest(request, abort.signal, body === undefined ? '' : undefined)
      exchanges.set(web, { outer: request, stop, instructions })
      return handler.fetch(web, body === undefined ? {} : { parsedBody: body })
    },
    close: handler.close
  }
}

/** What the SDK's request does not carry: the request that brought the message, what ends it, and what to tell its client. */
interface Exchange { readonly outer: FastifyRequest, readonly stop: Stop, readonly instructions: string | undefined }

/** A fresh server for one message, as the SDK wants it. */
function serverFor (served: Served, { era, requestInfo }: McpRequestContext, exchanges: WeakMap<Request, Exchange>): Server {
  const { settings: { serverInfo, cacheTtl, cacheScope, pageSize }, toolsFor, toolFor, call } = served
  const exchange = requestInfo === undefined ? undefined : exchanges.get(requestInfo)
  const instructions = exchange?.instructions
  const cache = { ttlMs: cacheTtl, cacheScope }
  const server = new Server(serverInfo, {
    capabilities: { tools: {} },
    cacheHints: { 'tools/list': cache, 'server/discover': cache },
    ...instructions !== undefined && { instructions }
  })
  server.setRequestHandler('tools/list', async ({ params }) => {
    const page = exchange && pageOf(await toolsFor(exchange.outer), params?.cursor, pageSize)
    if (page === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor')
    return { ...page, tools: page.tools.map((tool) => definitionFor(era, tool)) as ListToolsResult['tools'] }
  })
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = exchange && await toolFor(params.name, exchange.outer)
    if (exchange === undefined || tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`)
    const stop = new Stop()
    // Before 2026-07-28 a client that goes away has not cancelled its call.
    exchange.stop.onStop((reason) => { if (era === 'modern' || reason === 'closing') stop.stop(reason) })
    const progressToken = params._meta?.progressToken
    const report = (progress: Progress): void => {
      mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...progress } }).catch(() => {})
    }
    const onChunk = progressToken === undefined ? undefined : progressReader(report)
    return resultFor(era, tool, await call({ tool, args: params.arguments ?? {}, outer: exchange.outer, stop, onChunk })) as CallToolResult
  })
  return server
}

/** Only these two are answered with instructions, which may cost the host a look into its database. */
const INTRODUCTIONS: readonly unknown[] = ['initialize', 'server/discover']

async function instructionsFor ({ settings: { instructions } }: Served, request: FastifyRequest, body: unknown): Promise<string | undefined> {
  if (typeof instructions !== 'function') return instructions
  return isObject(body) && INTRODUCTIONS.includes(body.method) ? await instructions(request) : undefined
}

/** Whether the SDK takes this `_meta` for an envelope of the newest revision. */
export function isEnvelope (meta: Readonly<Record<string, unknown>>): boolean {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }
  return classifyInboundRequest({ httpMethod: 'POST', body, protocolVersionHeader: String(meta[PROTOCOL_VERSION]), mcpMethodHeader: 'tools/list' }).kind === 'modern'
}

function webRequest (request: FastifyRequest, signal: AbortSignal, body: string | undefined): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.raw.headers)) {
    if (value !== undefined && !name.startsWith(':') && name !== 'content-length') headers.set(name, String(value))
  }
  return new Request(new URL(request.url, 'http://localhost'), { method: 'POST', headers, signal, ...body !== undefined && { body } })
}
