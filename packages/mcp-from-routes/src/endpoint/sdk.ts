import type { FastifyRequest } from 'fastify'
import {
  classifyInboundRequest,
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type ListToolsResult,
  type McpHttpHandler,
  type McpRequestContext,
  type ServerCapabilities
} from '@modelcontextprotocol/server'
import { excerpt } from '../call/excerpt.ts'
import { NOBODY } from '../extensions/confirm/held.ts'
import { progressReader, type Progress } from '../call/progress.ts'
import { resultFor, type ToolResult } from '../call/result.ts'
import { signalOf, stopWithinMessage, type Stop } from '../call/stop.ts'
import { isObject } from '../schema/json-schema.ts'
import { workResult } from '../extensions/tasks/work.ts'
import { definitionOf } from '../tool/tool.ts'
import { fromHost, hostError, type Access } from './access.ts'
import type { Era } from '../types.ts'
import { HEADER_MISMATCH } from '../call/mismatch.ts'
import { answerWriter, rpcError } from './answer.ts'
import { askingFrom, inputRequiredFrom } from '../extensions/confirm/asking.ts'
import { pageOf } from './list.ts'
import { serveResources, SKILLS_EXTENSION } from '../extensions/resources/serve.ts'
import { listensToTasks, missingTasks, noTask, taskRequestOf, TASKS_EXTENSION } from '../extensions/tasks/request.ts'
import { TASK_PARAMS, type Tasks } from '../extensions/tasks/tasks.ts'
import { PROTOCOL_VERSION } from './wire.ts'

/** The endpoint as the SDK serves it, one message at a time. */
export interface SdkHandler {
  /**
   * Answers one message of any kind.
   * @param body - the parsed body, or undefined when it could not be parsed
   * @param stop - ends the exchange
   * @param anyForm - the client accepts JSON or an event stream, and gets either; the SDK requires clients to accept
   *   both
   */
  readonly fetch: (request: FastifyRequest, body: unknown, stop: Stop, anyForm: boolean) => Promise<SdkAnswer>
  readonly close: McpHttpHandler['close']
}

/** The SDK's answer, and the result in it that challenges the client to log in, once that is there. */
export interface SdkAnswer {
  readonly response: Response
  readonly refused: () => ToolResult | undefined
  /** The answer in its place where the call became a task: the SDK takes none for a result of a tool. */
  readonly created: () => string | undefined
}

/**
 * Everything but well-formed `tools/list` and `tools/call` is answered by the SDK, whose handlers call the same
 * functions as the direct answers do.
 */
export function sdkHandler (access: Access, onerror: (error: Error) => void): SdkHandler {
  const messages = new WeakMap<Request, Message>()
  const handler = createMcpHandler((context) => serverFor(access, context, messages), { onerror })
  return {
    async fetch (request, body, stop, anyForm) {
      if (
        listensToTasks(body) && access.tasks.offered().tasks &&
        taskRequestOf('modern', metaIn(body), undefined) === undefined
      ) {
        const { code, message, data } = missingTasks()
        return jsonAnswer(400, { jsonrpc: '2.0', id: idOf(body), error: { code, message, data } })
      }
      const wrong = await mismatchIn(access, request, body)
      if (wrong !== undefined) return jsonAnswer(400, rpcError(HEADER_MISMATCH, wrong, idOf(body)))
      const instructions = await instructionsFor(access, request, body)
      if (instructions instanceof ProtocolError) {
        return jsonAnswer(200, rpcError(instructions.code, instructions.message, idOf(body)))
      }
      const web = webRequest(request, signalOf(stop, mayCall(body)), body === undefined ? '' : undefined, anyForm)
      const message: Message = { outer: request, stop, instructions, refused: undefined, created: undefined }
      messages.set(web, message)
      const response = await handler.fetch(web, body === undefined ? {} : { parsedBody: body })
      return { response, refused: () => message.refused, created: () => message.created }
    },
    close: handler.close
  }
}

function jsonAnswer (status: number, answer: object): SdkAnswer {
  return { response: Response.json(answer, { status }), refused: () => undefined, created: () => undefined }
}

function idOf (body: unknown): unknown {
  return Reflect.get(Object(body), 'id') ?? null
}

/**
 * What the SDK's request does not carry: the request that brought the message, what ends it, and what to tell its
 * client.
 */
interface Message {
  readonly outer: FastifyRequest
  readonly stop: Stop
  readonly instructions: string | undefined
  /** The result that challenges the client to log in. */
  refused: ToolResult | undefined
  /** The answer that is a task. */
  created: string | undefined
}

