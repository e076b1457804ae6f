import type { FastifyRequest } from 'fastify'
import {
  classifyInboundRequest,
  createMcpHandler,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type ListToolsResult,
  type McpHttpHandler,
  type McpRequestContext
} from '@modelcontextprotocol/server'
import { excerpt } from '../call/excerpt.ts'
import { HEADER_MISMATCH } from '../call/mismatch.ts'
import { progressReader, type Progress } from '../call/progress.ts'
import { resultFor } from '../call/result.ts'
import { signalOf, stopWithinMessage, type Stop } from '../call/stop.ts'
import type { Hooks } from '../extension.ts'
import type { Endpoint, Outcome, ToolResult } from '../model.ts'
import { isObject } from '../schema/json-schema.ts'
import type { Settings } from '../settings.ts'
import { definitionOf } from '../tool/tool.ts'
import { fromHost, hostError } from './access.ts'
import { answerWriter, rpcError } from './answer.ts'
import type { Dispatch, Found } from './dispatch.ts'
import { isWhole } from './list.ts'
import { PROTOCOL_VERSION } from './wire.ts'

/** The endpoint as the SDK serves it, one message at a time. */
export interface SdkHandler {
  /**
   * Answers one message of any kind.
   * @param body - the parsed body, or undefined when it could not be parsed
   * @param stop - ends the exchange
   * @param anyForm - the client accepts JSON or an event stream, and gets either; the SDK requires clients to accept
   *   both
   * @param found - what its call comes to, if that is known already
   */
  readonly fetch: (
    request: FastifyRequest,
    body: unknown,
    stop: Stop,
    anyForm: boolean,
    found?: Found
  ) => Promise<SdkAnswer>
  readonly close: McpHttpHandler['close']
}

/** The SDK's answer, and the result in it that challenges the client to log in, once that is there. */
export interface SdkAnswer {
  readonly response: Response
  readonly refused: () => ToolResult | undefined
  /** The answer in its place, where that is a result which the SDK does not take. */
  readonly written: () => string | undefined
}

/** What the handlers of the SDK call. */
export interface Served {
  readonly endpoint: Endpoint
  readonly settings: Settings
  readonly dispatch: Dispatch
  readonly hooks: readonly Hooks[]
}

/**
 * Everything but well-formed `tools/list` and `tools/call` is answered by the SDK, whose handlers call the same
 * functions as the direct answers do.
 */
export function sdkHandler (served: Served, onerror: (error: Error) => void): SdkHandler {
  const messages = new WeakMap<Request, Message>()
  const handler = createMcpHandler((context) => serverFor(served, context, messages), {
    onerror,
    keepAliveMs: served.settings.keepAliveInterval
  })
  return {
    async fetch (request, body, stop, anyForm, known) {
      const found = known ?? await foundIn(served.dispatch, request, body)
      if (found?.outcome instanceof ProtocolError && found.outcome.code === HEADER_MISMATCH) {
        const stopped = { ...NOTHING_MORE, outer: request, era: 'modern' as const, stop }
        const { code, message } = await served.dispatch.run(found, stopped) as ProtocolError
        return jsonAnswer(400, rpcError(code, message, idOf(body)))
      }
      const instructions = await instructionsFor(served.settings, request, body)
      if (instructions instanceof ProtocolError) {
        return jsonAnswer(200, rpcError(instructions.code, instructions.message, idOf(body)))
      }
      const web = webRequest(request, signalOf(stop, mayCall(body)), body === undefined ? '' : undefined, anyForm)
      const message: Message = { outer: request, stop, instructions, found, refused: undefined, written: undefined }
      messages.set(web, message)
      const response = await handler.fetch(web, body === undefined ? {} : { parsedBody: body })
      return { response, refused: () => message.refused, written: () => message.written }
    },
    close: handler.close
  }
}

const NOTHING_MORE = { meta: undefined, task: undefined, onChunk: undefined, round: undefined }

export function jsonAnswer (status: number, answer: object): SdkAnswer {
  return { response: Response.json(answer, { status }), refused: () => undefined, written: () => undefined }
}

export function idOf (body: unknown): unknown {
  return Reflect.get(Object(body), 'id') ?? null
}

/** What the call in a message, or in a batch, comes to; undefined without a call that could be one. */
async function foundIn ({ find }: Dispatch, request: FastifyRequest, body: unknown): Promise<Found | undefined> {
  const message: unknown = [body].flat().find((one) => isObject(one) && one.method === 'tools/call')
  if (!isObject(message) || !isObject(message.params)) return undefined
  const { name, arguments: args = {} } = message.params
  if (typeof name !== 'string' || !isObject(args)) return undefined
  return await find({ name, args, outer: request, isOlder: !(PROTOCOL_VERSION in metaIn(message)) })
}

/**
 * What the SDK's request does not carry: the request that brought the message, what ends it, and what to tell its
 * client.
 */
