import type { FastifyRequest } from 'fastify'
import { attempt } from '../../attempt.ts'
import type { Call, CallTool } from '../../call/call.ts'
import { excerpt } from '../../call/excerpt.ts'
import type { ToolResult } from '../../call/result.ts'
import { traceFromMeta } from '../../call/trace.ts'
import { isTooDeep } from '../../depth.ts'
import { isObject } from '../../schema/json-schema.ts'
import { PROTOCOL_VERSIONS } from '../../types.ts'
import { ERROR, SERVER, currentTrace, placeOf, type Attributes, type Span, type Telemetry } from './context.ts'

/**
 * Records messages by the
 * [semantic conventions for MCP](https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md).
 */
export interface Observer {
  /** Records what `answer` does. Route and handler run inside the span. */
  readonly observed: (answer: CallTool) => CallTool
  /**
   * Records a call that is answered with a JSON-RPC error instead of a result.
   * @param tool - its name if there is such a tool
   */
  readonly refused: (request: FastifyRequest, code: number, tool?: string) => void
  /** Records a call of a tool that has no route: one that finds others. */
  readonly looked: (request: FastifyRequest, tool: string, start: number, isError: boolean) => void
  /**
   * Records every message but calls of tools. What answers it runs inside the span.
   * @param run - passes the JSON of the answer on, if it knows it
   */
  readonly message: <R>(request: FastifyRequest, body: unknown, run: (seen: Seen) => Promise<R>) => Promise<R>
}

/** Is told the JSON of an answer, which may say that it is an error. */
export type Seen = (answer: string | Buffer) => void

/** What the conventions want for MCP, in seconds. */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
const METHOD = 'tools/call'
/** The code of a challenge to sign in, in the body of the 401 or 403. */
const CHALLENGE = -32000
const INTERNAL_ERROR = -32603
const UNSEEN: Seen = () => {}
const NOT_OBSERVED: Observer = {
  observed: (answer) => answer,
  refused: () => {},
  looked: () => {},
  message: (_request, _body, run) => run(UNSEEN)
}
/** Names of methods are the client's, so those that this server does not answer have no measurements of their own. */
const METHODS: ReadonlySet<string> = new Set([
  'completion/complete',
  'initialize',
  'logging/setLevel',
  'notifications/cancelled',
  'notifications/initialized',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'server/discover',
  'skills/get',
  'skills/list',
  'subscriptions/listen',
  'tasks/cancel',
  'tasks/get',
  'tasks/result',
  'tasks/update',
  'tools/list'
])
const OTHER_METHOD = '_OTHER'