/** A fresh server for one message, as the SDK wants it. */
function serverFor (
  access: Access,
  { era, requestInfo }: McpRequestContext,
  messages: WeakMap<Request, Message>
): Server {
  const {
    settings,
    settings: { serverInfo, cacheTtl, cacheScope, pageSize },
    toolsFor,
    toolFor,
    call,
    looked,
    refused,
    search,
    tasks
  } = access
  const message = requestInfo === undefined ? undefined : messages.get(requestInfo)
  const instructions = message?.instructions
  const cache = { ttlMs: cacheTtl, cacheScope }
  const server = new Server(serverInfo, {
    capabilities: {
      tools: {},
      ...hasResources(access) && { resources: {} },
      ...extendedBy(taskCapabilities(era, tasks.offered()), access)
    },
    requestState: { verify: access.verifyState },
    cacheHints: { 'tools/list': cache, 'server/discover': cache },
    ...instructions !== undefined && { instructions }
  })
  server.setRequestHandler('tools/list', async ({ params }) => {
    const page = message && pageOf(await fromHost(message.outer, toolsFor), params?.cursor, pageSize)
    if (page === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor')
    return { ...page, tools: page.tools.map((tool) => definitionOf(tool, era)) as ListToolsResult['tools'] }
  })
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const given = params.arguments ?? {}
    const start = performance.now()
    const step = message === undefined || search?.has(params.name) !== true
      ? undefined
      : await fromHost(message.outer, (outer) => search.step(params.name, given, outer))
    if (message !== undefined && step !== undefined && 'result' in step) {
      looked(message.outer, params.name, start, step.result.isError === true)
      return resultFor(step.result) as CallToolResult
    }
    const { tool, args } = step !== undefined && 'tool' in step
      ? step
      : { tool: message && await fromHost(message.outer, (outer) => toolFor(params.name, outer)), args: given }
    if (message === undefined || tool === undefined) {
      if (message !== undefined) refused(message.outer, ProtocolErrorCode.InvalidParams)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${excerpt(params.name)}`)
    }
    const taskRequest = taskRequestOf(era, mcpReq.envelope ?? {}, params.task)
    if (taskRequest === 'parameter' && tool.task === undefined && tasks.offered().tasks) throw noTask(params.name)
    // Running work is polled: it reports nothing by itself.
    const progressToken = taskRequest !== undefined && tool.task !== undefined ? undefined : params._meta?.progressToken
    const stop = stopWithinMessage(message.stop, era, tool.streams && progressToken !== undefined)
    const report = (progress: Progress): void => {
      mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...progress } }).catch(() => {})
    }
    const onChunk = progressToken === undefined ? undefined : progressReader(report)
    const through = step === undefined ? undefined : params.name
    const asking = { ...askingFrom(era, mcpReq) ?? NOBODY, through }
    const result = await call({ tool, args, outer: message.outer, meta: params._meta, stop, onChunk, asking })
    if (result.challenge !== undefined) message.refused = result
    if (result.asks !== undefined) return inputRequiredFrom(result.asks)
    if (tool.task === undefined) return resultFor(result) as CallToolResult
    const outcome = await tasks.outcome(tool, result, taskRequest, message.outer)
    if (!('task' in outcome)) return resultFor(outcome) as CallToolResult
    message.created = answerWriter(settings, String).task(era, mcpReq.id, outcome)
    // In a batch, or after the first event of a stream, the SDK writes the answer.
    return resultFor(workResult(tool, result)) as CallToolResult
  })
  if (message !== undefined && tasks.offered().tasks) serveTasks(server, era, message, tasks)
  if (message !== undefined && hasResources(access)) {
    serveResources(server, access, {
      era,
      outer: message.outer,
      stop: message.stop,
      refuse: (result) => {
        message.refused = result
      }
    })
  }
  return server
}

/** Files of skills are resources too. */
function hasResources ({ resources, skills }: Access): boolean {
  return resources().length > 0 || skills().length > 0
}

function extendedBy (capabilities: ServerCapabilities, { skills }: Access): ServerCapabilities {
  return skills().length === 0
    ? capabilities
    : { ...capabilities, extensions: { ...capabilities.extensions, [SKILLS_EXTENSION]: {} } }
}

/** Lists of tasks are not offered: the server keeps nothing that it could list. */
function taskCapabilities (era: Era, { tasks, cancel }: ReturnType<Tasks['offered']>): ServerCapabilities {
  if (!tasks) return {}
  return era === 'modern'
    ? { extensions: { [TASKS_EXTENSION]: {} } }
    : { tasks: { ...cancel && { cancel: {} }, requests: { tools: { call: {} } } } }
}

function serveTasks (server: Server, era: Era, message: Message, tasks: Tasks): void {
  const { outer, stop } = message
  const methods = era === 'modern'
    ? ['tasks/get', 'tasks/cancel', 'tasks/update']
    : ['tasks/get', 'tasks/result', ...tasks.offered().cancel ? ['tasks/cancel'] : []]
  for (const method of methods) {
    server.setRequestHandler(method, { params: TASK_PARAMS }, async ({ taskId }, { mcpReq }) => {
      if (era === 'modern' && taskRequestOf(era, mcpReq.envelope ?? {}, undefined) === undefined) throw missingTasks()
      return await fromHost(
        outer,
        async () =>
          await tasks.answer(method, taskId, {
            era,
            outer,
            stop,
            refuse: (result) => {
              if (result.challenge !== undefined) message.refused = result
            }
          })
      )
    })
  }
}

/**
 * How the headers of a call, which may be in a batch, differ from it. Other messages have none that repeat something.
 */
async function mismatchIn (
  { toolFor, mismatch, search }: Access,
  request: FastifyRequest,
  body: unknown
): Promise<string | undefined> {
  const message: unknown = [body].flat().find((one) => isObject(one) && one.method === 'tools/call')
  if (!isObject(message) || !isObject(message.params)) return undefined
  const { name, arguments: args = {} } = message.params
  const isOlder = !(PROTOCOL_VERSION in metaIn(message))
  if (
    typeof name !== 'string' || !isObject(args) ||
    (isOlder && !Object.keys(request.raw.headers).some((header) => header.startsWith('mcp-param-')))
  ) return undefined
  try {
    if (search?.has(name) === true) {
      const step = await search.step(name, args, request)
      return 'tool' in step ? mismatch(step.tool, step.args, request, true) : undefined
    }
    const tool = await toolFor(name, request)
    return tool && mismatch(tool, args, request, isOlder)
  } catch {
    // The handler of the call meets the same error, and says so.
    return undefined
  }
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
  { settings: { instructions } }: Access,
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