interface Message {
  readonly outer: FastifyRequest
  readonly stop: Stop
  readonly instructions: string | undefined
  readonly found: Found | undefined
  /** The result that challenges the client to log in. */
  refused: ToolResult | undefined
  /** The answer that the SDK does not take. */
  written: string | undefined
}

/** A fresh server for one message, as the SDK wants it. */
function serverFor (
  { endpoint, settings, dispatch, hooks }: Served,
  { era, requestInfo }: McpRequestContext,
  messages: WeakMap<Request, Message>
): Server {
  const { serverInfo, cacheTtl, cacheScope } = settings
  const message = requestInfo === undefined ? undefined : messages.get(requestInfo)
  const instructions = message?.instructions
  const cache = { ttlMs: cacheTtl, cacheScope }
  const requestState = hooks.find((hook) => hook.requestState !== undefined)?.requestState
  const server = new Server(serverInfo, {
    capabilities: { tools: {} },
    ...requestState && { requestState },
    cacheHints: { 'tools/list': cache, 'server/discover': cache },
    ...instructions !== undefined && { instructions }
  })
  server.setRequestHandler('tools/list', async ({ params }) => {
    if (message === undefined || !isWhole(params?.cursor)) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor')
    }
    const tools = await fromHost(message.outer, endpoint.listed)
    return { tools: tools.map((tool) => definitionOf(tool, era)) as ListToolsResult['tools'] }
  })
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    if (message === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${excerpt(params.name)}`)
    }
    const { outer } = message
    const asked = { name: params.name, args: params.arguments ?? {}, outer, isOlder: era === 'legacy' }
    const found = message.found ?? await dispatch.find(asked)
    const { tool } = found
    // What comes later, from another route, reports nothing by itself.
    const progressToken = tool?.part.isLater === true ? undefined : params._meta?.progressToken
    const report = (progress: Progress): void => {
      mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...progress } }).catch(() => {})
    }
    const outcome = await dispatch.run(found, {
      outer,
      era,
      meta: { ...params._meta, ...mcpReq.envelope },
      task: params.task,
      stop: stopWithinMessage(message.stop, era, tool?.streams === true && progressToken !== undefined),
      onChunk: progressToken === undefined ? undefined : progressReader(report),
      round: mcpReq
    })
    return resultOf(outcome, message, (answer) => answerWriter(settings, String).answer(era, mcpReq.id, answer))
  })
  if (message !== undefined) {
    const { outer, stop } = message
    const refuse = (result: ToolResult): void => {
      if (result.challenge !== undefined) message.refused = result
    }
    for (const { serve } of hooks) serve?.(server, { era, outer, stop, endpoint, refuse })
  }
  return server
}

/** The result as the SDK takes it; what it does not take is left in the message. */
function resultOf (
  outcome: Outcome,
  message: Message,
  write: (answer: NonNullable<ToolResult['answer']>) => string
): CallToolResult {
  if (outcome instanceof ProtocolError) throw outcome
  const { challenge, answer } = outcome
  if (challenge !== undefined) message.refused = outcome
  if (answer !== undefined && isInputRequiredResult(answer)) return answer as unknown as CallToolResult
  // In a batch, or after the first event of a stream, the SDK writes the answer.
  if (answer !== undefined) message.written = write(answer)
  return resultFor(outcome) as CallToolResult
}

/** Whether a route may be called by the message, or by one of a batch. */
function mayCall (body: unknown): boolean {
  return Array.isArray(body) || (isObject(body) && (body.method === 'tools/call' || body.method === 'resources/read'))
}

function metaIn (body: unknown): object {
  return Object(Reflect.get(Object(Reflect.get(Object(body), 'params')), '_meta')) as object
}

/** Only these two are answered with instructions, which may cost the host a look into its database. */
const INTRODUCTIONS: readonly unknown[] = ['initialize', 'server/discover']

async function instructionsFor (
  { instructions }: Settings,
  request: FastifyRequest,
  body: unknown
): Promise<string | undefined | ProtocolError> {
  if (typeof instructions !== 'function') return instructions
  if (!isObject(body) || !INTRODUCTIONS.includes(body.method)) return undefined
  try {
    return await instructions(request)
  } catch (error) {
    return hostError(request, error)
  }
}

/** Whether the SDK takes this `_meta` for an envelope of the newest revision. */
export function isEnvelope (meta: Readonly<Record<string, unknown>>): boolean {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }
  return classifyInboundRequest({
    httpMethod: 'POST',
    body,
    protocolVersionHeader: String(meta[PROTOCOL_VERSION]),
    mcpMethodHeader: 'tools/list'
  }).kind === 'modern'
}

function webRequest (
  request: FastifyRequest,
  signal: AbortSignal,
  body: string | undefined,
  anyForm: boolean
): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.raw.headers)) {
    if (value !== undefined && !name.startsWith(':') && name !== 'content-length') headers.set(name, String(value))
  }
  if (anyForm) headers.set('accept', 'application/json, text/event-stream')
  return new Request(new URL(request.url, 'http://localhost'), {
    method: 'POST',
    headers,
    signal,
    ...body !== undefined && { body }
  })
}