export function observerFrom (telemetry: Telemetry | undefined): Observer {
  if (telemetry === undefined) return NOT_OBSERVED
  const { tracer, meter, content = false } = telemetry
  const durations = meter?.createHistogram('mcp.server.operation.duration', {
    unit: 's',
    description:
      'MCP request or notification duration as observed on the receiver from the time it was received until the ' +
      'result or ack is sent.',
    advice: { explicitBucketBoundaries: BUCKETS }
  })

  function end (span: Span | undefined, start: number, attributes: Attributes, outcome: Attributes): void {
    if (span !== undefined) {
      span.setAttributes(outcome)
      // Without a description: what the model reads may quote the arguments.
      if ('error.type' in outcome) span.setStatus({ code: ERROR })
      span.end()
    }
    durations?.record((performance.now() - start) / 1000, { ...attributes, ...outcome })
  }

  function started<R> (
    name: string,
    message: Message,
    shared: Attributes,
    own: Attributes,
    meta: Call['meta'],
    run: (span: Span | undefined) => R
  ): R {
    if (tracer === undefined) return run(undefined)
    const place = placeOf(traceFromMeta(meta))
    const id = idOf(message)
    const attributes = { ...shared, ...own, ...id !== undefined && { 'jsonrpc.request.id': id } }
    const options = {
      kind: SERVER,
      attributes,
      links: place?.transport === undefined ? [] : [{ context: place.transport.spanContext() }]
    }
    return place === undefined
      ? tracer.startActiveSpan(name, options, run)
      : tracer.startActiveSpan(name, options, place.context, run)
  }

  return {
    observed: (answer) => (call) => {
      const { tool: { public: { name } }, args, outer, meta } = call
      const start = performance.now()
      const shared = sharedByCall(outer, name)
      return started(
        `${METHOD} ${name}`,
        callIn(outer.body),
        shared,
        content && !isTooDeep(args) ? { 'gen_ai.tool.call.arguments': JSON.stringify(args) } : {},
        meta,
        (span) =>
          // The route's request continues the trace from this span, not from that of the client.
          answer(span === undefined ? call : { ...call, meta: { ...meta, ...currentTrace() } }).then((result) => {
            if (content && result.isError !== true) {
              span?.setAttributes({
                'gen_ai.tool.call.result': result.structured?.text ?? JSON.stringify(result.content)
              })
            }
            end(span, start, shared, outcomeOf(result))
            return result
          })
      )
    },
    refused (request, code, tool) {
      const start = performance.now()
      const shared = sharedByCall(request, tool)
      const call = callIn(request.body)
      const { name } = paramsOf(call)
      const called = tool === undefined && typeof name === 'string' ? { 'gen_ai.tool.name': excerpt(name) } : {}
      // Names of tools that do not exist are the client's, and without end.
      started(
        tool === undefined ? METHOD : `${METHOD} ${tool}`,
        call,
        shared,
        called,
        metaOf(call),
        (span) => end(span, start, shared, errorOf(code))
      )
    },
    looked (request, tool, start, isError) {
      const shared = sharedByCall(request, tool)
      const call = callIn(request.body)
      started(
        `${METHOD} ${tool}`,
        call,
        shared,
        {},
        metaOf(call),
        (span) => end(span, start, shared, isError ? { 'error.type': 'tool_error' } : {})
      )
    },
    async message (request, body, run) {
      const given = isObject(body) ? body.method : undefined
      if (typeof given !== 'string' || given === METHOD) return await run(UNSEEN)
      const start = performance.now()
      const method = METHODS.has(given) ? given : OTHER_METHOD
      const shared = sharedBy(request, method)
      const message = body as Message
      const { uri } = paramsOf(message)
      return await started(
        method,
        message,
        shared,
        typeof uri === 'string' ? { 'mcp.resource.uri': excerpt(uri) } : {},
        metaOf(message),
        async (span) => {
          let answer: string | Buffer | undefined
          try {
            const result = await run((text) => {
              answer = text
            })
            end(span, start, shared, outcomeOfAnswer(answer))
            return result
          } catch (error) {
            end(span, start, shared, errorOf(INTERNAL_ERROR))
            throw error
          }
        }
      )
    }
  }
}

/** What spans and measurements have in common: nothing that grows with the number of calls or clients. */
function sharedBy ({ raw }: FastifyRequest, method: string): Attributes {
  const version = raw.headers['mcp-protocol-version']
  return {
    'mcp.method.name': method,
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'network.protocol.version': raw.httpVersion,
    ...isKnown(version) && { 'mcp.protocol.version': version }
  }
}

function sharedByCall (request: FastifyRequest, tool?: string): Attributes {
  return {
    ...sharedBy(request, METHOD),
    'gen_ai.operation.name': 'execute_tool',
    ...tool !== undefined && { 'gen_ai.tool.name': tool }
  }
}

/** Any other is refused, but maybe only after the call was recorded. */
function isKnown (version: unknown): version is string {
  return PROTOCOL_VERSIONS.some((known) => known === version)
}

function outcomeOf ({ isError, challenge }: ToolResult): Attributes {
  if (challenge !== undefined) return errorOf(CHALLENGE)
  return isError === true ? { 'error.type': 'tool_error' } : {}
}

function errorOf (code: number): Attributes {
  return { 'error.type': String(code), 'rpc.response.status_code': String(code) }
}

function outcomeOfAnswer (answer: string | Buffer | undefined): Attributes {
  const { error } = Object(attempt(() => JSON.parse(String(answer)))) as { readonly error?: unknown }
  const { code } = Object(error) as { readonly code?: unknown }
  return typeof code === 'number' ? errorOf(code) : {}
}

type Message = Readonly<Record<string, unknown>>

/** The call in a message, which may be a batch with one call. */
function callIn (body: unknown): Message {
  const call: unknown = [body].flat().find((message) => isObject(message) && message.method === METHOD)
  return isObject(call) ? call : {}
}

function idOf ({ id }: Message): string | undefined {
  return typeof id === 'string' || typeof id === 'number' ? excerpt(String(id)) : undefined
}

function paramsOf ({ params }: Message): Message {
  return isObject(params) ? params : {}
}

function metaOf (message: Message): Message | undefined {
  const { _meta: meta } = paramsOf(message)
  return isObject(meta) ? meta : undefined
}
